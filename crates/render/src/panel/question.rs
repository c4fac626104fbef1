//! A question to the user, such as whether a call may leave the sandbox. The texts come from a
//! model, or are names of files, so control sequences in them have no effect.

use crate::Theme;
use crate::panel::file_row::file_row;
use crate::text::styled_line::wrapped;
use crate::text::visible_text::{self, shortened};
use agent_bash_core::changes::{FileChange, FileName};
use agent_bash_core::{plural, visible};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Widget};

/// Maximum number of rows of a command, and of a text.
const MAX_ROWS: usize = 6;

/// Maximum number of listed files.
const MAX_FILES: usize = 10;

/// Columns of the top line without the title: `╭─  ╮`.
const TITLE_FRAME_COLUMNS: usize = 5;

/// Columns of the bottom line without the words after its keys: `╭─ y  · n  ╮`.
const FOOTER_FRAME_COLUMNS: usize = 12;

/// Maximum width.
const MAX_COLUMNS: u16 = 84;

/// A question that is answered by `y` or `n`.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The question.
    pub title: &'a str,
    /// The facts for an answer. The decision comes first: it stays visible if there is little room.
    pub parts: &'a [QuestionPart<'a>],
    /// The effect of `y`.
    pub yes: &'a str,
    /// The effect of `n`.
    pub no: &'a str,
}

/// A part of a question, with an empty row before the next one.
#[derive(Debug, Clone, Copy)]
pub enum QuestionPart<'a> {
    /// The settings that would be loosened: name, present value, new value, such as `network`,
    /// `off`, `on`.
    Loosened(&'a [[String; 3]]),
    /// The effect of a yes.
    Summary(&'a str),
    /// A text.
    Text(&'a str),
    /// A script.
    Script(&'a str),
    /// Changes to files, and the number of further changed files.
    Files(&'a [FileChange], u64),
    /// Files that were changed after the changes that the question is about.
    Conflicts(&'a [FileName]),
}

impl Question<'_> {
    /// Draws the question in the middle of `area`.
    pub fn render(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let area = area.intersection(buffer.area);
        let width = area.width.min(MAX_COLUMNS);
        if width < 5 {
            return;
        }
        let lines = self.lines(usize::from(width) - 4, theme);
        let height = (lines.len() as u16 + 2).min(area.height);
        let area = Rect {
            x: area.x + (area.width - width) / 2,
            y: area.y + (area.height - height) / 2,
            width,
            height,
        };
        let [title, yes, no] = [self.title, self.yes, self.no].map(visible::one_line);
        let title = shortened(
            &title,
            usize::from(width).saturating_sub(TITLE_FRAME_COLUMNS),
        );
        // The keys stay visible, however long the words after them are.
        let room = usize::from(width).saturating_sub(FOOTER_FRAME_COLUMNS);
        let no = shortened(&no, room / 2);
        let yes = shortened(&yes, room - visible_text::width(&no));
        Clear.render(area, buffer);
        Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(theme.warning)
            .title_top(Line::styled(format!("─ {title} "), theme.title))
            .title_bottom(Line::from_iter([
                Span::raw("─ "),
                Span::styled("y", theme.accent),
                Span::styled(format!(" {yes} · "), theme.dim),
                Span::styled("n", theme.accent),
                Span::styled(format!(" {no} "), theme.dim),
            ]))
            .render(area, buffer);
        let rows = usize::from(area.height.saturating_sub(2));
        for (row, line) in (1..).zip(lines.iter().take(rows)) {
            buffer.set_line(area.x + 2, area.y + row, line, width - 4);
        }
    }

    fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut lines: Vec<Line<'static>> = Vec::new();
        for part in self.parts {
            let rows = part.rows(columns, theme);
            if !lines.is_empty() && !rows.is_empty() {
                lines.push(Line::default());
            }
            lines.extend(rows);
        }
        lines
    }
}

impl QuestionPart<'_> {
    fn rows(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        match self {
            Self::Summary("") | Self::Text("") | Self::Script("") => Vec::new(),
            Self::Loosened(changes) => loosened_rows(changes, columns, theme),
            Self::Summary(text) => wrapped(&visible::one_line(text), columns, theme.warning),
            Self::Text(text) => {
                let mut rows = wrapped(&visible::one_line(text), columns, theme.text);
                rows.truncate(MAX_ROWS);
                rows
            }
            Self::Script(script) => {
                let mut rows = wrapped(&visible::shown(script), columns, theme.title);
                let shown = listed_count(rows.len() as u64, MAX_ROWS);
                let more = rows.len().saturating_sub(shown);
                rows.truncate(shown);
                rows.extend((more > 0).then(|| omitted_line(more as u64, "row", theme)));
                rows
            }
            Self::Files(files, more) => {
                listed_rows(files, *more, theme, |file| file_rows(file, columns, theme))
            }
            Self::Conflicts(files) => listed_rows(files, 0, theme, |file| {
                let name = visible::one_line(&file.path);
                wrapped(&format!("! {name}"), columns, theme.warning)
            }),
        }
    }
}

fn loosened_rows(changes: &[[String; 3]], columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let name = |change: &[String; 3]| change[0].len();
    let name_columns = changes.iter().map(name).max().unwrap_or(0);
    let rows = changes.iter().flat_map(|[name, present, wanted]| {
        let wanted = visible::one_line(wanted);
        let change = match present.as_str() {
            "" => format!("{name:name_columns$}  {wanted}"),
            present => format!("{name:name_columns$}  {present} → {wanted}"),
        };
        wrapped(&change, columns, theme.warning)
    });
    rows.collect()
}

/// Returns the rows of the first files, and a line that counts the other files. `more` files are
/// not in `files`.
fn listed_rows<F>(
    files: &[F],
    more: u64,
    theme: &Theme,
    rows: impl Fn(&F) -> Vec<Line<'static>>,
) -> Vec<Line<'static>> {
    let shown = listed_count(files.len() as u64 + more, MAX_FILES).min(files.len());
    let more = more + (files.len() - shown) as u64;
    let mut listed: Vec<Line<'static>> = files[..shown].iter().flat_map(rows).collect();
    listed.extend((more > 0).then(|| omitted_line(more, "file", theme)));
    listed
}

/// Number of entries to list. If there is one entry more than `most`, that entry is listed too,
/// because the line that counts hidden entries would take as much room.
fn listed_count(all: u64, most: usize) -> usize {
    most + usize::from(all == most as u64 + 1)
}

/// A file in as many rows as its names need.
fn file_rows(file: &FileChange, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let row = file_row(file, theme.text, theme);
    if row.width() <= columns {
        return vec![row];
    }
    let mut spans = row.spans.into_iter();
    let mut sign = spans.next();
    // Further rows begin below the name, to the right of the sign.
    let room = columns.saturating_sub(2);
    let parts = spans.flat_map(|span| wrapped(span.content.trim_start(), room, span.style));
    let rows = parts.map(|part| {
        let mut row = Line::from(sign.take().unwrap_or_else(|| Span::raw("  ")));
        row.spans.extend(part.spans);
        row
    });
    rows.collect()
}

fn omitted_line(more: u64, noun: &str, theme: &Theme) -> Line<'static> {
    let more = plural(more, &format!("more {noun}"));
    Line::styled(format!("… ({more})"), theme.dim)
}
