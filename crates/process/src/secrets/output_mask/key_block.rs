//! [`KeyBlock`]: the state within a private key (RFC 7468), whose lines may arrive in any number of
//! chunks.

use std::ops::Range;

/// The text before the label of a key.
pub(super) const KEY_HEADER: &[u8] = b"-----BEGIN ";

/// The text that ends a label.
const DASHES: &[u8] = b"-----";

/// Maximum length of a label.
const MAX_LABEL_BYTES: usize = 64;

/// Runs of Base64 that are shorter are not masked: encoders fill 64 or 70 columns, and the last few
/// bytes of a key are useless to an attacker.
const MIN_RUN_BYTES: usize = 16;

/// Maximum number of consecutive lines without key data in a block. A key has fewer: its encryption
/// or version, and a blank line.
const MAX_OTHER_LINES: u32 = 6;

/// A line that is longer is masked in parts.
const MAX_LINE_BYTES: usize = 8 * 1024;

/// A private key whose end was not seen yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct KeyBlock {
    other_lines: u32,
}

/// The label after a [`KEY_HEADER`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum KeyLabel {
    /// A private key: the label ends at this offset.
    Private(usize),
    /// Something else.
    Other,
    /// The label is incomplete.
    Open,
}

/// Reads the label after a header.
pub(super) fn label(rest: &[u8], is_end: bool) -> KeyLabel {
    let is_label = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' ';
    let length = rest.iter().take_while(|byte| is_label(byte)).count();
    let after = &rest[length..];
    if length > MAX_LABEL_BYTES {
        return KeyLabel::Other;
    }
    if !is_end && after.len() < DASHES.len() && DASHES.starts_with(after) {
        return KeyLabel::Open;
    }
    let label = &rest[..length];
    let is_private = label.windows(11).any(|part| part == b"PRIVATE KEY");
    if after.starts_with(DASHES) && is_private {
        KeyLabel::Private(length + DASHES.len())
    } else {
        KeyLabel::Other
    }
}

/// A line of a block.
pub(super) enum KeyLine {
    /// The line is incomplete.
    Open,
    /// The line ends at this offset, and has this key data.
    Line(usize, Vec<Range<usize>>),
    /// The block ends at this offset, after this key data.
    End(usize, Vec<Range<usize>>),
}

impl KeyBlock {
    /// Takes the line at the beginning of `text`. In JSON, and in a value on one line, line ends
    /// are written as `\n`.
    pub(super) fn line(&mut self, text: &[u8], is_end: bool) -> KeyLine {
        let end = text.iter().position(|byte| *byte == b'\n');
        let line = match end {
            Some(end) => &text[..=end],
            None if is_end || text.len() > MAX_LINE_BYTES => text,
            None => return KeyLine::Open,
        };
        let dashes = line.windows(DASHES.len()).position(|part| part == DASHES);
        let data = key_data(&line[..dashes.unwrap_or(line.len())]);
        if let Some(dashes) = dashes {
            return KeyLine::End(dashes, data);
        }
        if data.is_empty() {
            self.other_lines += 1;
        } else {
            self.other_lines = 0;
        }
        if self.other_lines > MAX_OTHER_LINES {
            KeyLine::End(line.len(), data)
        } else {
            KeyLine::Line(line.len(), data)
        }
    }
}

/// Returns the ranges of a line that look like Base64 of random bytes: long, and with letters and
/// digits. Names of programs and files rarely do. The `n` of a written `\n` is not a part of a
/// range.
fn key_data(line: &[u8]) -> Vec<Range<usize>> {
    let is_data = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < line.len() {
        if line[at] == b'\\' {
            at += 2;
            continue;
        }
        let length = line[at..].iter().take_while(|byte| is_data(**byte)).count();
        // A `+` is the mark of a diff line.
        let marks = line[at..].iter().take_while(|byte| **byte == b'+').count();
        let run = &line[at + marks.min(length)..at + length];
        let has = |is: fn(&u8) -> bool| run.iter().any(is);
        if run.len() >= MIN_RUN_BYTES
            && has(u8::is_ascii_uppercase)
            && has(u8::is_ascii_lowercase)
            && has(u8::is_ascii_digit)
        {
            ranges.push(at + length - run.len()..at + length);
        }
        at += length.max(1);
    }
    ranges
}
