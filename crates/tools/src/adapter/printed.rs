//! Cleaned output with at least both ends stored, for tools that show the beginning and the end of
//! an output.

use crate::finished_call::OutputPart;
use agent_bash_core::Window;
use agent_bash_sink::{CarriageReturn, TailBuffer};

/// The cleaned text of a part of the output. If the part is stored completely, `head` has the whole
/// text. Otherwise `head` has the beginning and `tail` the end.
#[derive(Debug, Default)]
pub(crate) struct PrintedText {
    pub(crate) head: String,
    pub(crate) tail: String,
    /// The number of bytes between `head` and `tail` that are not stored.
    pub(crate) missing: usize,
    pub(crate) lines: u64,
}

/// The two ends of a text that is too long.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TextEnds<'a> {
    pub(crate) head: &'a str,
    pub(crate) tail: &'a str,
    /// Number of bytes removed between `head` and `tail`.
    pub(crate) removed: usize,
}

impl PrintedText {
    /// Returns the cleaned text of `part`.
    pub(crate) fn of(part: &OutputPart, on_terminal: bool) -> Self {
        let cr = if on_terminal {
            CarriageReturn::Newline
        } else {
            CarriageReturn::Overwrite
        };
        let is_open = part.output.bytes.last().is_some_and(|byte| *byte != b'\n');
        let lines = part.lines + u64::from(is_open);
        if part.from <= part.unread_from {
            return Self {
                head: clean(&part.output.bytes, cr),
                lines,
                ..Self::default()
            };
        }
        // The stored beginning may overlap the stored end, so the beginning is cut where the end
        // starts.
        let between = (part.from - part.unread_from) as usize;
        let head = &part.head[..part.head.len().min(between)];
        Self {
            head: clean(head, cr),
            tail: clean(&part.output.bytes, cr),
            missing: between - head.len(),
            lines,
        }
    }

    /// Returns the length of the whole text in bytes.
    pub(crate) fn length(&self) -> usize {
        self.head.len() + self.missing + self.tail.len()
    }

    /// Returns the beginning that fits into `head` and the end that fits into `tail`. `None` if the
    /// whole text fits into both together.
    pub(crate) fn ends(&self, head: Window, tail: Window) -> Option<TextEnds<'_>> {
        let lines = head.lines.saturating_add(tail.lines) as u64;
        if self.length() <= head.bytes + tail.bytes && self.lines <= lines {
            return None;
        }
        let ending = if self.tail.is_empty() {
            &self.head
        } else {
            &self.tail
        };
        let (head, tail) = (first(&self.head, head), last(ending, tail));
        Some(TextEnds {
            head,
            tail,
            removed: self.length() - head.len() - tail.len(),
        })
    }
}

/// Returns the beginning of a text that fits into `max`.
fn first(text: &str, max: Window) -> &str {
    let mut end = max.bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = &text[..end];
    let mut ends = text.match_indices('\n').map(|(at, _)| at + 1);
    match max.lines.checked_sub(1) {
        None => "",
        Some(last) => &text[..ends.nth(last).unwrap_or(text.len())],
    }
}

/// Returns the end of a text that fits into `max`.
fn last(text: &str, max: Window) -> &str {
    let mut start = text.len().saturating_sub(max.bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let text = &text[start..];
    let lines = text.strip_suffix('\n').unwrap_or(text);
    let mut starts = lines.rmatch_indices('\n').map(|(at, _)| at + 1);
    match max.lines.checked_sub(1) {
        None => "",
        Some(last) => &text[starts.nth(last).unwrap_or(0)..],
    }
}

/// Returns the bytes as text, without terminal control sequences.
fn clean(bytes: &[u8], carriage_return: CarriageReturn) -> String {
    let mut buffer = TailBuffer::new(bytes.len(), carriage_return);
    buffer.push(bytes);
    buffer.snapshot()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(head: &[u8], from: u64, bytes: &[u8]) -> OutputPart {
        OutputPart {
            output: agent_bash_core::MaskedPart::unmasked(bytes.to_vec()),
            from,
            lines_before: 0,
            total: from + bytes.len() as u64,
            unread_from: 0,
            head: head.to_vec(),
            lines: 0,
        }
    }

    fn bytes(bytes: usize) -> Window {
        Window {
            bytes,
            lines: usize::MAX,
        }
    }

    #[test]
    fn ends_respects_limits_of_lines() {
        let printed = PrintedText::of(
            &OutputPart {
                lines: 6,
                ..part(b"", 0, b"1\n2\n3\n4\n5\n6\n")
            },
            false,
        );
        let lines = |lines| Window { bytes: 100, lines };
        let ends = printed.ends(lines(1), lines(2)).unwrap();
        assert_eq!((ends.head, ends.tail, ends.removed), ("1\n", "5\n6\n", 6));
        assert_eq!(printed.ends(lines(3), lines(3)), None);
    }

    #[test]
    fn length_counts_overlapping_bytes_once_and_missing_bytes() {
        // `abcdefgh`, where the beginning overlaps with the end, or does not.
        for (head, from, tail) in [
            (&b"abcdef"[..], 4, &b"efgh"[..]),
            (b"ab", 4, b"efgh"),
            (b"abcd", 4, b"efgh"),
        ] {
            let printed = PrintedText::of(&part(head, from, tail), false);
            assert_eq!(printed.length(), 8);
            let ends = printed.ends(bytes(2), bytes(3)).unwrap();
            assert_eq!((ends.head, ends.tail, ends.removed), ("ab", "fgh", 3));
        }
        let whole = PrintedText::of(&part(b"abcd", 0, b"abcdefgh"), false);
        assert_eq!(whole.ends(bytes(4), bytes(4)), None);
        assert_eq!((whole.head.as_str(), whole.lines), ("abcdefgh", 1));
    }

    #[test]
    fn ends_does_not_split_characters() {
        let printed = PrintedText::of(&part(b"", 0, "ééééé".as_bytes()), false);
        let ends = printed.ends(bytes(3), bytes(3)).unwrap();
        assert_eq!((ends.head, ends.tail, ends.removed), ("é", "é", 6));
    }
}
