//! [`KnownValues`]: finds the values of the host's secret variables.

use super::found::{FoundSecret, mask_text};
use super::prefixes::{PrefixSet, longest_matcher};
use crate::secrets::values;
use aho_corasick::AhoCorasick;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// Minimum length of a value: shorter values also occur in unrelated words.
const MIN_VALUE_BYTES: usize = 6;

/// A value of only lower-case letters, or of only digits, that is shorter than this is masked only
/// as a whole word: `postgres` also occurs in names.
const MIN_DISTINCT_BYTES: usize = 12;

/// The ASCII characters that are encoded in an address.
const ENCODED_IN_ADDRESS: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Matches all values at once.
#[derive(Debug)]
pub(super) struct KnownValues {
    matcher: AhoCorasick,
    open: PrefixSet,
    values: Vec<KnownValue>,
}

#[derive(Debug)]
struct KnownValue {
    mask: Arc<str>,
    is_whole_word: bool,
}

impl KnownValues {
    /// Compiles the values of these variables; `None` if no value can be searched for.
    pub(super) fn new<'a>(
        variables: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>,
    ) -> Option<Self> {
        let mut patterns: Vec<Vec<u8>> = Vec::new();
        let mut values = Vec::new();
        for (name, value) in variables {
            let mask = mask_text(&name.to_string_lossy());
            for spelling in spellings(value.as_bytes()) {
                if spelling.len() < MIN_VALUE_BYTES || patterns.contains(&spelling) {
                    continue;
                }
                values.push(KnownValue {
                    mask: Arc::clone(&mask),
                    is_whole_word: is_plain(&spelling),
                });
                patterns.push(spelling);
            }
        }
        if patterns.is_empty() {
            return None;
        }
        Some(Self {
            matcher: longest_matcher(&patterns)?,
            open: PrefixSet::new(patterns.iter().map(Vec::as_slice)),
            values,
        })
    }

    /// Adds the values in `text`, which follows the byte `before`, to `found`. Returns the length
    /// of the text that further text cannot change. `is_end`: no text follows.
    pub(super) fn find(
        &self,
        before: Option<u8>,
        text: &[u8],
        is_end: bool,
        found: &mut Vec<FoundSecret>,
    ) -> usize {
        let open = if is_end { 0 } else { self.open.open_len(text) };
        let mut settled = text.len() - open;
        for hit in self.matcher.find_iter(text) {
            if hit.start() >= settled {
                break;
            }
            let value = &self.values[hit.pattern().as_usize()];
            if value.is_whole_word {
                let previous = hit.start().checked_sub(1).map(|at| text[at]).or(before);
                let next = text.get(hit.end()).copied();
                if next.is_none() && !is_end {
                    settled = hit.start();
                    break;
                }
                if previous.is_some_and(is_word) || next.is_some_and(is_word) {
                    continue;
                }
            }
            found.push(FoundSecret {
                range: hit.range(),
                mask: Arc::clone(&value.mask),
            });
            // No longer value begins at the same byte: its beginning would not be settled yet.
            settled = settled.max(hit.end());
        }
        settled
    }
}

/// Returns the spellings of a value in output. Each line of a longer value that holds a secret is a
/// spelling of its own: a page of the output may begin between the lines.
fn spellings(value: &[u8]) -> Vec<Vec<u8>> {
    let value = value.trim_ascii();
    if values::is_path(value) && !values::is_random(value) {
        return Vec::new();
    }
    if value.contains(&b'\n') {
        let lines = || value.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let is_border = |line: &&[u8]| line.starts_with(b"-----");
        let random = lines().filter(|line| !is_border(line) && has_random_word(line));
        let mut all: Vec<Vec<u8>> = random.map(<[u8]>::to_vec).collect();
        if all.is_empty() {
            all = lines()
                .filter(|line| !is_border(line))
                .map(<[u8]>::to_vec)
                .collect();
        }
        // On one line, as in JSON.
        all.extend(json_spelling(value));
        return all;
    }
    let mut all = vec![value.to_vec()];
    all.extend(json_spelling(value).filter(|other| *other != value));
    let percent = percent_encode(value, ENCODED_IN_ADDRESS).to_string();
    all.extend((percent.as_bytes() != value).then(|| percent.into_bytes()));
    all
}

/// Returns the value as in a JSON string, if it is UTF-8.
fn json_spelling(value: &[u8]) -> Option<Vec<u8>> {
    let quoted = serde_json::to_string(std::str::from_utf8(value).ok()?).ok()?;
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    Some(inner.as_bytes().to_vec())
}

/// True if a line has a word that looks random. Other lines of a secret also occur elsewhere: `{`,
/// `"type": "service_account",`.
fn has_random_word(line: &[u8]) -> bool {
    let mut words = line.split(|byte| !byte.is_ascii_alphanumeric() && !b"+/=_-".contains(byte));
    words.any(values::is_random)
}

/// True for a short value that may be a word or a number.
fn is_plain(value: &[u8]) -> bool {
    value.len() < MIN_DISTINCT_BYTES
        && (value.iter().all(u8::is_ascii_lowercase) || value.iter().all(u8::is_ascii_digit))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
