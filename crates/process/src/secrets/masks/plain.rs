//! [`PlainText`]: a text without escape sequences, and the original positions of its bytes. Secrets
//! are searched in the plain text, so that a coloured secret is found too.

use std::borrow::Cow;
use std::ops::Range;

/// A text without its escape sequences.
pub(super) struct PlainText<'a> {
    pub(super) text: Cow<'a, str>,
    /// The original position of each byte; empty if the text had no escape sequences.
    original: Vec<usize>,
}

impl<'a> PlainText<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        if !text.contains('\u{1b}') {
            return Self {
                text: Cow::Borrowed(text),
                original: Vec::new(),
            };
        }
        let (mut plain, mut original) = (String::with_capacity(text.len()), Vec::new());
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let length = sequence_length(&text[at..]);
            if length > 0 {
                at += length;
                continue;
            }
            original.extend(at..at + c.len_utf8());
            plain.push(c);
            at += c.len_utf8();
        }
        original.push(text.len());
        Self {
            text: Cow::Owned(plain),
            original,
        }
    }

    /// Returns the original position of the byte at `at`.
    pub(super) fn original_position(&self, at: usize) -> usize {
        self.original.get(at).copied().unwrap_or(at)
    }

    /// Returns the original end of a range that ends at `end`.
    pub(super) fn original_end(&self, end: usize) -> usize {
        end.checked_sub(1)
            .map_or(0, |last| self.original_position(last) + 1)
    }

    /// Returns the escape sequences of the original text within a range of the plain text.
    pub(super) fn sequences_within(&self, text: &str, part: &Range<usize>) -> String {
        let mut sequences = String::new();
        if self.original.is_empty() {
            return sequences;
        }
        for at in part.start + 1..part.end {
            sequences
                .push_str(&text[self.original_position(at - 1) + 1..self.original_position(at)]);
        }
        sequences
    }
}

/// Length of the control sequence (ECMA-48, `ESC [ … m`) at the beginning of a text; 0 if there is
/// none.
fn sequence_length(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\u{1b}[") else {
        return 0;
    };
    let end = rest.bytes().position(|byte| !(0x20..0x40).contains(&byte));
    match end.map(|at| (at, rest.as_bytes()[at])) {
        Some((at, 0x40..=0x7e)) => 2 + at + 1,
        _ => 0,
    }
}
