//! A pager for texts of any length. The host supplies the visible lines.

use crate::panel::match_marks::MatchStyle;
use crate::panel::panel_frame::{framed, inner_rows};
use crate::text::visible_text;
use crate::{OutputText, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use regex::Regex;
use std::ops::Range;

/// Columns between the line numbers and the text.
const GUTTER_COLUMNS: usize = 3;

/// The mark before a line whose beginning is scrolled out to the left.
pub(crate) const CLIPPED_MARK: &str = "‹";

/// A page of a text.
#[derive(Debug, Clone, Copy)]
pub struct Pager<'a> {
    /// For example `artifact://3`.
    pub title: &'a str,
    /// The command that printed the text.
    pub subtitle: &'a str,
    /// A part of the text. Dropped lines count as lines.
    pub text: &'a OutputText,
    /// Number of the first line of `text`, from 1.
    pub from_line: u64,
    /// Number of the first shown line.
    pub first_line: u64,
    /// Number of lines of the whole text.
    pub total_lines: u64,
    /// Columns scrolled to the right.
    pub column: usize,
    /// The pattern that is searched; its matches are marked.
    pub pattern: Option<&'a Regex>,
    /// The number of the match in `found_line`, from 1, and the number of matching lines.
    pub matches: Option<(u64, u64)>,
    /// The line with the current match.
    pub found_line: Option<u64>,
    /// The bottom line: a pattern being typed, a message, or the key help.
    pub prompt: PagerPrompt<'a>,
}

/// The bottom line of a pager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagerPrompt<'a> {
    /// Key help, for an output that may grow or for a complete one.
    Keys {
        /// True if the output may grow.
        live: bool,
    },
    /// The pager follows the growing end of the text.
    Follows,
    /// A pattern being typed, with its sign.
    Typed(&'a str),
    /// The number typed before a key.
    Count(u64),
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
        for (row, number) in self
            .rows(usize::from(inner.height), theme)
            .iter()
            .zip(self.first()..)
        {
            let row = self.row(row, number, digits, usize::from(inner.width), theme);
            let y = inner.y + (number - self.first()) as u16;
            buffer.set_line(inner.x, y, &row, inner.width);
        }
    }

    /// Number of the first shown line, without lines that `text` has dropped.
    fn first(&self) -> u64 {
        let first_held = self.from_line.saturating_add(self.text.dropped_lines());
        self.first_line.max(first_held)
    }

    /// The lines that are shown.
    fn rows(&self, most: usize, theme: &Theme) -> Vec<Line<'static>> {
        let first_held = self.from_line.saturating_add(self.text.dropped_lines());
        let skip = usize::try_from(self.first() - first_held).unwrap_or(usize::MAX);
        self.text.window(usize::MAX, skip, most, theme).rows
    }

    fn row(
        &self,
        text: &Line<'static>,
        number: u64,
        digits: usize,
        width: usize,
        theme: &Theme,
    ) -> Line<'static> {
        let is_found = self.found_line == Some(number);
        let mark = if is_found { "▸" } else { " " };
        let style = if is_found { theme.accent } else { theme.dim };
        // The mark replaces the rule, so that it covers no character of the line.
        let rule = if self.column > 0 && text.width() > 0 {
            CLIPPED_MARK
        } else {
            "│"
        };
        let mut line = Line::from(Span::styled(
            format!("{mark}{number:>digits$} {rule}"),
            style,
        ));
        let room = width.saturating_sub(digits + GUTTER_COLUMNS);
        line.spans.extend(self.shown(text, room, theme));
        if is_found {
            line = line.style(theme.selected);
        }
        line
    }

    /// The shown part of a line.
    fn shown(&self, row: &Line<'_>, room: usize, theme: &Theme) -> Vec<Span<'static>> {
        let marked = MatchStyle {
            pattern: self.pattern,
            base: theme.text,
        };
        marked.columns(row, self.column, room, theme)
    }

    fn footer(&self, area: Rect, theme: &Theme) -> (String, Style) {
        let visible = self.rows(usize::from(Self::page_rows(area)), theme).len() as u64;
        let first = self.first();
        let lines = match (self.total_lines, visible) {
            (0, _) | (_, 0) => "empty".to_owned(),
            (total, _) => format!("{first}–{} of {total}", first + visible - 1),
        };
        // The most important part comes first: it stays if there is little room.
        let counted = self.matches.map(|(at, all)| format!("match {at}/{all} · "));
        let counted = counted.unwrap_or_default();
        let position = format!("{counted}{lines}");
        match self.prompt {
            PagerPrompt::Keys { live } => {
                let last = if live { "F follow" } else { "←→ sideways" };
                let keys = "/ search · n N next · f1 keys";
                (format!("{position} · {keys} · {last} · q close"), theme.dim)
            }
            PagerPrompt::Follows => (
                format!("following · {position} · moving stops it · q close"),
                theme.accent,
            ),
            PagerPrompt::Typed(typed) => (format!("{typed}▏"), theme.accent),
            PagerPrompt::Count(count) => (counting(count), theme.accent),
            PagerPrompt::Message(message) => {
                (format!("{counted}{message} · {lines}"), theme.warning)
            }
        }
    }
}

/// The bottom line while a number is typed before a key.
pub(crate) fn counting(count: u64) -> String {
    format!("{count}▏ · G to this line · j k so many")
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
    /// By pages; backwards if negative.
    Pages(i64),
    /// To the first line.
    First,
    /// To the last page.
    Last,
    /// The shortest movement that shows this line.
    IntoView(u64),
    /// To this line, at the top if enough lines follow it.
    Line(u64),
    /// Sideways by columns.
    Columns(isize),
}

impl PagerPosition {
    /// The position at the beginning of a text.
    pub fn first() -> Self {
        Self {
            first_line: 1,
            column: 0,
        }
    }

    /// Moves within a text of `total` lines, with `page` lines visible at once.
    pub fn go(&mut self, to: PagerMove, total: u64, page: u16) {
        let page = u64::from(page.max(1));
        let last = total.saturating_sub(page) + 1;
        let by = |lines: i64| self.first_line.saturating_add_signed(lines);
        let target = match to {
            PagerMove::Lines(lines) => by(lines),
            PagerMove::Pages(pages) => by(pages.saturating_mul(i64::try_from(page).unwrap_or(1))),
            PagerMove::First => 1,
            PagerMove::Last => last,
            PagerMove::IntoView(line)
                if (self.first_line..self.first_line + page).contains(&line) =>
            {
                self.first_line
            }
            PagerMove::IntoView(line) => line.saturating_sub(page / 3),
            PagerMove::Line(line) => line,
            PagerMove::Columns(columns) => {
                self.column = self.column.saturating_add_signed(columns);
                self.first_line
            }
        };
        self.first_line = target.clamp(1, last.max(1));
    }

    /// Scrolls sideways, if necessary, until a part of a line is within the `room` visible columns.
    /// `part` is in bytes.
    pub fn reveal(&mut self, line: &str, part: Range<usize>, room: usize) {
        let room = room.max(1);
        let [from, to] = [part.start, part.end].map(|at| visible_text::width(&line[..at]));
        if from >= self.column && to < self.column + room {
            return;
        }
        self.column = if to < room {
            0
        } else {
            from - from.min(room / 3)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OutputLimits;
    use ratatui::style::{Color, Modifier};

    #[test]
    fn moves_stay_within_the_text() {
        let mut position = PagerPosition::first();
        for (to, want) in [
            (PagerMove::Lines(-1), 1),
            (PagerMove::Lines(3), 4),
            (PagerMove::Pages(1), 14),
            (PagerMove::IntoView(20), 14),
            (PagerMove::IntoView(60), 57),
            (PagerMove::Pages(100), 91),
            (PagerMove::Last, 91),
            (PagerMove::Lines(i64::MAX), 91),
            (PagerMove::Pages(i64::MIN), 1),
            (PagerMove::First, 1),
            (PagerMove::Line(50), 50),
            (PagerMove::Line(u64::MAX), 91),
            (PagerMove::Line(0), 1),
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

    /// A pager of one line, scrolled to `column`.
    fn pager<'a>(text: &'a OutputText, pattern: &'a Regex, column: usize) -> Pager<'a> {
        Pager {
            title: "",
            subtitle: "",
            text,
            from_line: 1,
            first_line: 1,
            total_lines: 1,
            column,
            pattern: Some(pattern),
            matches: None,
            found_line: None,
            prompt: PagerPrompt::Keys { live: true },
        }
    }

    #[test]
    fn matches_are_those_of_the_whole_line() {
        let theme = Theme::plain();
        let marked = |pattern: &str, line: &str, column: usize, room: usize| {
            let pattern = Regex::new(pattern).unwrap();
            let text = OutputText::new(OutputLimits::PAGE);
            let spans = pager(&text, &pattern, column).shown(&Line::raw(line), room, &theme);
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
    fn match_keeps_the_colours_below_it() {
        let theme = Theme::dark();
        let pattern = Regex::new("b好c").unwrap();
        let text = OutputText::of(OutputLimits::PAGE, "a\x1b[31mb\x1b[1m好\x1b[0mcd\x1b[2J\n");
        let pager = pager(&text, &pattern, 0);
        let rows = pager.rows(9, &theme);
        let spans = pager.shown(&rows[0], 9, &theme);
        let shown: Vec<_> = spans
            .iter()
            .filter(|span| !span.content.is_empty())
            .collect();
        let texts: Vec<&str> = shown.iter().map(|span| span.content.as_ref()).collect();
        assert_eq!(texts, ["a", "b", "好", "c", "d"]);
        let red = theme.text.fg(Color::Indexed(1));
        let wanted = [
            theme.text,
            red.patch(theme.found),
            red.add_modifier(Modifier::BOLD).patch(theme.found),
            theme.text.patch(theme.found),
            theme.text,
        ];
        let styles: Vec<Style> = shown.iter().map(|span| span.style).collect();
        assert_eq!(styles, wanted);
    }
}
