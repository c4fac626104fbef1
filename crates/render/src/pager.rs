//! A pager for texts of any length. The host supplies the visible lines.

use crate::panel_frame::{framed, inner_rows};
use crate::{OutputLimits, OutputText, Theme, visible_text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use regex::Regex;

/// Columns between the line numbers and the text.
const GUTTER: usize = 3;

/// A page of a text.
#[derive(Debug, Clone, Copy)]
pub struct Pager<'a> {
    /// For example `artifact://3`.
    pub title: &'a str,
    /// The command that printed the text.
    pub subtitle: &'a str,
    /// The lines from `first_line` on, up to [`Pager::page_rows`] of them.
    pub lines: &'a [String],
    /// Number of the first of these lines, from 1.
    pub first_line: u64,
    /// Number of lines of the whole text.
    pub total_lines: u64,
    /// Columns scrolled to the right.
    pub column: usize,
    /// What is searched for; its matches are marked.
    pub pattern: Option<&'a Regex>,
    /// Of which match `found_line` has the first, from 1, and how many lines have any.
    pub matches: Option<(u64, u64)>,
    /// The line with the current match.
    pub found_line: Option<u64>,
    /// The bottom line: a pattern being typed, a message, or the key help.
    pub prompt: PagerPrompt<'a>,
}

/// The bottom line of a pager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagerPrompt<'a> {
    /// Key help.
    Keys,
    /// A pattern being typed.
    Search(&'a str),
    /// A message.
    Message(&'a str),
}

impl Pager<'_> {
    /// Lines per page in an area.
    pub fn page_rows(area: Rect) -> u16 {
        inner_rows(area)
    }

    /// Draws the pager.
    pub fn render(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        let (footer, style) = self.footer(area, theme);
        let titles = [self.title, self.subtitle];
        let inner = framed(area, buffer, titles, (&footer, style), theme);
        let digits = self.total_lines.max(1).to_string().len();
        for (at, text) in self
            .lines
            .iter()
            .take(usize::from(inner.height))
            .enumerate()
        {
            let number = self.first_line + at as u64;
            let row = self.row(text, number, digits, usize::from(inner.width), theme);
            buffer.set_line(inner.x, inner.y + at as u16, &row, inner.width);
        }
    }

    fn row(
        &self,
        text: &str,
        number: u64,
        digits: usize,
        width: usize,
        theme: &Theme,
    ) -> Line<'static> {
        let is_found = self.found_line == Some(number);
        let mark = if is_found { "▸" } else { " " };
        let style = if is_found { theme.accent } else { theme.dim };
        let mut line = Line::from(Span::styled(format!("{mark}{number:>digits$} │"), style));
        let room = width.saturating_sub(digits + GUTTER);
        // As on a card: control characters are dropped, tabs become spaces.
        let clean = OutputText::of(OutputLimits::CARD, text);
        let rows = clean.window(usize::MAX, 0, 1, theme).rows;
        let spans = rows.into_iter().next().unwrap_or_default().spans;
        let whole: String = spans.iter().map(|span| span.content.as_ref()).collect();
        line.spans.extend(self.highlighted(&whole, room, theme));
        if is_found {
            line = line.style(theme.selected);
        }
        line
    }

    /// What is shown of a line, with its matches marked. They are those of the whole line.
    fn highlighted(&self, whole: &str, room: usize, theme: &Theme) -> Vec<Span<'static>> {
        let text = columns(whole, self.column, room);
        let cut = offset(whole, self.column);
        let found = self.pattern.into_iter().flat_map(|it| it.find_iter(whole));
        let mut spans = Vec::new();
        let mut end = 0;
        for found in found {
            let [from, to] = [found.start(), found.end()].map(|at| at.saturating_sub(cut));
            // What stands in the place of what goes on is no part of a match.
            let Some(marked) = text.get(from..to).filter(|marked| !marked.is_empty()) else {
                continue;
            };
            spans.push(Span::styled(text[end..from].to_owned(), theme.text));
            spans.push(Span::styled(
                marked.to_owned(),
                theme.text.patch(theme.found),
            ));
            end = to;
        }
        spans.push(Span::styled(text[end..].to_owned(), theme.text));
        spans
    }

    fn footer(&self, area: Rect, theme: &Theme) -> (String, Style) {
        let seen = self.lines.len().min(usize::from(Self::page_rows(area)));
        let last = self.first_line + (seen as u64).saturating_sub(1);
        let position = match (self.total_lines, self.lines.is_empty()) {
            (0, _) | (_, true) => "empty".to_owned(),
            (total, _) => format!("{}–{last} of {total}", self.first_line),
        };
        let position = match self.matches {
            Some((at, all)) => format!("{position} · match {at}/{all}"),
            None => position,
        };
        match self.prompt {
            PagerPrompt::Keys => (
                format!("{position} · / search · n N next · g G ends · ←→ sideways · q close"),
                theme.dim,
            ),
            PagerPrompt::Search(typed) => (format!("/{typed}▏"), theme.accent),
            PagerPrompt::Message(message) => (format!("{position} · {message}"), theme.warning),
        }
    }
}

/// At which byte of a clean text its column `from` is.
fn offset(text: &str, from: usize) -> usize {
    use unicode_segmentation::UnicodeSegmentation;
    let mut column = 0;
    let before = text.graphemes(true).take_while(|grapheme| {
        let is_before = column < from;
        column += visible_text::width(grapheme);
        is_before
    });
    before.map(str::len).sum()
}

/// The columns `from` to `from + room` of a clean text, with marks where it continues.
pub(crate) fn columns(text: &str, from: usize, room: usize) -> String {
    use unicode_segmentation::UnicodeSegmentation;
    let (mut at, mut out, mut used) = (0, String::new(), 0);
    for grapheme in text.graphemes(true) {
        let wide = visible_text::width(grapheme);
        if at >= from {
            if used + wide > room {
                while used + 1 > room && used > 0 {
                    let last = out.graphemes(true).next_back().map_or(0, |last| {
                        used -= visible_text::width(last);
                        last.len()
                    });
                    out.truncate(out.len() - last);
                }
                if room > 0 {
                    out.push('›');
                }
                break;
            }
            out.push_str(grapheme);
            used += wide;
        }
        at += wide;
    }
    out
}

/// The position in a text, and how keys change it. Lines are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagerPosition {
    /// The first visible line.
    pub first_line: u64,
    /// Columns scrolled to the right.
    pub column: usize,
}

/// A movement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagerMove {
    /// By lines; backwards if negative.
    Lines(i64),
    /// By pages.
    Pages(i64),
    /// To the first line.
    First,
    /// To the last page.
    Last,
    /// Just far enough to show this line.
    To(u64),
    /// Sideways by columns.
    Columns(isize),
}

impl PagerPosition {
    /// The beginning of the text.
    pub fn first() -> Self {
        Self {
            first_line: 1,
            column: 0,
        }
    }

    /// Moves within a text of `total` lines, `page` of which are visible at once.
    pub fn go(&mut self, to: PagerMove, total: u64, page: u16) {
        let page = u64::from(page.max(1));
        let last = total.saturating_sub(page) + 1;
        let by = |lines: i64| self.first_line.saturating_add_signed(lines);
        let target = match to {
            PagerMove::Lines(lines) => by(lines),
            PagerMove::Pages(pages) => by(pages.saturating_mul(i64::try_from(page).unwrap_or(1))),
            PagerMove::First => 1,
            PagerMove::Last => last,
            PagerMove::To(line) if (self.first_line..self.first_line + page).contains(&line) => {
                self.first_line
            }
            PagerMove::To(line) => line.saturating_sub(page / 3),
            PagerMove::Columns(columns) => {
                self.column = self.column.saturating_add_signed(columns);
                self.first_line
            }
        };
        self.first_line = target.clamp(1, last.max(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_stay_within_the_text() {
        let mut position = PagerPosition::first();
        for (to, want) in [
            (PagerMove::Lines(-1), 1),
            (PagerMove::Lines(3), 4),
            (PagerMove::Pages(1), 14),
            (PagerMove::To(20), 14),
            (PagerMove::To(60), 57),
            (PagerMove::Pages(100), 91),
            (PagerMove::Last, 91),
            (PagerMove::Lines(i64::MAX), 91),
            (PagerMove::Pages(i64::MIN), 1),
            (PagerMove::First, 1),
        ] {
            position.go(to, 100, 10);
            assert_eq!(position.first_line, want, "{to:?}");
        }
        position.go(PagerMove::Columns(8), 100, 10);
        position.go(PagerMove::Columns(-3), 100, 10);
        assert_eq!((position.first_line, position.column), (1, 5));
        position.go(PagerMove::Last, 0, 10);
        assert_eq!(position.first_line, 1);
        position.go(PagerMove::Last, 3, 0);
        assert_eq!(position.first_line, 3);
    }

    #[test]
    fn matches_are_those_of_the_whole_line() {
        let theme = Theme::plain();
        let marked = |pattern: &str, line: &str, column: usize, room: usize| {
            let pattern = Regex::new(pattern).unwrap();
            let pager = Pager {
                title: "",
                subtitle: "",
                lines: &[],
                first_line: 1,
                total_lines: 1,
                column,
                pattern: Some(&pattern),
                matches: None,
                found_line: None,
                prompt: PagerPrompt::Keys,
            };
            let spans = pager.highlighted(line, room, &theme);
            let marked = spans
                .iter()
                .filter(|span| span.style == theme.text.patch(theme.found));
            marked
                .map(|span| span.content.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(marked("e[a-z]", "one een", 0, 9), ["ee"]);
        assert_eq!(marked("(?i)^a", "Aa", 0, 9), ["A"]);
        assert_eq!(marked("^a", "xaa", 1, 9), [""; 0]);
        assert_eq!(marked("好.", "你好吗?", 2, 9), ["好吗"]);
        assert_eq!(marked("x*", "ab", 0, 9), [""; 0]);
        assert_eq!(marked("d", "abcdef", 0, 4), [""; 0]);
    }

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
