//! One card of the transcript with its state: takes in what its command prints while it runs.

use crate::asks::Asks;
use crate::change_actions;
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

/// The most that a card keeps of what is printed.
const CARD_BYTES: usize = OutputLimits::CARD.bytes;

/// On the card of a trial while it runs. Afterwards it says what is held back.
pub(crate) const TRYING: &str = "a trial: what it does to files is held back";

/// What is offered to a command that asks for a terminal.
const OFFER: &str = "it asks for a terminal: f5 runs it again on one";

/// What is offered to one that seems to have asked something which nobody could answer.
const ASKED: &str = "it may have asked something: f5 runs it on a terminal";

/// Identifies an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct EntryId(pub(crate) u64);

/// One card with its state.
#[derive(Debug)]
pub(crate) struct CardEntry {
    pub(crate) id: EntryId,
    pub(crate) card: Card,
    pub(crate) expanded: bool,
    /// When it started, on the host's clock.
    pub(crate) started: Duration,
    /// Its live output, while it runs.
    pub(crate) live: Option<(LiveUpdates, Waker)>,
    /// Cleans the live output.
    clean: TerminalText,
    /// Bytes of output taken in or skipped.
    bytes_read: u64,
    /// Whether it asks for a terminal that it does not have.
    asks: Asks,
    /// The output was binary, and the card says so.
    pub(crate) is_binary: bool,
    /// Its full output, and the file with it.
    pub(crate) artifact: Option<ArtifactId>,
    pub(crate) file: Option<PathBuf>,
    /// It is tried: what it does to files is held back.
    pub(crate) is_trial: bool,
    /// The command itself starts something in the background: that it goes on is no surprise.
    pub(crate) leaves_jobs: bool,
    /// Processes that it left behind, and that may be over in a moment.
    pub(crate) unsaid: Vec<FooterLine>,
    /// What it left running has changed files until now, or may go on to.
    pub(crate) goes_on: bool,
    /// Bytes of output that it has taken in, at most as many as a card keeps.
    pub(crate) bytes: usize,
    /// Its height when it was drawn last; 0 before.
    pub(crate) rows: usize,
    /// Cached height and the width it is for.
    pub(crate) height: Option<(u16, usize)>,
    /// Where it was drawn last: its first row, and the one behind its last.
    pub(crate) drawn: (u16, u16),
}

/// The view of an entry.
#[derive(Debug)]
pub(crate) enum Card {
    Tool(Box<ToolCard>),
    Bang(Box<BangCard>),
    Note(Note),
}

impl Card {
    /// What its command did to files.
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

    /// Its command's output.
    pub(crate) fn output(&self) -> Option<&OutputText> {
        match self {
            Self::Tool(card) => Some(&card.output),
            Self::Bang(card) => Some(&card.output),
            Self::Note(_) => None,
        }
    }

    /// What is said of how it ended.
    pub(crate) fn remarks_mut(&mut self) -> Option<&mut Vec<FooterLine>> {
        match self {
            Self::Tool(card) => Some(&mut card.remarks),
            Self::Bang(card) => Some(&mut card.remarks),
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

/// Whether this is a process of which it is not known that it has ended.
fn lives(remark: &FooterLine) -> bool {
    matches!(
        remark,
        FooterLine::Survivor {
            job: Some(_),
            has_ended: false,
            ..
        }
    )
}

/// Whether this process of this job has ended.
fn is_over(job: &Job, id: &str, pid: u32) -> bool {
    let JobId(this) = &job.id;
    let has_ended = matches!(job.state, JobState::Ended(_));
    this == id && has_ended && job.remaining.iter().all(|left| left.pid != pid)
}

impl CardEntry {
    /// Of a command that has ended or never ran.
    pub(crate) fn new(id: EntryId, card: Card, now: Duration) -> Self {
        Self {
            id,
            card,
            expanded: false,
            started: now,
            live: None,
            clean: TerminalText::coloured(),
            bytes_read: 0,
            asks: Asks::default(),
            is_binary: false,
            artifact: None,
            file: None,
            is_trial: false,
            leaves_jobs: false,
            unsaid: Vec::new(),
            goes_on: false,
            bytes: 0,
            rows: 0,
            height: None,
            drawn: (0, 0),
        }
    }

    /// Whether it is a trial of an earlier run, of which only what is held is known.
    pub(crate) fn is_of_earlier_run(&self) -> bool {
        matches!(&self.card, Card::Tool(card) if card.state == CardState::Earlier)
    }

    /// Whether its command is running.
    pub(crate) fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// Whether it may not be dropped: it runs, or what it would do to files waits for a decision.
    pub(crate) fn is_kept(&self) -> bool {
        self.is_live() || self.is_undecided()
    }

    /// Whether what it would do to files waits for a decision.
    pub(crate) fn is_undecided(&self) -> bool {
        let set = self.card.changes().map(|changes| &changes.set);
        set.is_some_and(change_actions::is_undecided)
    }

    /// Takes in new output and updates the running time.
    pub(crate) fn refresh(&mut self, now: Duration) {
        if self.live.is_none() {
            return;
        }
        self.height = None;
        self.take_in();
        let elapsed = now.saturating_sub(self.started);
        match &mut self.card {
            // It has not started.
            Card::Tool(card) if card.state == CardState::WaitingForAnswer => {}
            Card::Tool(card) => card.elapsed = elapsed,
            Card::Bang(card) => card.elapsed = elapsed,
            Card::Note(_) => {}
        }
    }

    pub(crate) fn take_in(&mut self) {
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
            let has_none = !card.on_terminal && !self.is_trial;
            let asks = has_none && self.asks.push(&bytes);
            let offer = || FooterLine::Offer(OFFER.to_owned());
            if asks && !card.asides.contains(&offer()) {
                card.asides.push(offer());
            }
        }
        let Some(output) = self.card.output_mut() else {
            return;
        };
        let before = std::mem::replace(&mut self.bytes_read, total_bytes);
        let skipped = (total_bytes - before).saturating_sub(bytes.len() as u64);
        if skipped_lines > 0 {
            output.skip(skipped_lines);
            self.clean = TerminalText::coloured();
        } else if skipped > 0 {
            output.leap(skipped);
            self.clean = TerminalText::coloured();
        }
        self.bytes = self.bytes.saturating_add(bytes.len()).min(CARD_BYTES);
        output.push(&self.clean.push(&bytes));
        let mark = self
            .clean
            .is_binary()
            .then(|| binary_text(total_bytes, SizeStyle::Tight));
        output.show_instead(mark.as_deref());
    }

    /// How many rows of output it has while it is collapsed: that depends on the terminal.
    pub(crate) fn collapse_to(&mut self, rows: usize) {
        if let Card::Tool(card) = &mut self.card
            && card.collapsed_rows != rows
        {
            card.collapsed_rows = rows;
            self.height = None;
        }
    }

    /// The person is asked whether it may run.
    pub(crate) fn waits_for_answer(&mut self) {
        if let Card::Tool(card) = &mut self.card {
            card.state = CardState::WaitingForAnswer;
            card.elapsed = Duration::ZERO;
        }
    }

    /// It may run, and its time counts from here.
    pub(crate) fn is_let_run(&mut self, now: Duration) {
        self.started = now;
        if let Card::Tool(card) = &mut self.card {
            card.state = CardState::Running;
        }
    }

    /// Sets the time limit shown. On a terminal there is none.
    pub(crate) fn set_timeout(&mut self, limit: Duration) {
        if let Card::Tool(card) = &mut self.card
            && !card.on_terminal
        {
            card.timeout = Some(limit);
        }
    }

    /// Does not speak yet of what goes on though nobody wanted it to: git tidies up behind every other commit.
    pub(crate) fn hold_survivors(&mut self) {
        let leaves_jobs = self.leaves_jobs;
        let Some(remarks) = self.card.remarks_mut().filter(|_| !leaves_jobs) else {
            return;
        };
        let is_job = |it: &mut FooterLine| matches!(it, FooterLine::Survivor { job: Some(_), .. });
        self.unsaid = remarks.extract_if(.., is_job).collect();
    }

    /// Speaks of processes that it left behind and that go on for longer than a moment, and marks those that have ended since.
    pub(crate) fn jobs_are(&mut self, jobs: &[Job], now: Timestamp) {
        let unsaid = std::mem::take(&mut self.unsaid);
        let Some(remarks) = self.card.remarks_mut() else {
            return;
        };
        let before = remarks.len();
        for remark in unsaid {
            let FooterLine::Survivor { job: Some(id), .. } = &remark else {
                continue;
            };
            let job = jobs.iter().find(|job| job.id.0 == *id);
            if job.is_some_and(|job| job.may_be_over_at_once(now)) {
                self.unsaid.push(remark);
            } else {
                remarks.push(remark);
            }
        }
        let mut has_changed = remarks.len() != before;
        self.goes_on |= remarks.iter().chain(&self.unsaid).any(lives);
        remarks.retain_mut(|remark| {
            let FooterLine::Survivor {
                pid,
                job: Some(id),
                has_ended: has_ended @ false,
                ..
            } = remark
            else {
                return true;
            };
            let Some(job) = jobs.iter().find(|job| is_over(job, id, *pid)) else {
                return true;
            };
            has_changed = true;
            *has_ended = true;
            // What was over at once is not worth a row, as it is none in the list.
            !job.was_over_at_once()
        });
        if has_changed {
            self.height = None;
        }
    }

    /// What it left running has changed this.
    pub(crate) fn late_is(&mut self, late: Vec<(Changes, bool)>) {
        let remarks = self.card.remarks_mut();
        let some_live = remarks.is_some_and(|remarks| remarks.iter().any(lives));
        let is_open = |(set, _): &(Changes, bool)| set.state == ChangesState::Running;
        self.goes_on = some_live || late.iter().any(is_open);
        let Some(changes) = self.card.changes_mut() else {
            return;
        };
        if changes.background != late {
            changes.background = late;
            self.height = None;
        }
    }

    /// It has ended: no more output comes.
    pub(crate) fn ended(&mut self) {
        self.live = None;
        if let Some(output) = self.card.output_mut() {
            output.push(&self.clean.finish());
        }
        if let Card::Tool(card) = &mut self.card {
            let is_over =
                |aside: &FooterLine| matches!(aside, FooterLine::Notice(said) if said == TRYING);
            card.asides.retain(|aside| !is_over(aside));
            // What is fed by something else has had its answers from there.
            let is_fed = card.command.contains(['|', '<']);
            let is_offered = card.on_terminal || !card.asides.is_empty();
            if !is_fed && !is_offered && Asks::is_left_asking(&card.output) {
                card.asides.push(FooterLine::Offer(ASKED.to_owned()));
            }
        }
    }

    /// Its command, for a title.
    pub(crate) fn command(&self) -> &str {
        match &self.card {
            Card::Tool(card) => &card.command,
            Card::Bang(card) => &card.command,
            Card::Note(_) => "",
        }
    }

    /// Whether there was more output than it holds.
    pub(crate) fn is_cut(&self) -> bool {
        match &self.card {
            Card::Tool(card) => {
                let is_cut = |remark: &FooterLine| matches!(remark, FooterLine::Truncated { .. });
                self.is_binary || card.output.is_cut() || card.remarks.iter().any(is_cut)
            }
            Card::Bang(card) => card.output.is_cut() || card.stored.is_some(),
            Card::Note(_) => false,
        }
    }

    /// Height in rows, including an empty row below.
    pub(crate) fn height(&mut self, width: u16, theme: &Theme) -> usize {
        if let Some((of, height)) = self.height
            && of == width
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
        most: usize,
        is_selected: bool,
        theme: &Theme,
    ) {
        let rows = match &self.card {
            Card::Tool(card) => card.rows(area.width, self.expanded, skip, most, theme),
            Card::Bang(card) => card.rows(area.width, self.expanded, skip, most, theme),
            Card::Note(note) => {
                let lines = note.lines(area.width, theme).into_iter();
                lines.skip(skip).take(most).collect()
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
mod tests {
    use super::*;
    use agent_bash::sink::{LiveKind, LiveOptions};

    fn running(command: &str) -> (CardEntry, LiveUpdates) {
        let live = LiveUpdates::new(LiveOptions::new(LiveKind::Raw, 1000));
        let card = Card::Tool(Box::new(ToolCard::new(command)));
        let mut entry = CardEntry::new(EntryId(1), card, Duration::ZERO);
        entry.live = Some((live.clone(), Waker::noop().clone()));
        (entry, live)
    }

    #[test]
    fn of_a_line_that_came_too_fast_all_that_is_missing_is_counted() {
        let (mut entry, live) = running("x");
        live.push(b"begin");
        entry.take_in();
        live.push(&vec![b'y'; 1_000_000]);
        live.push(b"end");
        entry.take_in();
        entry.ended();
        let output = entry.card.output().unwrap();
        assert!(output.is_cut() && entry.is_cut());
        let rows = output.tail(2000, 9, usize::MAX, &Theme::plain()).rows;
        let row = rows[0].to_string();
        let (omitted, rest) = row
            .strip_prefix('[')
            .and_then(|row| row.split_once(" chars omitted] …"))
            .unwrap();
        let omitted: usize = omitted.parse().unwrap();
        assert_eq!(omitted + rest.len(), 5 + 1_000_000 + 3);
        assert!(rest.ends_with("yend"), "{rest}");
    }

    #[test]
    fn a_question_that_nobody_could_answer_is_noticed_at_the_end() {
        for (command, printed, want) in [
            ("./install", "Continue? [y/N] ", true),
            ("./install", "Continue? [y/N] no\n", false),
            // It had its answers.
            ("yes | ./install", "Continue? [y/N] ", false),
            ("./install < answers", "Continue? [y/N] ", false),
        ] {
            let (mut entry, live) = running(command);
            live.push(printed.as_bytes());
            entry.take_in();
            let offers = |entry: &CardEntry| match &entry.card {
                Card::Tool(card) => card.asides.len(),
                _ => 0,
            };
            assert_eq!(offers(&entry), 0, "not while it may still go on");
            entry.ended();
            assert_eq!(offers(&entry) == 1, want, "{command}: {printed:?}");
        }
    }
}
