//! The background jobs of a session: a list, and what the selected one prints.

use crate::{OutputText, Theme, spell, visible_text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Widget};
use std::time::Duration;

/// Columns from which on process ids are shown.
const ROOM_FOR_PID: usize = 70;

/// The most columns that the words on how a job stands take.
const LONGEST_WORDS: usize = 20;

/// The panel.
#[derive(Debug, Clone, Copy)]
pub struct JobsPanel<'a> {
    /// The jobs, in the order in which they are shown.
    pub jobs: &'a [JobRow],
    /// Which of them is selected.
    pub selected: usize,
    /// What the selected one prints.
    pub output: Option<&'a OutputText>,
    /// What just went wrong or well.
    pub message: Option<&'a str>,
}

/// One job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRow {
    /// Its name.
    pub id: String,
    /// Its script.
    pub command: String,
    /// Process id of its shell.
    pub pid: u32,
    /// How it stands.
    pub state: JobRowState,
    /// How long it has run, or ran; `None` where that is not known.
    pub elapsed: Option<Duration>,
}

/// How a job stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobRowState {
    /// It runs.
    Running,
    /// It ended with exit code 0.
    Succeeded,
    /// It ended otherwise; how, in a word or two.
    Failed(String),
}

impl JobsPanel<'_> {
    /// Draws it.
    pub fn render(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        Clear.render(area, buffer);
        let running = self
            .jobs
            .iter()
            .filter(|job| job.state == JobRowState::Running)
            .count();
        let title = format!("{running} running, {} in all", self.jobs.len());
        Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(theme.rail)
            .title_top(Line::from_iter([
                Span::raw("─ "),
                Span::styled("Jobs", theme.title),
                Span::styled(format!("  {title} "), theme.dim),
            ]))
            .title_bottom(self.footer(area.width, theme))
            .render(area, buffer);
        let inner = Rect {
            x: area.x + 1.min(area.width),
            y: area.y + 1.min(area.height),
            width: area.width.saturating_sub(2),
            height: area.height.saturating_sub(2),
        };
        if self.jobs.is_empty() {
            let text = visible_text::shortened(
                " no jobs yet: end a command with & or give it `mode: background`",
                usize::from(inner.width),
            );
            if inner.height > 0 {
                let line = Line::styled(text, theme.dim);
                buffer.set_line(inner.x, inner.y, &line, inner.width);
            }
            return;
        }
        // The list takes what it needs, at most half.
        let list = (self.jobs.len() as u16)
            .min((inner.height / 2).max(1))
            .min(inner.height);
        let first = (self.selected + 1).saturating_sub(usize::from(list));
        let of_job = |job: &JobRow| visible_text::width(&visible_text::one_line(job.mark(theme).1));
        let words = self
            .jobs
            .iter()
            .map(of_job)
            .max()
            .unwrap_or(0)
            .min(LONGEST_WORDS);
        for row in 0..list {
            let at = first + usize::from(row);
            let Some(job) = self.jobs.get(at) else { break };
            let line = job.row(at == self.selected, words, usize::from(inner.width), theme);
            let y = inner.y + row;
            buffer.set_line(inner.x, y, &line, inner.width);
            if at == self.selected {
                buffer.set_style(
                    Rect {
                        y,
                        height: 1,
                        ..inner
                    },
                    theme.selected,
                );
            }
        }
        let below = Rect {
            y: inner.y + list,
            height: inner.height - list,
            ..inner
        };
        self.render_output(below, buffer, theme);
    }

    fn render_output(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let (Some(job), Some(output)) = (self.jobs.get(self.selected), self.output) else {
            return;
        };
        if area.height < 2 {
            return;
        }
        let label = format!("── output of job {} ", job.id);
        let rest = usize::from(area.width).saturating_sub(label.chars().count());
        let rule = visible_text::shortened(
            &format!("{label}{}", "─".repeat(rest)),
            usize::from(area.width),
        );
        buffer.set_line(area.x, area.y, &Line::styled(rule, theme.rail), area.width);
        let width = usize::from(area.width).saturating_sub(1);
        let tail = output.tail(width, usize::from(area.height - 1), usize::MAX, theme);
        for (at, row) in tail.rows.iter().enumerate() {
            buffer.set_line(area.x + 1, area.y + 1 + at as u16, row, width as u16);
        }
        if output.is_empty() {
            let line = Line::styled("nothing printed yet", theme.dim);
            buffer.set_line(area.x + 1, area.y + 1, &line, width as u16);
        }
    }

    fn footer(&self, width: u16, theme: &Theme) -> Line<'static> {
        let (text, style) = match self.message {
            Some(message) => (message, theme.warning),
            None => (
                "↑↓ select · enter whole output · k kill · esc close",
                theme.dim,
            ),
        };
        let text = visible_text::shortened(text, usize::from(width).saturating_sub(6));
        Line::from_iter([Span::raw("─ "), Span::styled(text, style), Span::raw(" ")])
    }
}

impl JobRow {
    /// Icon, and how it stands in a word or two.
    fn mark(&self, theme: &Theme) -> (&'static str, &str, Style) {
        match &self.state {
            JobRowState::Running => {
                let elapsed = self.elapsed.unwrap_or_default();
                (spell::spinner(elapsed), "running", theme.running)
            }
            JobRowState::Succeeded => ("✓", "exit 0", theme.ok),
            JobRowState::Failed(how) => ("✗", how, theme.error),
        }
    }

    fn row(&self, is_selected: bool, words: usize, width: usize, theme: &Theme) -> Line<'static> {
        let (icon, word, style) = self.mark(theme);
        let word = visible_text::shortened(word, words);
        let padding = " ".repeat(words - visible_text::width(&word));
        let time = self.elapsed.map(spell::elapsed).unwrap_or_default();
        let pointer = if is_selected { "▸ " } else { "  " };
        let id = format!("{pointer}{:>2} ", visible_text::shortened(&self.id, 8));
        let pid = if width >= ROOM_FOR_PID {
            format!("pid {:<8}  ", self.pid)
        } else {
            String::new()
        };
        let about = format!(" {word}{padding} {time:>7}  {pid}");
        let taken = visible_text::width(&id) + 1 + visible_text::width(&about);
        let command = visible_text::shortened(&self.command, width.saturating_sub(taken));
        Line::from_iter([
            Span::styled(id, if is_selected { theme.accent } else { theme.dim }),
            Span::styled(icon, style),
            Span::styled(about, if is_selected { theme.text } else { theme.dim }),
            Span::styled(command, theme.text),
        ])
    }
}
