//! [`PlainText`]: a text without escape sequences, and where its bytes were. A secret that a
//! program has coloured is found in it as any other.

use std::borrow::Cow;
use std::ops::Range;

/// A text without its escape sequences.
pub(super) struct PlainText<'a> {
    pub(super) text: Cow<'a, str>,
    /// The original position of each byte; empty if the text had no escape sequences.
    was: Vec<usize>,
}

impl<'a> PlainText<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        if !text.contains('\u{1b}') {
            return Self {
                text: Cow::Borrowed(text),
                was: Vec::new(),
            };
        }
        let (mut plain, mut was) = (String::with_capacity(text.len()), Vec::new());
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let length = sequence(&text[at..]);
            if length > 0 {
                at += length;
                continue;
            }
            was.extend(at..at + c.len_utf8());
            plain.push(c);
            at += c.len_utf8();
        }
        was.push(text.len());
        Self {
            text: Cow::Owned(plain),
            was,
        }
    }

    /// The original position of the byte at `at`.
    pub(super) fn was_at(&self, at: usize) -> usize {
        self.was.get(at).copied().unwrap_or(at)
    }

    /// The original end of a range that ends at `end`.
    pub(super) fn ended_at(&self, end: usize) -> usize {
        end.checked_sub(1).map_or(0, |last| self.was_at(last) + 1)
    }

    /// The escape sequences that were within a part.
    pub(super) fn sequences_within(&self, text: &str, part: &Range<usize>) -> String {
        let mut sequences = String::new();
        if self.was.is_empty() {
            return sequences;
        }
        for at in part.start + 1..part.end {
            sequences.push_str(&text[self.was_at(at - 1) + 1..self.was_at(at)]);
        }
        sequences
    }
}

/// Length of the control sequence (ECMA-48, `ESC [ … m`) at the beginning of a text; 0 if there is
/// none.
fn sequence(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\u{1b}[") else {
        return 0;
    };
    let end = rest.bytes().position(|byte| !(0x20..0x40).contains(&byte));
    match end.map(|at| (at, rest.as_bytes()[at])) {
        Some((at, 0x40..=0x7e)) => 2 + at + 1,
        _ => 0,
    }
}
