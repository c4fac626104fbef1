//! The search of the history: the best match is at the bottom, next to the query.

use crate::panel::panel_frame::{framed, inner_rows};
use crate::text::styled_line::wrapped;
use crate::text::visible_text::{shortened, width};
use crate::{Theme, spinner};
use agent_bash_core::visible::one_line;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::time::Duration;

/// Minimum width at which directories are shown.
const MIN_DIRECTORY_WIDTH: usize = 60;

/// Columns around a row, with the mark.
const BORDER_COLUMNS: usize = 3;

/// Maximum number of rows that show the selected command below the list, if the list cuts it.
const MAX_PREVIEW_ROWS: usize = 3;

/// Indentation of the rows below the list.
const INDENT_COLUMNS: usize = 3;

/// Columns between a command and its directory.
const GAP_COLUMNS: usize = 2;

/// The panel of the history search.
#[derive(Debug, Clone, Copy)]
pub struct HistoryPanel<'a> {
    /// The query.
    pub query: &'a str,
    /// The scope, in a word or two.
    pub scope: &'a str,
    /// The matches, the best first.
    pub rows: &'a [HistoryRow<'a>],
    /// Index of the selected match.
    pub selected: usize,
}

/// A command that was typed before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryRow<'a> {
    /// The outcome of the command.
    pub end: HistoryRowEnd,
    /// The duration of the command.
    pub duration: Option<Duration>,
    /// The time since the command was typed.
    pub age: Duration,
    /// The command, as [`HistoryRow::line`] shows it.
    pub line: &'a str,
    /// The whole command, as typed.
    pub command: &'a str,
    /// The indices of the matching characters of `line`.
    pub matched: &'a [u32],
    /// The working directory of the command.
    pub directory: String,
}

/// The outcome of a command of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryRowEnd {
    /// Exit code 0.
    Succeeded,
    /// Another exit code, or a signal.
    Failed,
    /// A check refused the command.
    Refused,
    /// The command was cancelled.
    Cancelled,
    /// The command reached its time limit.
    TimedOut,
    /// The command is running, or its outcome is unknown.
    Unknown,
}

impl HistoryRow<'_> {
    /// A command on one line, without control sequences.
    pub fn line(command: &str) -> String {
        one_line(command.trim_end()).into_owned()
    }

    fn mark(&self, theme: &Theme) -> Span<'static> {
        let (mark, style) = match self.end {
            HistoryRowEnd::Succeeded => ("✓", theme.ok),
            HistoryRowEnd::Failed => ("✗", theme.error),
            HistoryRowEnd::Refused => ("⊘", theme.warning),
            HistoryRowEnd::Cancelled => ("■", theme.warning),
            HistoryRowEnd::TimedOut => ("◷", theme.warning),
            HistoryRowEnd::Unknown => ("·", theme.dim),
        };
        Span::styled(mark, style)
    }

    /// Duration and age, as long as the command keeps half of the columns. The duration is dropped
    /// first.
    fn time_text(&self, columns: usize) -> String {
        let duration = self
            .duration
            .map(spinner::short_duration)
            .unwrap_or_default();
        let age = spinner::age_text(self.age);
        let duration_and_age = format!(" {duration:>6} {age:>4}  ");
        let candidates = [duration_and_age, format!(" {age:>4}  ")];
        let fits = |time_text: &String| 2 * (BORDER_COLUMNS + width(time_text)) <= columns;
        candidates
            .into_iter()
            .find(fits)
            .unwrap_or_else(|| " ".to_owned())
    }

    /// The texts before and after the command, and the columns that remain for the command.
    fn margins(&self, columns: usize) -> (String, String, usize) {
        let time_text = self.time_text(columns);
        let room = columns.saturating_sub(BORDER_COLUMNS + width(&time_text));
        let line = shortened(self.line, room);
        let directory = if columns < MIN_DIRECTORY_WIDTH {
            String::new()
        } else {
            let left = room.saturating_sub(GAP_COLUMNS + width(&line).min(columns.div_ceil(2)));
            path_end(&self.directory, left.min(room / 3))
        };
        let gap = if directory.is_empty() { 0 } else { GAP_COLUMNS };
        let room = room.saturating_sub(width(&directory) + gap);
        (time_text, format!("{}{directory}", " ".repeat(gap)), room)
    }

    /// The rows of the whole command; empty if the list does not cut it.
    fn preview(&self, columns: usize, style: Style) -> Vec<Line<'static>> {
        let (_, _, room) = self.margins(columns);
        if width(self.line) <= room {
            return Vec::new();
        }
        wrapped(
            self.command.trim_end(),
            columns.saturating_sub(INDENT_COLUMNS + 1),
            style,
        )
    }

    fn draw(&self, columns: usize, style: Style, theme: &Theme) -> Line<'static> {
        let (time_text, directory, room) = self.margins(columns);
        let mut spans = vec![
            Span::raw(" "),
            self.mark(theme),
            Span::styled(time_text, theme.dim),
        ];
        let line = shortened(self.line, room);
        for (at, c) in line.chars().enumerate() {
            let is_match =
                u32::try_from(at).is_ok_and(|at| self.matched.binary_search(&at).is_ok());
            let style = if is_match {
                style.patch(theme.accent)
            } else {
                style
            };
            match spans.last_mut() {
                Some(last) if at > 0 && last.style == style => last.content.to_mut().push(c),
                _ => spans.push(Span::styled(c.to_string(), style)),
            }
        }
        spans.push(Span::raw(" ".repeat(room.saturating_sub(width(&line)))));
        spans.push(Span::styled(directory, theme.dim));
        Line::from(spans)
    }
}

impl HistoryPanel<'_> {
    /// The index of the match in a row of the screen.
    pub fn at(&self, area: Rect, y: u16) -> Option<usize> {
        let list = self.list_rows(area)?;
        let bottom = area.y + 1 + list;
        let above = bottom.checked_sub(y + 1).filter(|above| *above < list)?;
        let at = self.first(list) + usize::from(above);
        (at < self.rows.len()).then_some(at)
    }

    /// Index of the match in the lowest row.
    fn first(&self, list: u16) -> usize {
        let page = usize::from(list).max(1);
        self.selected.saturating_sub(page - 1)
    }

    /// Rows of the list; `None` without room for the query. The remaining rows fit the longest cut
    /// command, so that the list does not jump with the selection.
    fn list_rows(&self, area: Rect) -> Option<u16> {
        let all = inner_rows(area).checked_sub(1)?;
        let columns = usize::from(area.width.saturating_sub(2));
        let rows = |row: &HistoryRow<'_>| row.preview(columns, Style::new()).len();
        let longest = self.rows.iter().map(rows).max().unwrap_or(0);
        let most = usize::from(all / 4).min(MAX_PREVIEW_ROWS);
        Some(all - u16::try_from(longest.min(most)).unwrap_or(0))
    }

    /// Draws the selected command below the query if it is cut in the list.
    fn render_preview(&self, inner: Rect, list: u16, buffer: &mut Buffer, theme: &Theme) {
        let columns = usize::from(inner.width);
        let Some(row) = self.rows.get(self.selected) else {
            return;
        };
        let rows = row.preview(columns, theme.dim);
        let rows_below = inner.y + list + 1..inner.bottom();
        let is_cut = rows.len() > rows_below.len();
        for (line, y) in rows.iter().zip(rows_below) {
            buffer.set_line(inner.x + INDENT_COLUMNS as u16, y, line, inner.width);
            if is_cut && y + 1 == inner.bottom() {
                buffer.set_string(inner.right() - 1, y, "…", theme.dim);
            }
        }
    }

    /// Draws the panel.
    pub fn render(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        let titles = ["History", self.scope];
        let keys = "enter take · ↑↓ select · ctrl+r where · f1 keys · esc close";
        let inner = framed(area, buffer, titles, (keys, theme.dim), theme);
        let Some(list) = self.list_rows(area) else {
            return;
        };
        let columns = usize::from(inner.width);
        self.render_preview(inner, list, buffer, theme);
        let typed = shortened(self.query, columns.saturating_sub(5));
        let query = Line::from_iter([
            Span::styled(" ❯ ", theme.accent),
            Span::styled(typed, theme.text),
            Span::styled("▏", theme.accent),
        ]);
        buffer.set_line(inner.x, inner.y + list, &query, inner.width);
        if self.rows.is_empty() && list > 0 {
            let none = Line::styled("   no command matches", theme.dim);
            buffer.set_line(inner.x, inner.y + list - 1, &none, inner.width);
        }
        let first = self.first(list);
        let rows = self.rows.iter().enumerate().skip(first);
        for ((at, row), y) in rows.zip((inner.y..inner.y + list).rev()) {
            let style = if at == self.selected {
                theme.title
            } else {
                theme.text
            };
            let line = row.draw(columns, style, theme);
            buffer.set_line(inner.x, y, &line, inner.width);
            if at == self.selected {
                let row = Rect {
                    y,
                    height: 1,
                    ..inner
                };
                buffer.set_style(row, theme.selected);
            }
        }
    }
}

/// A path shortened at its beginning, because its end says more.
fn path_end(path: &str, columns: usize) -> String {
    let path = one_line(path);
    if width(&path) <= columns {
        return path.into_owned();
    }
    let mut from = path.len();
    for (at, _) in path.char_indices().rev() {
        if width(&path[at..]) + 1 > columns {
            break;
        }
        from = at;
    }
    if columns == 0 {
        return String::new();
    }
    format!("…{}", &path[from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(width: u16, height: u16) -> Vec<String> {
        let row = |end, duration: u64, age: u64, line, matched, directory: &str| HistoryRow {
            end,
            duration: Some(Duration::from_millis(duration)),
            age: Duration::from_secs(age),
            line,
            command: line,
            matched,
            directory: directory.to_owned(),
        };
        let rows = [
            row(
                HistoryRowEnd::Succeeded,
                12,
                5,
                "cargo test",
                &[0, 6],
                "~/project",
            ),
            row(
                HistoryRowEnd::Failed,
                65_000,
                7_200,
                "make all",
                &[],
                "/a/long/way/to/a/directory",
            ),
            row(HistoryRowEnd::Refused, 0, 900_000, "git add -A", &[], "~"),
        ];
        let panel = HistoryPanel {
            query: "ct",
            scope: "everywhere",
            rows: &rows,
            selected: 1,
        };
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        panel.render(area, &mut buffer, &Theme::plain());
        let rows = buffer.content().chunks(usize::from(width));
        rows.map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect())
            .collect()
    }

    #[test]
    fn cut_command_is_shown_in_full_below() {
        let long = "for i in $(seq 1 6); do\n\techo $i\ndone && cat <<X | wc\nmore\nX";
        let line = HistoryRow::line(long);
        let row = |line, command| HistoryRow {
            end: HistoryRowEnd::Succeeded,
            duration: None,
            age: Duration::ZERO,
            line,
            command,
            matched: &[],
            directory: "~".to_owned(),
        };
        let rows = [row("ls", "ls"), row(&line, long)];
        let drawn = |selected, height| {
            let panel = HistoryPanel {
                query: "",
                scope: "everywhere",
                rows: &rows,
                selected,
            };
            let area = Rect::new(0, 0, 60, height);
            let mut buffer = Buffer::empty(area);
            panel.render(area, &mut buffer, &Theme::plain());
            let text = buffer.content().chunks(60).map(|row| {
                let row: String = row.iter().map(ratatui::buffer::Cell::symbol).collect();
                row.trim_matches(['│', ' ']).to_owned()
            });
            (
                text.collect::<Vec<_>>(),
                (0..height).map(|y| panel.at(area, y)).collect::<Vec<_>>(),
            )
        };
        let (text, at) = drawn(1, 20);
        assert!(text[14].starts_with("✓") && text[15] == "❯ ▏", "{text:?}");
        assert_eq!(text[16], "for i in $(seq 1 6); do");
        assert_eq!(text[17].trim_start(), "echo $i");
        assert!(text[18].starts_with("done && cat <<X | wc ") && text[18].ends_with("…"));
        let mut wanted = vec![None; 20];
        (wanted[14], wanted[13]) = (Some(0), Some(1));
        assert_eq!(at, wanted);
        // The list does not jump; without room, nothing is shown.
        assert_eq!(drawn(0, 20).0[15..17], ["❯ ▏", ""]);
        let (text, at) = drawn(1, 6);
        assert_eq!(text[4], "❯ ▏", "{text:?}");
        assert_eq!(at, [None, None, Some(1), Some(0), None, None]);
    }

    #[test]
    fn best_match_is_next_to_the_query() {
        assert_eq!(
            drawn(70, 7),
            [
                "╭─ History  everywhere ──────────────────────────────────────────────╮",
                "│                                                                    │",
                "│ ⊘    0ms  10d  git add -A                                        ~ │",
                "│ ✗ 1m 05s   2h  make all                          …y/to/a/directory │",
                "│ ✓   12ms   5s  cargo test                                ~/project │",
                "│ ❯ ct▏                                                              │",
                "╰─ enter take · ↑↓ select · ctrl+r where · f1 keys · esc close ──────╯",
            ]
        );
        // The command keeps half of the width: the directory is dropped first, then the duration,
        // then the age.
        for (columns, wanted) in [
            (62, "⊘ 0ms 10d git add -A ~"),
            (61, "⊘ 0ms 10d git add -A"),
            (40, "⊘ 0ms 10d git add -A"),
            (36, "⊘ 0ms 10d git add -A"),
            (35, "⊘ 10d git add -A"),
            (22, "⊘ 10d git add -A"),
            (21, "⊘ git add -A"),
            (20, "⊘ git add -A"),
        ] {
            let row = drawn(columns, 7).remove(2);
            let words: Vec<&str> = row.trim_matches('│').split_whitespace().collect();
            assert_eq!(words.join(" "), wanted, "{columns}");
        }
        let long = HistoryRow {
            end: HistoryRowEnd::Succeeded,
            duration: Some(Duration::from_secs(1)),
            age: Duration::from_secs(1),
            line: &"x".repeat(200),
            command: "",
            matched: &[],
            directory: "/a/long/way".repeat(9),
        };
        for columns in 8..200 {
            let row = long.draw(columns, Style::new(), &Theme::plain());
            let shown = row.to_string().matches('x').count() + 1;
            assert!(2 * shown >= columns, "{row} in {columns}");
            assert!(row.width() <= columns, "{row} in {columns}");
        }
        // If there is too little room, only a part is drawn.
        for (width, height) in [(3, 3), (20, 4), (1, 1), (40, 2)] {
            drawn(width, height);
        }
    }
}
