//! The background jobs: a list, and the output of the selected one.

use crate::panel::panel_frame::{framed, inner_rows};
use crate::text::visible_text;
use crate::{OutputText, Theme, call_summary, spinner};
use agent_bash_core::visible;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::time::Duration;

/// Minimum width at which pids and ports are shown.
const MIN_DETAILS_WIDTH: usize = 70;

/// Maximum number of columns of a job's state.
const MAX_STATE_COLUMNS: usize = 20;

/// The panel of background jobs.
#[derive(Debug, Clone, Copy)]
pub struct JobsPanel<'a> {
    /// The jobs, in display order.
    pub jobs: &'a [JobRow],
    /// Index of the selected job.
    pub selected: usize,
    /// The selected job's output.
    pub output: Option<&'a OutputText>,
    /// The result of the last action.
    pub message: Option<&'a str>,
}

/// A job, as a row of the panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRow {
    /// The job's id.
    pub id: String,
    /// The script.
    pub command: String,
    /// The addresses on which the job listens, separated by commas.
    pub listens_on: String,
    /// Pid of the job's shell.
    pub pid: u32,
    /// The job's state.
    pub state: JobRowState,
    /// The running time; `None` if unknown.
    pub elapsed: Option<Duration>,
}

/// The state of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobRowState {
    /// The job is running.
    Running,
    /// Ended with exit code 0.
    Succeeded,
    /// Failed; the text names the outcome in a word or two.
    Failed(String),
    /// Ended by the user, or with an unknown outcome.
    Ended {
        /// True if the user ended the job.
        by_user: bool,
    },
}

impl JobsPanel<'_> {
    /// The index of the job in a row of the screen.
    pub fn at(&self, area: Rect, y: u16) -> Option<usize> {
        let (list, first) = self.list(inner_rows(area));
        let row = y.checked_sub(area.y + 1).filter(|row| *row < list)?;
        let at = first + usize::from(row);
        (at < self.jobs.len()).then_some(at)
    }

    /// Rows of the list within `height`, and the index of its first job. The list takes at most
    /// half of the height.
    fn list(&self, height: u16) -> (u16, usize) {
        let list = (self.jobs.len() as u16)
            .min((height / 2).max(1))
            .min(height);
        (list, (self.selected + 1).saturating_sub(usize::from(list)))
    }

    /// Draws the panel.
    pub fn render(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        let running = |job: &&JobRow| job.state == JobRowState::Running;
        let running = self.jobs.iter().filter(running).count();
        let counts = format!("{running} running, {} in all", self.jobs.len());
        let footer = match self.message {
            Some(message) => (message, theme.warning),
            None => (
                "j k select · enter whole output · x end it · ? keys · esc close",
                theme.dim,
            ),
        };
        let inner = framed(area, buffer, ["Jobs", &counts], footer, theme);
        if self.jobs.is_empty() {
            let text = visible_text::shortened(
                " no jobs yet: end a command with & and it becomes one",
                usize::from(inner.width),
            );
            if inner.height > 0 {
                let line = Line::styled(text, theme.dim);
                buffer.set_line(inner.x, inner.y, &line, inner.width);
            }
            return;
        }
        let (list, first) = self.list(inner.height);
        let state_width = |job: &JobRow| visible_text::width(&visible::one_line(job.mark(theme).1));
        let state_columns = self
            .jobs
            .iter()
            .map(state_width)
            .max()
            .unwrap_or(0)
            .min(MAX_STATE_COLUMNS);
        for row in 0..list {
            let at = first + usize::from(row);
            let Some(job) = self.jobs.get(at) else { break };
            let line = job.row(
                at == self.selected,
                state_columns,
                usize::from(inner.width),
                theme,
            );
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
            let text = match job.state {
                JobRowState::Running => "nothing printed yet",
                _ => "the job printed nothing",
            };
            let line = Line::styled(text, theme.dim);
            buffer.set_line(area.x + 1, area.y + 1, &line, width as u16);
        }
    }
}

impl JobRow {
    /// Icon, state in a word or two, and style.
    fn mark(&self, theme: &Theme) -> (&'static str, &str, Style) {
        match &self.state {
            JobRowState::Running => {
                let elapsed = self.elapsed.unwrap_or_default();
                (spinner::spinner(elapsed), "running", theme.running)
            }
            JobRowState::Succeeded => ("✓", "exit 0", theme.ok),
            JobRowState::Failed(outcome) => ("✗", outcome, theme.error),
            JobRowState::Ended { by_user: true } => ("■", "ended", theme.warning),
            JobRowState::Ended { by_user: false } => ("·", "ended", theme.dim),
        }
    }

    fn row(
        &self,
        is_selected: bool,
        state_columns: usize,
        width: usize,
        theme: &Theme,
    ) -> Line<'static> {
        let (icon, word, style) = self.mark(theme);
        let word = visible_text::shortened(word, state_columns);
        let padding = " ".repeat(state_columns - visible_text::width(&word));
        let time = self.elapsed.map(call_summary::duration).unwrap_or_default();
        let pointer = if is_selected { "▸ " } else { "  " };
        let id = format!("{pointer}{:>2} ", visible_text::shortened(&self.id, 8));
        let pid = if width >= MIN_DETAILS_WIDTH {
            format!("pid {:<8}  ", self.pid)
        } else {
            String::new()
        };
        let about = format!(" {word}{padding} {time:>7}  {pid}");
        let ports = match &*self.listens_on {
            ports if width >= MIN_DETAILS_WIDTH && !ports.is_empty() => {
                format!("{}  ", visible_text::shortened(ports, width / 3))
            }
            _ => String::new(),
        };
        let used = [&id, &about, &ports].map(|text| visible_text::width(text));
        let used = used.iter().sum::<usize>() + 1;
        let command = visible_text::shortened(&self.command, width.saturating_sub(used));
        Line::from_iter([
            Span::styled(id, if is_selected { theme.accent } else { theme.dim }),
            Span::styled(icon, style),
            Span::styled(about, if is_selected { theme.text } else { theme.dim }),
            Span::styled(ports, theme.accent),
            Span::styled(command, theme.text),
        ])
    }
}
