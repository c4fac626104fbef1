//! A call's changes to files as a coloured diff. The host supplies the lines; control sequences in
//! them have no effect.

use crate::panel::file_row::file_row;
use crate::panel::match_marks::{MatchStyle, text};
use crate::panel::pager::{CLIPPED_MARK, counting};
use crate::panel::panel_frame::{framed, inner_rows};
use crate::text::visible_text;
use crate::{PagerPosition, Theme};
use agent_bash_core::changes::FileChange;
use agent_bash_core::visible::one_line;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use regex::Regex;

/// The mark on the frame of the line with the current match.
const MATCH_MARK: &str = "▸";

/// Distance of tab stops in columns.
const TAB_COLUMNS: usize = 8;

/// A diff, or a part of it.
#[derive(Debug, Clone, Copy)]
pub struct DiffView<'a> {
    /// For example `changes://7`.
    pub title: &'a str,
    /// The command that made the changes.
    pub subtitle: &'a str,
    /// All lines.
    pub lines: &'a [DiffLine],
    /// The visible part.
    pub position: &'a PagerPosition,
    /// The keys for the change set, for example `u undo`; may be empty.
    pub keys: &'a str,
    /// The pattern that is searched; its matches are marked.
    pub pattern: Option<&'a Regex>,
    /// The number of the match in `found_line`, from 1, and the number of matching lines.
    pub matches: Option<(u64, u64)>,
    /// The line with the current match, from 1.
    pub found_line: Option<u64>,
    /// A pattern being typed, with its sign.
    pub typed: Option<&'a str>,
    /// The number typed before a key.
    pub count: Option<u64>,
    /// A message that replaces the keys.
    pub message: Option<&'a str>,
}

/// A line of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffLine {
    /// The beginning of a file.
    File(FileChange),
    /// A note about the file, such as that it is binary.
    Note(String),
    /// The position of the following lines in the file.
    Hunk(String),
    /// An unchanged line.
    Context(String),
    /// A removed line.
    Removed(String),
    /// An added line.
    Added(String),
    /// An empty line.
    Blank,
}

impl DiffView<'_> {
    /// Lines per page in an area.
    pub fn page_rows(area: Rect) -> u16 {
        inner_rows(area)
    }

    /// Draws the diff.
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
                // On the frame, so that the line's sign stays visible.
                buffer.set_string(area.x, y, CLIPPED_MARK, theme.dim);
            }
            let pattern = self.pattern.filter(|_| line.is_searched());
            let row = parts.row(self.position.column, room, pattern, theme);
            buffer.set_line(inner.x, y, &row, inner.width);
            if self.found_line == Some(number) {
                // The mark is on the frame, because there is no room left of the line, and
                // reversing the line would hide the reversed match.
                buffer.set_string(area.x, y, MATCH_MARK, theme.accent);
                let background = Style {
                    bg: theme.selected.bg,
                    ..Style::new()
                };
                let height = 1;
                buffer.set_style(Rect { y, height, ..inner }, background);
            }
        }
    }

    fn footer(&self, first: usize, visible: usize, theme: &Theme) -> (String, Style) {
        let position = match (self.lines.len(), visible) {
            (0, _) | (_, 0) => "empty".to_owned(),
            (total, visible) => format!("{first}–{} of {total}", first + visible - 1),
        };
        if let Some(typed) = self.typed {
            return (format!("{typed}▏"), theme.accent);
        }
        if let Some(count) = self.count {
            return (counting(count), theme.accent);
        }
        // The most important part is first: it stays if there is little room.
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
        let set_keys = match self.keys {
            "" => String::new(),
            keys => format!(" · {keys}"),
        };
        let keys = "/ search · f1 keys · ←→ sideways · q close";
        let text = format!("{position}{set_keys} · {next} · {keys}");
        (text, theme.dim)
    }
}

impl DiffLine {
    /// True if the line is part of a file's contents, and so is searched.
    pub fn is_searched(&self) -> bool {
        !matches!(self, Self::Hunk(_))
    }

    /// The text that is searched, as it is shown, without the sign.
    pub fn text(&self) -> String {
        text(&self.parts(&Theme::plain()).body)
    }

    /// Columns that a row of `width` has for the searched text.
    pub fn room(&self, width: usize) -> usize {
        width.saturating_sub(self.parts(&Theme::plain()).sign.width())
    }

    fn parts(&self, theme: &Theme) -> LineParts {
        let plain_line = |sign: &'static str, text: &str, style: Style, is_heading| LineParts {
            sign: Span::styled(sign, style),
            body: Line::from(Span::styled(drawable_text(text), style)),
            base: style,
            is_heading,
        };
        match self {
            Self::File(file) => {
                let mut body = file_row(file, theme.title, theme);
                LineParts {
                    sign: body.spans.remove(0),
                    body,
                    base: theme.text,
                    is_heading: true,
                }
            }
            Self::Note(text) => LineParts {
                sign: Span::raw("  "),
                ..plain_line("", text, theme.dim, true)
            },
            Self::Hunk(text) => plain_line("", text, theme.accent, true),
            Self::Context(text) => plain_line(" ", text, theme.text, false),
            Self::Removed(text) => plain_line("-", text, theme.error, false),
            Self::Added(text) => plain_line("+", text, theme.ok, false),
            Self::Blank => plain_line("", "", theme.text, false),
        }
    }
}

/// A line with its styles.
struct LineParts {
    /// The part that stays at the left.
    sign: Span<'static>,
    body: Line<'static>,
    base: Style,
    /// True if the line does not scroll sideways, unless it is too long.
    is_heading: bool,
}

impl LineParts {
    /// The first shown column, if the view is scrolled to column `from`.
    fn first_column(&self, from: usize, width: usize) -> usize {
        let wide = self.body.width();
        let fits = wide + self.sign.width() <= width;
        if wide == 0 || (self.is_heading && fits) {
            0
        } else {
            from
        }
    }

    /// The row from column `from` on, as far as there is room.
    fn row(
        self,
        from: usize,
        width: usize,
        pattern: Option<&Regex>,
        theme: &Theme,
    ) -> Line<'static> {
        let room = width.saturating_sub(self.sign.width());
        let from = self.first_column(from, width);
        let marked = MatchStyle {
            pattern,
            base: self.base,
        };
        let mut row = Line::from(self.sign);
        row.spans
            .extend(marked.columns(&self.body, from, room, theme));
        row
    }
}

/// A line in a form that can be drawn: tabs as spaces, control and hidden characters as marks.
fn drawable_text(text: &str) -> String {
    let mut shown = String::new();
    for (at, piece) in text.split('\t').enumerate() {
        if at > 0 {
            let column = visible_text::width(&shown);
            shown.push_str(&" ".repeat(TAB_COLUMNS - column % TAB_COLUMNS));
        }
        shown.push_str(&one_line(piece));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_lead_to_stops_and_control_characters_are_marked() {
        for (text, want) in [
            ("\tx", "        x"),
            ("ab\tx\ty", "ab      x       y"),
            ("你\tx", "你      x"),
            ("a\u{1b}[2J\r", "a<U+001B>[2J<U+000D>"),
            ("a\u{202e}b", "a<U+202E>b"),
        ] {
            assert_eq!(drawable_text(text), want, "{text:?}");
        }
    }
}
