//! What a call changed in files, in colour. The host supplies the lines; whatever is in them, nothing of it acts.

use crate::file_row::file_row;
use crate::found_text::{Marked, text};
use crate::pager::{BEFORE, counting};
use crate::panel_frame::{framed, inner_rows};
use crate::{PagerPosition, Theme, visible_text};
use agent_bash_core::changes::FileChange;
use agent_bash_core::visible::one_line;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use regex::Regex;

/// Stands on the frame beside the line with the current match.
const FOUND: &str = "▸";

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
    /// What is searched for; its matches are marked.
    pub pattern: Option<&'a Regex>,
    /// Of which match `found_line` has the first, from 1, and how many lines have any.
    pub matches: Option<(u64, u64)>,
    /// The line with the current match, from 1.
    pub found_line: Option<u64>,
    /// A pattern being typed, with the sign before it.
    pub typed: Option<&'a str>,
    /// The number before a key.
    pub count: Option<u64>,
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
        for ((y, line), number) in (inner.y..).zip(lines).zip(self.position.first_line..) {
            let parts = line.parts(theme);
            let room = usize::from(inner.width);
            if parts.first_column(self.position.column, room) > 0 {
                // On the frame: the sign stays.
                buffer.set_string(area.x, y, BEFORE, theme.dim);
            }
            let pattern = self.pattern.filter(|_| line.is_searched());
            let row = parts.row(self.position.column, room, pattern, theme);
            buffer.set_line(inner.x, y, &row, inner.width);
            if self.found_line == Some(number) {
                // There is no room beside the line. And what is reversed would hide the match, which is that, too.
                buffer.set_string(area.x, y, FOUND, theme.accent);
                let background = Style {
                    bg: theme.selected.bg,
                    ..Style::new()
                };
                let height = 1;
                buffer.set_style(Rect { y, height, ..inner }, background);
            }
        }
    }

    fn footer(&self, first: usize, seen: usize, theme: &Theme) -> (String, Style) {
        let position = match (self.lines.len(), seen) {
            (0, _) | (_, 0) => "empty".to_owned(),
            (total, seen) => format!("{first}–{} of {total}", first + seen - 1),
        };
        if let Some(typed) = self.typed {
            return (format!("{typed}▏"), theme.accent);
        }
        if let Some(count) = self.count {
            return (counting(count), theme.accent);
        }
        // What is most wanted comes first: it stays where there is little room.
        let counted = self.matches.map(|(at, all)| format!("match {at}/{all} · "));
        let counted = counted.unwrap_or_default();
        if let Some(message) = self.message {
            return (format!("{counted}{message} · {position}"), theme.warning);
        }
        let position = format!("{counted}{position}");
        let next = if self.pattern.is_some() {
            "n N match"
        } else {
            "n N file"
        };
        let own = match self.keys {
            "" => String::new(),
            keys => format!(" · {keys}"),
        };
        let keys = "/ search · f1 keys · ←→ sideways · q close";
        let text = format!("{position}{own} · {next} · {keys}");
        (text, theme.dim)
    }
}

impl DiffLine {
    /// Whether it is of what changed, and not of where that is.
    pub fn is_searched(&self) -> bool {
        !matches!(self, Self::Hunk(_))
    }

    /// What is searched, as it is shown, without the sign before it.
    pub fn text(&self) -> String {
        text(&self.parts(&Theme::plain()).body)
    }

    /// Columns of a row of `width` in which that is shown.
    pub fn room(&self, width: usize) -> usize {
        width.saturating_sub(self.parts(&Theme::plain()).sign.width())
    }

    fn parts(&self, theme: &Theme) -> Parts {
        let of = |sign: &'static str, text: &str, style: Style, is_heading| Parts {
            sign: Span::styled(sign, style),
            body: Line::from(Span::styled(cells(text), style)),
            base: style,
            is_heading,
        };
        match self {
            Self::File(file) => {
                let mut body = file_row(file, theme.title, theme);
                Parts {
                    sign: body.spans.remove(0),
                    body,
                    base: theme.text,
                    is_heading: true,
                }
            }
            Self::Note(text) => Parts {
                sign: Span::raw("  "),
                ..of("", text, theme.dim, true)
            },
            Self::Hunk(text) => of("", text, theme.accent, true),
            Self::Context(text) => of(" ", text, theme.text, false),
            Self::Removed(text) => of("-", text, theme.error, false),
            Self::Added(text) => of("+", text, theme.ok, false),
            Self::Blank => of("", "", theme.text, false),
        }
    }
}

/// A line with its styles.
struct Parts {
    /// What stays at the left.
    sign: Span<'static>,
    body: Line<'static>,
    base: Style,
    /// It stays where it is, unless there is no room for it.
    is_heading: bool,
}

impl Parts {
    /// The column that it begins at where those around it begin at `from`.
    fn first_column(&self, from: usize, width: usize) -> usize {
        let wide = self.body.width();
        let fits = wide + self.sign.width() <= width;
        if wide == 0 || (self.is_heading && fits) {
            0
        } else {
            from
        }
    }

    /// From column `from` on, as far as there is room.
    fn row(
        self,
        from: usize,
        width: usize,
        pattern: Option<&Regex>,
        theme: &Theme,
    ) -> Line<'static> {
        let room = width.saturating_sub(self.sign.width());
        let from = self.first_column(from, width);
        let marked = Marked {
            pattern,
            base: self.base,
        };
        let mut row = Line::from(self.sign);
        row.spans
            .extend(marked.columns(&self.body, from, room, theme));
        row
    }
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
