//! The card of a tool call: the command, the end of its output, and its state.

use crate::card::card_frame::{
    CardBody, CardFrame, FooterPart, folded_part, last_rows, outcome_part, parts_that_fit, railed,
    rows_above, shown_of,
};
use crate::card::footer::{FooterLine, footer};
use crate::card::result_rows;
use crate::text::bash_text::{script_lines, script_rows};
use crate::text::styled_line::wrapped;
use crate::text::visible_text::shortened;
use crate::{
    CardChanges, CardState, OutputLimits, OutputText, RefusalView, Theme, call_summary, spinner,
};
use agent_bash_core::visible::one_line;
use agent_bash_core::{Status, ToolResult};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::time::Duration;

/// Rows of output on a collapsed card, unless the host sets another number.
const COLLAPSED_ROWS: usize = 10;

/// The fraction of the time limit after which an ended call's card shows the limit.
const NEAR_LIMIT_FRACTION: f64 = 0.8;

/// Minimum number of command lines on a collapsed card; a card with more rows of output has more.
/// Also the maximum number of rows for one or two long lines.
const COLLAPSED_COMMAND_LINES: usize = 3;

/// Columns before a card's text.
const RAIL_COLUMNS: usize = 2;

/// A tool call as its card shows it.
#[derive(Debug)]
#[non_exhaustive]
pub struct ToolCard {
    /// The script.
    pub command: String,
    /// The working directory, if it is not the conversation's.
    pub directory: Option<String>,
    /// The state of the call.
    pub state: CardState,
    /// Time since the start.
    pub elapsed: Duration,
    /// The time limit.
    pub timeout: Option<Duration>,
    /// The output.
    pub output: OutputText,
    /// The refusal, if the call was refused.
    pub refused: Option<RefusalView>,
    /// Rows of output while the card is collapsed.
    pub collapsed_rows: usize,
    /// True if the collapsed card shows the first rows, not the last ones.
    pub from_top: bool,
    /// True if the card shows only the command and the outcome.
    pub folded: bool,
    /// Further lines below the output.
    pub footer: Vec<FooterLine>,
    /// Further lines from the host. They stay when the call has ended.
    pub host_lines: Vec<FooterLine>,
    /// True if the call runs on its own terminal, which gets the keys.
    pub on_terminal: bool,
    /// The call's changes to files, made or held.
    pub changes: Option<CardChanges>,
    /// A page of the full output, which an expanded card shows instead of `output`.
    pub page: Option<OutputPage>,
}

/// A page of a full output.
#[derive(Debug)]
pub struct OutputPage {
    /// The lines of the page.
    pub text: OutputText,
    /// The number of the first line, from 1.
    pub first_line: u64,
    /// Number of lines of the whole text.
    pub total_lines: u64,
}

impl ToolCard {
    /// The card of a call that is about to start.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            directory: None,
            state: CardState::Running,
            elapsed: Duration::ZERO,
            timeout: None,
            output: OutputText::new(OutputLimits::CARD),
            refused: None,
            collapsed_rows: COLLAPSED_ROWS,
            from_top: false,
            folded: false,
            footer: Vec::new(),
            host_lines: Vec::new(),
            on_terminal: false,
            changes: None,
            page: None,
        }
    }

    /// Shows the end of the call.
    ///
    /// Live output stays, with its colours. The result's text replaces the live output if there was
    /// none, if the call asked for a part only, or if the output was binary. The card then shows
    /// only the output rows of the text, because the card states the other facts itself.
    pub fn finish(&mut self, result: &ToolResult, refused: Option<RefusalView>) {
        self.state = CardState::Ended(result.status.clone());
        self.elapsed = call_summary::from_millis(result.duration_ms);
        self.footer = footer(result);
        self.changes = CardChanges::of_ended_call(result.changes.as_ref(), &result.notices);
        self.output.show_instead(None);
        let was_refused = matches!(
            result.status,
            Status::Blocked { .. } | Status::NotStarted { .. } | Status::MovedToBackground { .. }
        );
        let is_a_part = result_rows::is_partial(result);
        let has_unshown_output = self.output.is_empty() && result.output.total_bytes > 0;
        let is_binary = result.output.binary;
        if was_refused || is_a_part || has_unshown_output || is_binary {
            self.output = match (&result.status, refused) {
                (Status::Blocked { .. }, Some(refused)) => {
                    self.refused = Some(refused);
                    OutputText::new(OutputLimits::CARD)
                }
                _ if was_refused || is_binary => OutputText::of(OutputLimits::CARD, &result.text),
                _ => result_rows::output(result),
            };
        }
        if is_binary {
            // The other notices are part of the text.
            self.footer
                .retain(|line| matches!(line, FooterLine::UseTool(_)));
        }
    }

    /// The card's output, or why the call was refused, without styles.
    pub fn plain(&self) -> String {
        match &self.refused {
            Some(refused) => refused.plain(),
            None => self.output.plain(),
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
        let inner = usize::from(width).saturating_sub(RAIL_COLUMNS);
        let (_, style) = spinner::mark(&self.state, self.elapsed, theme);
        let rail = Span::styled("│ ", self.rail_style(style, theme));
        let line = |text: Span<'static>| Line::from_iter([rail.clone(), text]);
        let mut head = self.head(inner, expanded, theme);
        let footer = self.footer(inner, style, theme);
        if self.folded {
            let (body, foot) = (CardBody::Rows(Vec::new()), vec![footer]);
            return CardFrame { head, body, foot };
        }
        let body = if expanded {
            let output = match &self.page {
                Some(page) => {
                    head.push(line(page_line(page, inner, theme)));
                    &page.text
                }
                None => &self.output,
            };
            if output.dropped_lines() > 0 {
                let text = format!(
                    "… ({} earlier lines are not stored)",
                    output.dropped_lines()
                );
                head.push(line(Span::styled(shortened(&text, inner), theme.dim)));
            }
            CardBody::All {
                output,
                width: inner,
                rail: rail.clone(),
            }
        } else {
            CardBody::Rows(self.collapsed(inner, &rail, theme))
        };
        let mut foot = Vec::new();
        if let Some(refused) = &self.refused {
            foot.extend(railed(refused.rows(inner, theme), &rail));
        } else if self.is_known_to_be_silent() {
            foot.push(line(Span::styled("(no output)", theme.dim)));
        }
        let page = self.page.as_ref().filter(|_| expanded);
        if let Some(page) = page {
            // The same line above may be hundreds of rows away.
            foot.push(line(page_line(page, inner, theme)));
        }
        // A page of the full output makes the line about missing output untrue.
        let is_shown =
            |line: &&FooterLine| page.is_none() || !matches!(line, FooterLine::Truncated { .. });
        // The host's lines are about a running call.
        let waits = self.state == CardState::WaitingForAnswer;
        let host_lines = self.host_lines.iter().filter(|_| !waits);
        for below in host_lines.chain(&self.footer).filter(is_shown) {
            foot.extend(railed(below.rows(inner, theme), &rail));
        }
        if let Some(changes) = &self.changes {
            foot.extend(railed(changes.rows(inner, theme), &rail));
        }
        foot.push(footer);
        CardFrame { head, body, foot }
    }

    /// Returns the style of the rail: of the state (`style`) until the call has ended.
    fn rail_style(&self, style: Style, theme: &Theme) -> Style {
        if self.state.is_live() {
            style
        } else {
            theme.rail
        }
    }

    /// True if the call has ended without output.
    fn is_known_to_be_silent(&self) -> bool {
        let has_ended = matches!(self.state, CardState::Ended(_));
        has_ended && self.output.is_empty() && self.page.is_none()
    }

    /// Icon and command.
    fn head(&self, inner: usize, expanded: bool, theme: &Theme) -> Vec<Line<'static>> {
        let (icon, style) = spinner::mark(&self.state, self.elapsed, theme);
        let columns = inner.saturating_sub(RAIL_COLUMNS);
        let command = match &self.directory {
            Some(directory) => format!("cd {} && {}", one_line(directory), self.command),
            None => self.command.clone(),
        };
        let rows = if expanded {
            script_rows(&command, columns, theme.text, theme)
        } else {
            let count = command.lines().count();
            let shown = shown_of(count, COLLAPSED_COMMAND_LINES.max(self.collapsed_rows / 3));
            let most = [shown, COLLAPSED_COMMAND_LINES];
            let mut rows = script_lines(&command, most, columns, theme.text, theme);
            if count > shown {
                let more = format!("… ({} more lines)", count - shown);
                rows.push(Line::styled(shortened(&more, columns), theme.dim));
            }
            rows
        };
        let rail = self.rail_style(style, theme);
        let mut out = Vec::with_capacity(rows.len());
        for (at, row) in rows.into_iter().enumerate() {
            let prefix = if at == 0 {
                [
                    Span::styled(format!("{icon} "), style),
                    Span::styled("$ ", theme.dim),
                ]
            } else {
                [Span::styled("│ ", rail), Span::raw("  ")]
            };
            let styled = row.spans.into_iter().map(|span| Span {
                style: row.style.patch(span.style),
                ..span
            });
            out.push(prefix.into_iter().chain(styled).collect());
        }
        out
    }

    /// The last rows of output, and the number of rows before them.
    fn collapsed(&self, inner: usize, rail: &Span<'static>, theme: &Theme) -> Vec<Line<'static>> {
        // If the beginning was dropped, the end says more.
        if self.from_top && !self.output.is_beginning_cut() {
            return self.first_rows(inner, rail, theme);
        }
        let most = [self.collapsed_rows, usize::MAX];
        let tail = last_rows(&self.output, inner, most, theme);
        let mut rows = Vec::new();
        if tail.earlier > 0 {
            let hint = rows_above(&tail, &self.output);
            rows.extend(railed(wrapped(&hint, inner, theme.dim), rail));
        }
        rows.extend(railed(tail.rows, rail));
        rows
    }

    /// The first rows of output, and the number of rows after them.
    fn first_rows(&self, inner: usize, rail: &Span<'static>, theme: &Theme) -> Vec<Line<'static>> {
        let all = self.output.row_count(inner);
        let most = shown_of(all, self.collapsed_rows);
        let head = self.output.window(inner, 0, most, theme);
        let mut rows = railed(head.rows, rail);
        if head.below > 0 {
            let hint = format!("… {} rows below · ctrl+o expands all {all}", head.below);
            rows.extend(railed(wrapped(&hint, inner, theme.dim), rail));
        }
        rows
    }

    /// Outcome, duration, changes, and the time limit while it matters. If there is little room,
    /// the limit is dropped first.
    fn footer(&self, inner: usize, style: Style, theme: &Theme) -> Line<'static> {
        let was_started = !matches!(
            self.state,
            CardState::WaitingForAnswer
                | CardState::Earlier
                | CardState::Ended(
                    Status::Blocked { .. }
                        | Status::NotStarted { .. }
                        | Status::MovedToBackground { .. }
                )
        );
        let badge = match &self.state {
            CardState::Ended(Status::MovedToBackground { job, pid, .. }) => {
                format!("in the background as job {job} (pid {pid})")
            }
            CardState::WaitingForAnswer => "waits for your answer".to_owned(),
            CardState::Earlier => "a trial of an earlier run".to_owned(),
            state => state.badge(),
        };
        let is_plain = matches!(self.state, CardState::Ended(Status::Exited { code: 0 }));
        let badge_style = if is_plain { theme.dim } else { style };
        let mut parts = Vec::new();
        if was_started {
            parts.push(outcome_part(&badge, badge_style, self.elapsed, theme));
        } else {
            // The state of the changes says more than the trial's run.
            let rank = if self.state == CardState::Earlier {
                2
            } else {
                0
            };
            parts.push(FooterPart::new(rank, Span::styled(badge, badge_style)));
        }
        if self.folded {
            parts.push(folded_part(&self.output, inner, theme));
        }
        let mark = self
            .changes
            .as_ref()
            .and_then(|changes| changes.mark(theme));
        parts.extend(mark.map(|spans| FooterPart { rank: 1, spans }));
        if let Some(limit) = self
            .timeout
            .filter(|limit| was_started && self.is_near_limit(*limit))
        {
            let limit = format!("Timeout: {}", spinner::limit_text(limit));
            parts.push(FooterPart::new(3, Span::styled(limit, theme.dim)));
        }
        if self.state.is_live() && was_started && !self.on_terminal {
            parts.push(FooterPart::new(1, Span::styled("esc to cancel", theme.dim)));
        }
        let rail = self.rail_style(style, theme);
        let mut line = Line::from(Span::styled("╰ ", rail));
        line.spans.extend(parts_that_fit(parts, inner, theme.dim));
        line
    }

    /// True if the limit matters: the call runs, or took most of the limit.
    fn is_near_limit(&self, limit: Duration) -> bool {
        self.state.is_live() || self.elapsed >= limit.mul_f64(NEAR_LIMIT_FRACTION)
    }
}

fn page_line(page: &OutputPage, columns: usize, theme: &Theme) -> Span<'static> {
    let lines = page.text.total_lines();
    let last = page.first_line + lines.saturating_sub(1);
    let text = format!(
        "full output, lines {}–{last} of {} (ctrl+pgup/pgdn to page)",
        page.first_line, page.total_lines
    );
    Span::styled(shortened(&text, columns), theme.accent)
}
