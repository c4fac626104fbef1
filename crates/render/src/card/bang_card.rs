//! The card of a bang command: `!cmd`, or `!!cmd`, which the model does not see.

use crate::card::card_frame::{
    CardBody, CardFrame, FooterPart, folded_part, last_rows, outcome_part, parts_that_fit,
    rows_above,
};
use crate::card::footer;
use crate::text::bash_text::script_rows;
use crate::text::styled_line::wrapped;
use crate::{
    CardChanges, CardState, FooterLine, OutputLimits, OutputText, Theme, call_summary, spinner,
};
use agent_bash_core::{SizeStyle, Status, size_text};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::time::Duration;

/// Maximum number of lines, and maximum number of rows, of the output on a collapsed card.
const COLLAPSED_LINES: usize = 20;

/// Columns before a card's text, as on the card of a tool call.
const MARGIN_COLUMNS: usize = 2;

/// The left margin, instead of a rail.
const MARGIN_SPACES: &str = "  ";

/// A bang command as its card shows it.
#[derive(Debug)]
pub struct BangCard {
    /// The script.
    pub command: String,
    /// True if started with `!!`: the model does not see the command.
    pub excluded_from_context: bool,
    /// The state of the command.
    pub state: CardState,
    /// Time since the start.
    pub elapsed: Duration,
    /// The output.
    pub output: OutputText,
    /// The stored full output, if the message to the model does not contain the whole output.
    pub stored: Option<StoredOutput>,
    /// Further lines below the output, for example about survivors or the shell.
    pub footer: Vec<FooterLine>,
    /// The command's changes to files.
    pub changes: Option<CardChanges>,
    /// True if the card shows only the command and the outcome.
    pub folded: bool,
}

/// The full output of a command whose output was truncated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredOutput {
    /// For example `artifact://3`; `None` if the output was not stored.
    pub uri: Option<String>,
    /// Number of stored bytes from the beginning, if the output exceeded the limit of a stored
    /// output.
    pub first: Option<u64>,
    /// Bytes in the message, and bytes printed.
    pub shown: [u64; 2],
}

impl BangCard {
    /// The card of a command that is about to start.
    pub fn new(command: impl Into<String>, excluded_from_context: bool) -> Self {
        Self {
            command: command.into(),
            excluded_from_context,
            state: CardState::Running,
            elapsed: Duration::ZERO,
            output: OutputText::new(OutputLimits::BANG),
            stored: None,
            footer: Vec::new(),
            changes: None,
            folded: false,
        }
    }

    /// The height in rows.
    pub fn height(&self, width: u16, expanded: bool, theme: &Theme) -> usize {
        self.frame(width, expanded, theme).height()
    }

    /// The rows from `skip` on, at most `most`.
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
        let inner = usize::from(width).saturating_sub(MARGIN_COLUMNS);
        let (icon, style) = spinner::mark(&self.state, self.elapsed, theme);
        let border = if self.excluded_from_context {
            theme.rail
        } else {
            theme.accent
        };
        let rule = |label: &str| {
            let columns = usize::from(width).saturating_sub(label.chars().count());
            Line::styled(format!("{label}{}", "─".repeat(columns)), border)
        };
        let note = |text: &str, style| indented(wrapped(text, inner, style));
        let label = if self.excluded_from_context {
            "── not in context "
        } else {
            ""
        };
        let label: String = label.chars().take(usize::from(width)).collect();
        let mut head = vec![rule(&label)];
        let mark = if self.excluded_from_context {
            "!! "
        } else {
            "! "
        };
        let columns = inner.saturating_sub(mark.len());
        let rows = if self.excluded_from_context {
            wrapped(&self.command, columns, theme.dim)
        } else {
            script_rows(&self.command, columns, theme.text, theme)
        };
        head.extend(rows.into_iter().enumerate().map(|(at, row)| {
            let prefix = match at {
                0 => [
                    Span::styled(format!("{icon} "), style),
                    Span::styled(mark, theme.dim),
                ],
                _ => [MARGIN_SPACES, &"   "[..mark.len()]].map(Span::raw),
            };
            let mut line: Line<'static> = prefix.into_iter().chain(row.spans).collect();
            line.style = row.style;
            line
        }));
        let end = [self.footer(inner, style, theme), rule("")];
        if self.folded {
            let (body, foot) = (CardBody::Rows(Vec::new()), end.into());
            return CardFrame { head, body, foot };
        }
        let body = if expanded {
            let dropped = self.output.dropped_lines();
            if dropped > 0 {
                head.extend(note(
                    &format!("… ({dropped} earlier lines are not stored)"),
                    theme.dim,
                ));
            }
            CardBody::All {
                output: &self.output,
                width: inner,
                rail: Span::raw(MARGIN_SPACES),
            }
        } else {
            let tail = last_rows(&self.output, inner, [COLLAPSED_LINES; 2], theme);
            if tail.earlier > 0 {
                head.extend(note(&rows_above(&tail, &self.output), theme.dim));
            }
            CardBody::Rows(indented(tail.rows))
        };
        let mut foot = Vec::new();
        if let CardState::Ended(Status::NotStarted { reason } | Status::Lost { reason, .. }) =
            &self.state
        {
            foot.extend(note(reason, theme.error));
        }
        if let Some(stored) = &self.stored {
            let [shown, all] = stored.shown;
            let about = if self.excluded_from_context {
                format!("{} printed", size_text(all, SizeStyle::Spaced))
            } else {
                format!("the model saw {}", call_summary::part_of(shown, all))
            };
            foot.extend(note(
                &footer::stored_output(&about, stored.uri.as_deref(), stored.first, None),
                theme.warning,
            ));
        }
        for line in &self.footer {
            foot.extend(indented(line.rows(inner, theme)));
        }
        if let Some(changes) = &self.changes {
            foot.extend(indented(changes.rows(inner, theme)));
        }
        foot.extend(end);
        CardFrame { head, body, foot }
    }

    /// Outcome, duration and changes, aligned with the cards of tool calls.
    fn footer(&self, inner: usize, style: Style, theme: &Theme) -> Line<'static> {
        let is_plain = matches!(self.state, CardState::Ended(Status::Exited { code: 0 }));
        let badge_style = if is_plain { theme.dim } else { style };
        let badge = self.state.badge();
        let mut parts = match &self.state {
            CardState::Ended(Status::NotStarted { .. }) => {
                vec![FooterPart::new(0, Span::styled(badge, badge_style))]
            }
            _ => vec![outcome_part(&badge, badge_style, self.elapsed, theme)],
        };
        if self.folded {
            parts.push(folded_part(&self.output, inner, theme));
        }
        let mark = self
            .changes
            .as_ref()
            .and_then(|changes| changes.mark(theme));
        parts.extend(mark.map(|spans| FooterPart { rank: 1, spans }));
        if self.state.is_live() {
            parts.push(FooterPart::new(1, Span::styled("esc to cancel", theme.dim)));
        }
        let mut line = Line::from(MARGIN_SPACES);
        line.spans.extend(parts_that_fit(parts, inner, theme.dim));
        line
    }
}

fn indented(rows: Vec<Line<'static>>) -> Vec<Line<'static>> {
    crate::card::card_frame::railed(rows, &Span::raw(MARGIN_SPACES))
}
