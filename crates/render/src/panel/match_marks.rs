//! The visible columns of a line, with the matches of a pattern marked.

use crate::Theme;
use crate::text::visible_text;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use regex::Regex;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// The mark at the end of a line that continues.
const CONTINUATION_MARK: char = '›';

/// The searched pattern, and the base style of lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MatchStyle<'a> {
    pub(crate) pattern: Option<&'a Regex>,
    pub(crate) base: Style,
}

impl MatchStyle<'_> {
    /// The columns `from` to `from + room` of a coloured line, with the matches in the whole line
    /// marked.
    pub(crate) fn columns(
        &self,
        row: &Line<'_>,
        from: usize,
        room: usize,
        theme: &Theme,
    ) -> Vec<Span<'static>> {
        let whole = text(row);
        let shown = columns(&whole, from, room);
        let cut = byte_of_column(&whole, from);
        // The continuation mark is not part of a match.
        let len = if whole[cut..].starts_with(&shown) {
            shown.len()
        } else {
            shown.len() - CONTINUATION_MARK.len_utf8()
        };
        let found: Vec<Range<usize>> = self
            .pattern
            .into_iter()
            .flat_map(|pattern| pattern.find_iter(&whole))
            .map(|found| found.range())
            .collect();
        let (mut spans, mut at) = (Vec::new(), 0);
        for span in &row.spans {
            let style = self.base.patch(span.style);
            for (part, is_found) in split_at_matches(at..at + span.content.len(), &found) {
                let [from, to] = [part.start, part.end].map(|at| at.clamp(cut, cut + len) - cut);
                let mark = if is_found { theme.found } else { Style::new() };
                if to > from {
                    let text = shown[from..to].to_owned();
                    spans.push(Span::styled(text, style.patch(mark)));
                }
            }
            at += span.content.len();
        }
        spans.push(Span::styled(shown[len..].to_owned(), self.base));
        spans
    }
}

pub(crate) fn text(row: &Line<'_>) -> String {
    row.spans.iter().map(|span| span.content.as_ref()).collect()
}

/// Splits a range of a line at the matches in it. The flag is true for a match.
fn split_at_matches(part: Range<usize>, found: &[Range<usize>]) -> Vec<(Range<usize>, bool)> {
    let (mut parts, mut at) = (Vec::new(), part.start);
    for found in found {
        let [from, to] = [found.start, found.end].map(|at_byte| at_byte.clamp(at, part.end));
        parts.extend([(at..from, false), (from..to, true)]);
        at = to;
    }
    parts.push((at..part.end, false));
    parts
}

/// The byte offset of column `from` of a text without control characters.
fn byte_of_column(text: &str, from: usize) -> usize {
    let mut column = 0;
    let before = text.graphemes(true).take_while(|grapheme| {
        let is_before = column < from;
        column += visible_text::width(grapheme);
        is_before
    });
    before.map(str::len).sum()
}

/// The columns `from` to `from + room` of a text without control characters, with a mark where the
/// text continues.
pub(crate) fn columns(text: &str, from: usize, room: usize) -> String {
    let (mut at, mut out, mut used) = (0, String::new(), 0);
    for grapheme in text.graphemes(true) {
        let wide = visible_text::width(grapheme);
        if at >= from {
            if used + wide > room {
                return with_mark(out, used, room);
            }
            out.push_str(grapheme);
            used += wide;
        }
        at += wide;
    }
    out
}

/// Shortens a text of `used` columns so that it fits into `room` columns with a mark at its end.
fn with_mark(mut text: String, mut used: usize, room: usize) -> String {
    while used + 1 > room && used > 0 {
        let last = text.graphemes(true).next_back().unwrap_or_default();
        used -= visible_text::width(last);
        let length = text.len() - last.len();
        text.truncate(length);
    }
    if room > 0 {
        text.push(CONTINUATION_MARK);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_cut_between_characters() {
        for (text, from, room, want) in [
            ("abcdef", 0, 6, "abcdef"),
            ("abcdef", 0, 4, "abc›"),
            ("abcdef", 2, 4, "cdef"),
            ("你好吗", 0, 5, "你好›"),
            ("你好吗", 0, 4, "你›"),
            ("abc", 9, 4, ""),
            ("abc", 0, 0, ""),
        ] {
            assert_eq!(columns(text, from, room), want, "{text} {from} {room}");
        }
    }
}
