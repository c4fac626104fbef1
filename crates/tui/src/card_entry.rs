//! One card of the transcript with its state. The card reads the command's output while the command
//! runs.

use crate::change_actions;
use crate::input_detector::InputDetector;
use crate::note::Note;
use agent_bash::core::changes::{Changes, ChangesState};
use agent_bash::core::{ArtifactId, JobId, Timestamp};
use agent_bash::exec::{Job, JobState};
use agent_bash::sink::{LiveUpdate, LiveUpdates, SizeStyle, TerminalText, binary_text};
use agent_bash_render::{
    BangCard, CardChanges, CardState, FooterLine, OutputLimits, OutputText, Theme, ToolCard,
};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::path::PathBuf;
use std::task::Waker;
use std::time::Duration;

/// Limit of output bytes that a card holds.
const MAX_CARD_BYTES: usize = OutputLimits::CARD.bytes;

/// Shown on the card of a trial while it runs. Afterwards, the card lists the held changes.
pub(crate) const TRIAL_NOTE: &str = "a trial: its changes to files are held back";

/// The hint for a command that asks for a terminal.
const TERMINAL_HINT: &str = "it asks for a terminal: f5 runs it again on one";

/// The hint for a command that seems to have asked a question without an answer.
const QUESTION_HINT: &str = "it may have asked something: f5 runs it on a terminal";

/// Identifies a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct EntryId(pub(crate) u64);

/// One card with its state.
#[derive(Debug)]
pub(crate) struct CardEntry {
    pub(crate) id: EntryId,
    pub(crate) card: Card,
    pub(crate) expanded: bool,
    /// When the command started, on the host's clock.
    pub(crate) started: Duration,
    /// The live output while the command runs.
    pub(crate) live: Option<(LiveUpdates, Waker)>,
    /// Removes control sequences from the live output.
    cleaner: TerminalText,
    /// Bytes of output read or skipped.
    bytes_read: u64,
    /// Detects that the command asks for a terminal that it does not have.
    input_detector: InputDetector,
    /// True if the output is binary. The card then describes it instead of showing it.
    pub(crate) is_binary: bool,
    /// The artifact with the full output.
    pub(crate) artifact: Option<ArtifactId>,
    pub(crate) file: Option<PathBuf>,
    /// True if the command is a trial: its changes to files are held back.
    pub(crate) is_trial: bool,
    /// True if the command itself starts a background process, so that survivors are expected.
    pub(crate) starts_background_jobs: bool,
    /// Survivors that are not shown yet, because they may end within a moment.
    pub(crate) unshown_survivors: Vec<FooterLine>,
    /// True if survivors have changed files, or may still do so.
    pub(crate) has_survivors: bool,
    /// Bytes of output that the card holds, up to its limit.
    pub(crate) held_bytes: usize,
    /// The height when the card was last drawn; 0 before.
    pub(crate) rows: usize,
    /// The cached height and its width.
    pub(crate) height: Option<(u16, usize)>,
    /// The rows of the card when it was last drawn, as a half-open range.
    pub(crate) drawn_rows: (u16, u16),
}

/// The view of an entry.
#[derive(Debug)]
pub(crate) enum Card {
    Tool(Box<ToolCard>),
    Bang(Box<BangCard>),
    Note(Note),
}

impl Card {
    /// The command's changes to files.
    pub(crate) fn changes(&self) -> Option<&CardChanges> {
        match self {
            Self::Tool(card) => card.changes.as_ref(),
            Self::Bang(card) => card.changes.as_ref(),
            Self::Note(_) => None,
        }
    }

    pub(crate) fn changes_mut(&mut self) -> Option<&mut CardChanges> {
        match self {
            Self::Tool(card) => card.changes.as_mut(),
            Self::Bang(card) => card.changes.as_mut(),
            Self::Note(_) => None,
        }
    }

    /// The command's output.
    pub(crate) fn output(&self) -> Option<&OutputText> {
        match self {
            Self::Tool(card) => Some(&card.output),
            Self::Bang(card) => Some(&card.output),
            Self::Note(_) => None,
        }
    }

    /// The lines about how the command ended.
    pub(crate) fn footer_mut(&mut self) -> Option<&mut Vec<FooterLine>> {
        match self {
            Self::Tool(card) => Some(&mut card.footer),
            Self::Bang(card) => Some(&mut card.footer),
            Self::Note(_) => None,
        }
    }

    fn output_mut(&mut self) -> Option<&mut OutputText> {
        match self {
            Self::Tool(card) => Some(&mut card.output),
            Self::Bang(card) => Some(&mut card.output),
            Self::Note(_) => None,
        }
    }
}

/// Returns true if a line names a survivor that may still run.
fn is_running(line: &FooterLine) -> bool {
    matches!(
        line,
        FooterLine::Survivor {
            job: Some(_),
            has_ended: false,
            ..
        }
    )
}

/// Returns true if this process of this job has ended.
fn has_process_ended(job: &Job, id: &str, pid: u32) -> bool {
    let JobId(this) = &job.id;
    let has_ended = matches!(job.state, JobState::Ended(_));
    this == id && has_ended && job.remaining.iter().all(|process| process.pid != pid)
}

impl CardEntry {
    /// An entry for a command that has ended or never ran.
    pub(crate) fn new(id: EntryId, card: Card, now: Duration) -> Self {
        Self {
            id,
            card,
            expanded: false,
            started: now,
            live: None,
            cleaner: TerminalText::coloured(),
            bytes_read: 0,
            input_detector: InputDetector::default(),
            is_binary: false,
            artifact: None,
            file: None,
            is_trial: false,
            starts_background_jobs: false,
            unshown_survivors: Vec::new(),
            has_survivors: false,
            held_bytes: 0,
            rows: 0,
            height: None,
            drawn_rows: (0, 0),
        }
    }

    /// Returns true for a trial of an earlier run: only its held changes are known.
    pub(crate) fn is_of_earlier_run(&self) -> bool {
        matches!(&self.card, Card::Tool(card) if card.state == CardState::Earlier)
    }

    /// Returns true if the command is running.
    pub(crate) fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// Returns true if the entry must not be dropped: the command runs, or its trial awaits a
    /// decision.
    pub(crate) fn must_stay(&self) -> bool {
        self.is_live() || self.is_undecided()
    }

    /// Returns true if the command's trial awaits a decision.
    pub(crate) fn is_undecided(&self) -> bool {
        let set = self.card.changes().map(|changes| &changes.set);
        set.is_some_and(change_actions::is_undecided)
    }

    /// Reads new output and updates the running time.
    pub(crate) fn refresh(&mut self, now: Duration) {
        if self.live.is_none() {
            return;
        }
        self.height = None;
        self.read_live_output();
        let elapsed = now.saturating_sub(self.started);
        match &mut self.card {
            // The command has not started.
            Card::Tool(card) if card.state == CardState::WaitingForAnswer => {}
            Card::Tool(card) => card.elapsed = elapsed,
            Card::Bang(card) => card.elapsed = elapsed,
            Card::Note(_) => {}
        }
    }

    pub(crate) fn read_live_output(&mut self) {
        let Some((live, waker)) = &self.live else {
            return;
        };
        let Some(LiveUpdate::Raw {
            bytes,
            skipped_lines,
            total_bytes,
        }) = live.take(waker)
        else {
            return;
        };
        if let Card::Tool(card) = &mut self.card {
            let lacks_terminal = !card.on_terminal && !self.is_trial;
            let asks = lacks_terminal && self.input_detector.push(&bytes);
            let offer = || FooterLine::Offer(TERMINAL_HINT.to_owned());
            if asks && !card.host_lines.contains(&offer()) {
                card.host_lines.push(offer());
            }
        }
        let Some(output) = self.card.output_mut() else {
            return;
        };
        let before = std::mem::replace(&mut self.bytes_read, total_bytes);
        let skipped = (total_bytes - before).saturating_sub(bytes.len() as u64);
        if skipped_lines > 0 {
            output.skip_lines(skipped_lines);
            self.cleaner = TerminalText::coloured();
        } else if skipped > 0 {
            output.skip_chars(skipped);
            self.cleaner = TerminalText::coloured();
        }
        self.held_bytes = self
            .held_bytes
            .saturating_add(bytes.len())
            .min(MAX_CARD_BYTES);
        output.push(&self.cleaner.push(&bytes));
        let mark = self
            .cleaner
            .is_binary()
            .then(|| binary_text(total_bytes, SizeStyle::Tight));
        output.show_instead(mark.as_deref());
    }

    /// Sets the rows of output while the card is collapsed, which depend on the terminal.
    pub(crate) fn collapse_to(&mut self, rows: usize) {
        if let Card::Tool(card) = &mut self.card
            && card.collapsed_rows != rows
        {
            card.collapsed_rows = rows;
            self.height = None;
        }
    }

    /// Marks the command as waiting for the user's permission.
    pub(crate) fn mark_waiting(&mut self) {
        if let Card::Tool(card) = &mut self.card {
            card.state = CardState::WaitingForAnswer;
            card.elapsed = Duration::ZERO;
        }
    }

    /// Marks the command as permitted. Its running time starts now.
    pub(crate) fn mark_permitted(&mut self, now: Duration) {
        self.started = now;
        if let Card::Tool(card) = &mut self.card {
            card.state = CardState::Running;
        }
    }

    /// Sets the shown time limit. Calls on a terminal have none.
    pub(crate) fn set_timeout(&mut self, limit: Duration) {
        if let Card::Tool(card) = &mut self.card
            && !card.on_terminal
        {
            card.timeout = Some(limit);
        }
    }

    /// Holds back the lines about survivors. Some programs start processes that end within a
    /// moment: `git commit` starts a cleanup.
    pub(crate) fn hold_back_survivors(&mut self) {
        let leaves_jobs = self.starts_background_jobs;
        let Some(footer) = self.card.footer_mut().filter(|_| !leaves_jobs) else {
            return;
        };
        let is_job =
            |line: &mut FooterLine| matches!(line, FooterLine::Survivor { job: Some(_), .. });
        self.unshown_survivors = footer.extract_if(.., is_job).collect();
    }

    /// Shows survivors that run for longer than a moment, and marks those that have ended since.
    pub(crate) fn update_jobs(&mut self, jobs: &[Job], now: Timestamp) {
        let unshown_survivors = std::mem::take(&mut self.unshown_survivors);
        let Some(footer) = self.card.footer_mut() else {
            return;
        };
        let before = footer.len();
        for line in unshown_survivors {
            let FooterLine::Survivor { job: Some(id), .. } = &line else {
                continue;
            };
            let job = jobs.iter().find(|job| job.id.0 == *id);
            if job.is_some_and(|job| job.may_end_within_a_second(now)) {
                self.unshown_survivors.push(line);
            } else {
                footer.push(line);
            }
        }
        let mut has_changed = footer.len() != before;
        self.has_survivors |= footer.iter().chain(&self.unshown_survivors).any(is_running);
        footer.retain_mut(|line| {
            let FooterLine::Survivor {
                pid,
                job: Some(id),
                has_ended: has_ended @ false,
                ..
            } = line
            else {
                return true;
            };
            let Some(job) = jobs.iter().find(|job| has_process_ended(job, id, *pid)) else {
                return true;
            };
            has_changed = true;
            *has_ended = true;
            // Jobs that ended within a second are hidden, as in `jobs list`.
            !job.ended_within_a_second()
        });
        if has_changed {
            self.height = None;
        }
    }

    /// Stores the change sets of the command's background processes. The flag marks a change
    /// set whose process may belong to an earlier command.
    pub(crate) fn set_background_changes(&mut self, background: Vec<(Changes, bool)>) {
        let footer = self.card.footer_mut();
        let some_live = footer.is_some_and(|footer| footer.iter().any(is_running));
        let is_open = |(set, _): &(Changes, bool)| set.state == ChangesState::Running;
        self.has_survivors = some_live || background.iter().any(is_open);
        let Some(changes) = self.card.changes_mut() else {
            return;
        };
        if changes.background != background {
            changes.background = background;
            self.height = None;
        }
    }

    /// Handles the end of the command: no more output follows.
    pub(crate) fn finish(&mut self) {
        self.live = None;
        if let Some(output) = self.card.output_mut() {
            output.push(&self.cleaner.finish());
        }
        if let Card::Tool(card) = &mut self.card {
            let is_over = |aside: &FooterLine| matches!(aside, FooterLine::Notice(notice) if notice == TRIAL_NOTE);
            card.host_lines.retain(|aside| !is_over(aside));
            // A command with redirected input reads its answers from there.
            let is_fed = card.command.contains(['|', '<']);
            let is_offered = card.on_terminal || !card.host_lines.is_empty();
            if !is_fed && !is_offered && InputDetector::ends_with_question(&card.output) {
                card.host_lines
                    .push(FooterLine::Offer(QUESTION_HINT.to_owned()));
            }
        }
    }

    /// The command, for a title.
    pub(crate) fn command(&self) -> &str {
        match &self.card {
            Card::Tool(card) => &card.command,
            Card::Bang(card) => &card.command,
            Card::Note(_) => "",
        }
    }

    /// Returns true if there was more output than the card holds.
    pub(crate) fn is_cut(&self) -> bool {
        match &self.card {
            Card::Tool(card) => {
                let is_cut = |line: &FooterLine| matches!(line, FooterLine::Truncated { .. });
                self.is_binary || card.output.is_cut() || card.footer.iter().any(is_cut)
            }
            Card::Bang(card) => card.output.is_cut() || card.stored.is_some(),
            Card::Note(_) => false,
        }
    }

    /// The height in rows, including an empty row below.
    pub(crate) fn height(&mut self, width: u16, theme: &Theme) -> usize {
        if let Some((cached_width, height)) = self.height
            && cached_width == width
        {
            return height;
        }
        let height = 1 + match &self.card {
            Card::Tool(card) => card.height(width, self.expanded, theme),
            Card::Bang(card) => card.height(width, self.expanded, theme),
            Card::Note(note) => note.lines(width, theme).len(),
        };
        self.height = Some((width, height));
        height
    }

    pub(crate) fn draw(
        &self,
        frame: &mut Frame<'_>,
        area: Rect,
        skip: usize,
        max_rows: usize,
        is_selected: bool,
        theme: &Theme,
    ) {
        let rows = match &self.card {
            Card::Tool(card) => card.rows(area.width, self.expanded, skip, max_rows, theme),
            Card::Bang(card) => card.rows(area.width, self.expanded, skip, max_rows, theme),
            Card::Note(note) => {
                let lines = note.lines(area.width, theme).into_iter();
                lines.skip(skip).take(max_rows).collect()
            }
        };
        let style = if is_selected {
            theme.selected
        } else {
            Style::new()
        };
        let buffer = frame.buffer_mut();
        for (row, y) in rows.iter().zip(area.y..) {
            buffer.set_line(area.x, y, row, area.width);
            let line = Rect {
                y,
                height: 1,
                ..area
            };
            buffer.set_style(line.intersection(buffer.area), style);
        }
    }
}

#[cfg(test)]
#[path = "card_entry_tests.rs"]
mod tests;
