//! The card of a command the user ran: `!cmd`, or `!!cmd`, which the model does not see.

use crate::bash_text::script_rows;
use crate::card_frame::{Body, CardFrame, Part, parts_that_fit};
use crate::styled_line::wrapped;
use crate::{CardChanges, OutputLimits, OutputText, Theme, spell};
use ratatui::text::{Line, Span};
use std::time::Duration;

/// Lines, and rows, of output on a collapsed card.
const COLLAPSED: usize = 20;

/// Columns before a card's text.
const MARGIN: usize = 1;

/// A bang command as its card shows it.
#[derive(Debug)]
pub struct BangCard {
    /// The script.
    pub command: String,
    /// Started with `!!`: the model does not see it.
    pub excluded_from_context: bool,
    /// Its state.
    pub state: BangState,
    /// Time since it started.
    pub elapsed: Duration,
    /// What it printed.
    pub output: OutputText,
    /// Where the full output is, if the message does not hold all of it.
    pub kept: Option<KeptOutput>,
    /// Further remarks, for example on survivors or on the state of the shell.
    pub notes: Vec<String>,
    /// What it did to files.
    pub changes: Option<CardChanges>,
}

/// The state of a bang command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BangState {
    /// Still running.
    Running,
    /// Ended. `None` if the exit code is unknown.
    Exited(Option<i32>),
    /// Cancelled.
    Cancelled,
    /// It could not be started.
    Failed(String),
}

/// The full output of a command whose output was truncated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptOutput {
    /// For example `artifact://3`; `None` if it was not kept.
    pub uri: Option<String>,
}

impl BangCard {
    /// The card of a command that is about to start.
    pub fn new(command: impl Into<String>, excluded_from_context: bool) -> Self {
        Self {
            command: command.into(),
            excluded_from_context,
            state: BangState::Running,
            elapsed: Duration::ZERO,
            output: OutputText::new(OutputLimits::BANG),
            kept: None,
            notes: Vec::new(),
            changes: None,
        }
    }

    /// Height in rows.
    pub fn height(&self, width: u16, expanded: bool, theme: &Theme) -> usize {
        self.frame(width, expanded, theme).height()
    }

    /// Its rows from `skip` on, at most `most`.
    pub fn rows(
        &self,
        width: u16,
        expanded: bool,
        skip: usize,
        most: usize,
        theme: &Theme,
    ) -> Vec<Line<'static>> {
        self.frame(width, expanded, theme).rows(skip, most, theme)
    }

    fn frame(&self, width: u16, expanded: bool, theme: &Theme) -> CardFrame<'_> {
        let inner = usize::from(width).saturating_sub(MARGIN);
        let border = if self.excluded_from_context {
            theme.rail
        } else {
            theme.accent
        };
        let rule = |label: &str| {
            let columns = usize::from(width).saturating_sub(label.chars().count());
            Line::styled(format!("{label}{}", "─".repeat(columns)), border)
        };
        let margin = Span::raw(" ");
        let note = |text: &str, style| indented(wrapped(text, inner, style));
        let label = if self.excluded_from_context {
            "── not in context "
        } else {
            ""
        };
        let label: String = label.chars().take(usize::from(width)).collect();
        let mut head = vec![rule(&label)];
        if self.excluded_from_context {
            head.extend(note(&format!("$ {}", self.command), theme.dim));
        } else {
            let rows = script_rows(&self.command, inner.saturating_sub(2), theme.text, theme);
            let before = |at| if at == 0 { " $ " } else { "   " };
            head.extend(rows.into_iter().enumerate().map(|(at, mut row)| {
                row.spans.insert(0, Span::styled(before(at), theme.dim));
                row
            }));
        }
        let mut foot = Vec::new();
        let body = if expanded {
            let dropped = self.output.dropped_lines();
            if dropped > 0 {
                head.extend(note(
                    &format!("… ({dropped} earlier lines are not kept here)"),
                    theme.dim,
                ));
            }
            Body::All {
                output: &self.output,
                width: inner,
                rail: margin,
            }
        } else {
            let tail = self.output.tail(inner, COLLAPSED, COLLAPSED, theme);
            if tail.earlier > 0 {
                let hint = format!("… {} more lines (ctrl+o to expand)", tail.earlier);
                foot.extend(note(&hint, theme.dim));
            }
            Body::Rows(indented(tail.rows))
        };
        match &self.state {
            BangState::Running => {
                let spinner = spell::spinner(self.elapsed);
                foot.extend(note(
                    &format!("{spinner} Running… (esc to cancel)"),
                    theme.running,
                ));
            }
            BangState::Exited(Some(0)) => {}
            BangState::Exited(Some(code)) => {
                foot.extend(note(&format!("(exit {code})"), theme.error));
            }
            BangState::Exited(None) => foot.extend(note("(exit unknown)", theme.error)),
            BangState::Cancelled => foot.extend(note("(cancelled)", theme.warning)),
            BangState::Failed(reason) => {
                foot.extend(note(&format!("Error: {reason}"), theme.error));
            }
        }
        if let Some(kept) = &self.kept {
            let text = match &kept.uri {
                Some(uri) => format!("Output truncated. Full output: {uri}"),
                None => "Output truncated.".to_owned(),
            };
            foot.extend(note(&text, theme.warning));
        }
        for text in &self.notes {
            foot.extend(note(&format!("[{text}]"), theme.dim));
        }
        if let Some(changes) = &self.changes {
            foot.extend(indented(changes.rows(inner, theme)));
            let mark = changes.mark(theme);
            foot.extend(mark.map(|spans| {
                let part = Part { rank: 0, spans };
                let mut line = Line::from(" ");
                line.spans
                    .extend(parts_that_fit(vec![part], inner, theme.dim));
                line
            }));
        }
        foot.push(rule(""));
        CardFrame { head, body, foot }
    }
}

fn indented(rows: Vec<Line<'static>>) -> Vec<Line<'static>> {
    crate::card_frame::railed(rows, &Span::raw(" "))
}
