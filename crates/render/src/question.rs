//! A question to whoever sits there: whether one call may have more than the sandbox allows. Everything in it is from a
//! model, so nothing of it acts on the terminal.

use crate::Theme;
use crate::styled_line::wrapped;
use agent_bash_core::visible;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Widget};

/// Rows of the command and of the reason, each.
const MOST_ROWS: usize = 6;

/// The widest that it gets.
const WIDEST: u16 = 84;

/// A question.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The script.
    pub command: &'a str,
    /// What is in force and would not be, and what it would be instead: `network`, `off`, `on`.
    pub changes: &'a [[String; 3]],
    /// Why, as the model says.
    pub reason: &'a str,
}

impl Question<'_> {
    /// Draws it in the middle of `area`.
    pub fn render(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let area = area.intersection(buffer.area);
        let width = area.width.min(WIDEST);
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
        Clear.render(area, buffer);
        Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(theme.warning)
            .title_top(Line::styled(
                "─ May this call leave the sandbox? ",
                theme.title,
            ))
            .title_bottom(Line::from_iter([
                Span::raw("─ "),
                Span::styled("y", theme.accent),
                Span::styled(" allow it once · ", theme.dim),
                Span::styled("n", theme.accent),
                Span::styled(" deny ", theme.dim),
            ]))
            .render(area, buffer);
        let rows = usize::from(area.height.saturating_sub(2));
        for (row, line) in (1..).zip(lines.iter().take(rows)) {
            buffer.set_line(area.x + 2, area.y + row, line, width - 4);
        }
    }

    /// What is loosened comes first: it is what is decided, and stays visible where there is little room.
    fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let name = |change: &[String; 3]| change[0].len();
        let names = self.changes.iter().map(name).max().unwrap_or(0);
        let mut lines: Vec<Line<'static>> = Vec::new();
        for [name, own, wanted] in self.changes {
            let wanted = visible::one_line(wanted);
            let change = match own.as_str() {
                "" => format!("{name:names$}  {wanted}"),
                own => format!("{name:names$}  {own} → {wanted}"),
            };
            lines.extend(wrapped(&change, columns, theme.warning));
        }
        lines.push(Line::default());
        let reason = format!("Why: {}", visible::one_line(self.reason));
        lines.extend(
            wrapped(&reason, columns, theme.text)
                .into_iter()
                .take(MOST_ROWS),
        );
        lines.push(Line::default());
        let command = wrapped(&visible::shown(self.command), columns, theme.title);
        let more = command.len().saturating_sub(MOST_ROWS);
        lines.extend(command.into_iter().take(MOST_ROWS));
        if more > 0 {
            lines.push(Line::styled(format!("… ({more} more rows)"), theme.dim));
        }
        lines
    }
}
