//! What a call changed in files, in colour. The host supplies the lines; whatever is in them, nothing of it acts.

use crate::file_row::file_row;
use crate::pager::columns;
use crate::panel_frame::{framed, inner_rows};
use crate::{PagerPosition, Theme, visible_text};
use agent_bash_core::changes::FileChange;
use agent_bash_core::visible::one_line;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Distance of tab stops in columns.
const TAB: usize = 8;

/// A diff, or a part of it.
#[derive(Debug, Clone, Copy)]
pub struct DiffView<'a> {
    /// For example `changes://7`.
    pub title: &'a str,
    /// The command that did it.
    pub subtitle: &'a str,
    /// All lines.
    pub lines: &'a [DiffLine],
    /// What of them is visible.
    pub position: &'a PagerPosition,
    /// What keys do with the set, for example `u undo`; may be empty.
    pub keys: &'a str,
    /// A message instead of the keys.
    pub message: Option<&'a str>,
}

/// A line of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffLine {
    /// A file begins.
    File(FileChange),
    /// Something about it, such as that it is binary.
    Note(String),
    /// Where in the file the following lines are.
    Hunk(String),
    /// A line that is on both sides.
    Context(String),
    /// A line that is gone.
    Removed(String),
    /// A line that is new.
    Added(String),
    /// Nothing.
    Blank,
}

impl DiffView<'_> {
    /// Lines per page in an area.
    pub fn page_rows(area: Rect) -> u16 {
        inner_rows(area)
    }

    /// Draws it.
    pub fn render(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        let first = usize::try_from(self.position.first_line).unwrap_or(usize::MAX);
        let rows = usize::from(inner_rows(area));
        let lines = self.lines.iter().skip(first.saturating_sub(1)).take(rows);
        let footer = self.footer(first, lines.len(), theme);
        let footer = (footer.0.as_str(), footer.1);
        let inner = framed(area, buffer, [self.title, self.subtitle], footer, theme);
        for (y, line) in (inner.y..).zip(lines) {
            let row = line.row(self.position.column, usize::from(inner.width), theme);
            buffer.set_line(inner.x, y, &row, inner.width);
        }
    }

    fn footer(&self, first: usize, seen: usize, theme: &Theme) -> (String, Style) {
        let position = match (self.lines.len(), seen) {
            (0, _) | (_, 0) => "empty".to_owned(),
            (total, seen) => format!("{first}–{} of {total}", first + seen - 1),
        };
        if let Some(message) = self.message {
            return (format!("{position} · {message}"), theme.warning);
        }
        let own = match self.keys {
            "" => String::new(),
            keys => format!(" · {keys}"),
        };
        let text = format!("{position}{own} · n N file · g G ends · ←→ sideways · q close");
        (text, theme.dim)
    }
}

impl DiffLine {
    /// From column `from` on, as far as there is room. Headings stay where they are, unless there is no room for them.
    fn row(&self, from: usize, room: usize, theme: &Theme) -> Line<'static> {
        let line = |sign: &'static str, text: &str, style: Style| {
            let shown = columns(&cells(text), from, room.saturating_sub(sign.len()));
            Line::from_iter([Span::styled(sign, style), Span::styled(shown, style)])
        };
        match self {
            Self::File(file) => heading(file_row(file, theme.title, theme), from, room),
            Self::Note(text) => heading(said("  ", text, theme.dim), from, room),
            Self::Hunk(text) => heading(said("", text, theme.accent), from, room),
            Self::Context(text) => line(" ", text, theme.text),
            Self::Removed(text) => line("-", text, theme.error),
            Self::Added(text) => line("+", text, theme.ok),
            Self::Blank => Line::default(),
        }
    }
}

fn said(sign: &'static str, text: &str, style: Style) -> Line<'static> {
    Line::from_iter([Span::raw(sign), Span::styled(cells(text), style)])
}

/// Where there is no room for all of it, its columns from `from` on; its first span stays.
fn heading(mut line: Line<'static>, from: usize, room: usize) -> Line<'static> {
    if line.width() <= room {
        return line;
    }
    let (mut skip, mut left) = (from, room);
    for (at, span) in line.spans.iter_mut().enumerate() {
        let width = span.width();
        let gone = if at == 0 { 0 } else { skip.min(width) };
        let shown = columns(&span.content, gone, left);
        skip -= gone;
        left = left.saturating_sub(visible_text::width(&shown));
        *span = Span::styled(shown, span.style);
    }
    line
}

/// A line as it can be shown: tabs as spaces, what acts or hides as marks.
fn cells(text: &str) -> String {
    let mut shown = String::new();
    for (at, piece) in text.split('\t').enumerate() {
        if at > 0 {
            let column = visible_text::width(&shown);
            shown.push_str(&" ".repeat(TAB - column % TAB));
        }
        shown.push_str(&one_line(piece));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_lead_to_stops_and_what_acts_is_marked() {
        for (text, want) in [
            ("\tx", "        x"),
            ("ab\tx\ty", "ab      x       y"),
            ("你\tx", "你      x"),
            ("a\u{1b}[2J\r", "a<U+001B>[2J<U+000D>"),
            ("a\u{202e}b", "a<U+202E>b"),
        ] {
            assert_eq!(cells(text), want, "{text:?}");
        }
    }
}
