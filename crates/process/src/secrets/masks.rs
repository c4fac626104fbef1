//! [`Masks`]: masks secrets in stored or shown texts. Secrets are found by the values of the host's
//! variables, by names (`--token x`, `PASSWORD=x`), and by the form of a word.
//!
//! Nothing else may be masked: a record must show every command that ran, whatever text a command
//! contains. So a mask covers one word, and never reaches beyond a command separator, even in
//! quotes: `eval`, `ssh` and others run quoted text. Only a value that is certainly assigned to a
//! variable is masked beyond its first blank.

mod announced;
mod key_text;
mod names;
mod options;
mod plain;
mod words;

use super::SecretFilter;
use super::values::{self, find};
use announced::PrecedingWords;
use names::{SECRET_MASK, bare, is_name};
use plain::PlainText;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::ops::Range;
use words::Words;

/// Minimum length of a variable's value to be searched for: shorter values also occur in unrelated
/// words.
const MIN_VALUE_BYTES: usize = 6;

/// Masks the host's secrets, and words that look like secrets, in texts.
#[derive(Debug, Clone)]
pub struct Masks {
    filter: SecretFilter,
    /// Values of the host's secret variables.
    values: Vec<String>,
}

impl Masks {
    /// Creates masks for the variables of `environment` that `filter` classifies as secrets.
    pub fn new<'a>(
        environment: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>,
        filter: SecretFilter,
    ) -> Self {
        let variables = environment.into_iter();
        let values: Vec<String> = variables
            .filter(|(name, value)| filter.is_secret(name, value))
            .filter_map(|(_, value)| value.to_str())
            .filter(|value| value.len() >= MIN_VALUE_BYTES)
            .map(str::to_owned)
            .collect();
        Self { filter, values }
    }

    /// Returns the text with `[hidden]` in place of each secret. Escape sequences within a secret
    /// (`grep --color`) follow the mask.
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let plain = PlainText::of(text);
        let found = join_overlapping(self.secrets(&plain.text));
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut masked, mut from) = (String::with_capacity(text.len()), 0);
        for range in found {
            masked.push_str(&text[from..plain.original_position(range.start)]);
            masked.push_str(SECRET_MASK);
            masked.push_str(&plain.sequences_within(text, &range));
            from = plain.original_end(range.end);
        }
        masked.push_str(&text[from..]);
        Cow::Owned(masked)
    }

    /// Returns the ranges of secrets, unsorted; they may overlap.
    fn secrets(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for value in &self.values {
            let matches = text.match_indices(value.as_str());
            found.extend(matches.map(|(at, value)| at..at + value.len()));
        }
        if self.filter.by_value {
            key_text::find(text, &mut found);
        }
        let (mut words, mut preceding) = (Words::new(text), PrecedingWords::default());
        let mut last = None;
        while let Some(word) = words.next() {
            if word.ends_command {
                let is_piped = text[word.gap.clone()].trim_matches([' ', '\'', '"']) == "|";
                preceding.command_ended(is_piped, last.take());
            }
            last = Some(word.range.clone());
            let announced = preceding
                .take_announced(text, &word)
                .filter(|_| self.filter.by_name);
            if let Some(announced) = announced
                && let Some(secret) = announced.secret(&self.filter, text, &word)
            {
                found.push(secret);
                preceding.after_secret(&announced, &text[word.range]);
                continue;
            }
            found.extend(self.secret_in_word(text, word.range.clone()));
            if self.filter.by_name {
                found.extend(options::attached_credential(
                    preceding.programs(),
                    text,
                    &word.range,
                ));
                found.extend(announced::json_secret(
                    &self.filter, &preceding, text, &word.range,
                ));
            }
            preceding.push(text, &word);
            if self.filter.by_name {
                found.extend(preceding.piped_credential(text));
            }
        }
        found
    }

    /// Returns the range of the secret within a word.
    fn secret_in_word(&self, text: &str, word: Range<usize>) -> Option<Range<usize>> {
        let whole = &text[word.clone()];
        if self.filter.by_name {
            let in_query = whole.rfind(['?', '&']).map_or(0, |at| at + 1);
            for from in [0, in_query] {
                if let Some(value) = self.assigned_secret(&whole[from..]) {
                    return Some(word.end - value.len()..word.end);
                }
            }
        }
        if !self.filter.by_value {
            return None;
        }
        if values::has_url_with_password(whole.as_bytes()) {
            let user = find(whole.as_bytes(), b"://")? + 3;
            let colon = user + find(&whole.as_bytes()[user..], b":")? + 1;
            let host = whole[colon..].find('@')? + colon;
            return Some(word.start + colon..word.start + host);
        }
        let found = values::token_in(whole)
            .or_else(|| values::secret_after_address(whole))
            .or_else(|| values::signature(whole))
            .or_else(|| values::signature_after(&text[..word.start], whole))?;
        Some(word.start + found.start..word.start + found.end)
    }

    /// Returns the value of `NAME=value`, if it is a secret.
    fn assigned_secret<'a>(&self, text: &'a str) -> Option<&'a str> {
        let split = text
            .split_once(['=', ':'])
            .filter(|(name, _)| is_name(name));
        // In `//host/:_authToken=…`, the name begins after the colon.
        let in_address = || {
            let (name, value) = text.split_once('=')?;
            Some((name.rsplit_once("/:")?.1, value))
        };
        let (name, value) = split.or_else(in_address)?;
        let value = value.trim_start_matches(['"', '\'']);
        let is_value =
            !value.is_empty() && !value.starts_with(['$', '/', '=', ':']) && value != SECRET_MASK;
        (is_name(name) && is_value && self.filter.is_secret(bare(name).as_ref(), value.as_ref()))
            .then_some(value)
    }
}

/// Sorts ranges and joins those that overlap.
fn join_overlapping(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut all: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match all.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => all.push(range),
        }
    }
    all
}

#[cfg(test)]
#[path = "masks/masks_tests.rs"]
mod tests;
