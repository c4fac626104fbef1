//! The state of the pager while it is open: position, search, loaded lines.

mod search;

use crate::pager_source::{
    LineRange, LineSource, LoadedLines, MatchingLine, PatternSearch, SearchTicket, StoredText,
};
use crate::scroll_state::{ScrollEvent, ScrollState};
use crate::transcript::EntryId;
use agent_bash::sink::FileView;
use agent_bash_render::regex::Regex;
use agent_bash_render::{
    JobRowState, OutputLimits, OutputText, Pager, PagerMove, PagerPrompt, Theme,
};
use crossterm::event::{Event, KeyCode};
use ratatui::Frame;
use ratatui::layout::Rect;
use std::time::Duration;

/// How long a search may take before the pager shows that it continues.
const SEARCH_NOTICE_DELAY: Duration = Duration::from_millis(300);

/// A search in progress.
#[derive(Debug, Default)]
struct RunningSearch {
    ticket: SearchTicket,
    /// The number of further matches that the user requested during this search; negative for
    /// backwards.
    pending_moves: i64,
    forward: bool,
    /// When the search was first drawn.
    since: Option<Duration>,
    /// True if the pager shows that the search continues.
    is_shown: bool,
}

/// Interval at which a followed file is read.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(400);

/// The pager and its text.
#[derive(Debug)]
pub(crate) struct PagerState {
    source: LineSource,
    title: String,
    subtitle: String,
    scroll: ScrollState,
    /// The lines loaded from a file.
    text: OutputText,
    /// The number of the first loaded line.
    first_loaded: u64,
    /// True if the pager follows the growing end of the text.
    follows: bool,
    /// True if the text is complete.
    has_ended: bool,
    pattern: Option<Regex>,
    found: Option<MatchingLine>,
    searching: Option<RunningSearch>,
    /// The last range requested, so that it is requested only once.
    requested: Option<(u64, u16)>,
    /// When a followed file was last read, and its length then.
    last_read: Option<Duration>,
    last_len: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PagerRequest {
    Nothing,
    Close,
    Find(PatternSearch),
}

impl PagerState {
    /// Opens the pager on a text stored in a file.
    pub(crate) fn new(view: FileView, title: String, subtitle: String) -> Self {
        let source = LineSource::File(StoredText::of(view));
        Self::with_source(source, title, subtitle)
    }

    /// Opens the pager on the output that a card holds. `runs`: the command runs, so the pager
    /// follows the end.
    pub(crate) fn of_card(id: EntryId, subtitle: String, runs: bool) -> Self {
        let mut state = Self::with_source(LineSource::Card(id), "output".to_owned(), subtitle);
        (state.follows, state.has_ended) = (runs, !runs);
        state
    }

    fn with_source(source: LineSource, title: String, subtitle: String) -> Self {
        Self {
            source,
            title,
            subtitle,
            scroll: ScrollState::new(0),
            text: OutputText::new(OutputLimits::PAGE),
            first_loaded: 1,
            follows: false,
            has_ended: false,
            pattern: None,
            found: None,
            searching: None,
            requested: None,
            last_read: None,
            last_len: None,
        }
    }

    /// Updates the pager for the state of the job whose output it shows, and follows the end while
    /// the job runs. `None`: the output is complete.
    pub(crate) fn follow_job(&mut self, job: Option<&JobRowState>) {
        self.has_ended = job.is_none_or(|state| {
            matches!(state, JobRowState::Succeeded | JobRowState::Ended { .. })
        });
        if job == Some(&JobRowState::Running) {
            self.follow();
        }
    }

    pub(crate) fn source(&self) -> LineSource {
        self.source.clone()
    }

    /// True if the display changes without events.
    pub(crate) fn is_live(&self) -> bool {
        self.follows
    }

    /// Returns the lines of a file that must be loaded; `None` if they are loaded or requested.
    pub(crate) fn lines_to_load(&mut self, now: Duration) -> Option<LineRange> {
        if self.scroll.rows == 0 || matches!(self.source, LineSource::Card(_)) {
            return None;
        }
        let count = u64::from(self.scroll.rows);
        if self.follows {
            let is_early = |last_read| now.saturating_sub(last_read) < FOLLOW_INTERVAL;
            if self.last_read.is_some_and(is_early) {
                return None;
            }
            self.last_read = Some(now);
            return Some(LineRange {
                from: None,
                count,
                unless_len: self.last_len,
            });
        }
        let wanted = (self.scroll.position.first_line, self.scroll.rows);
        if self.requested == Some(wanted) {
            return None;
        }
        self.requested = Some(wanted);
        Some(LineRange::starting_at(wanted.0, count))
    }

    /// Handles the result of loading lines.
    pub(crate) fn lines_loaded(&mut self, loaded: Result<Option<Box<LoadedLines>>, String>) {
        match loaded {
            Ok(Some(loaded)) => {
                self.scroll.total = loaded.total;
                (self.first_loaded, self.text) = (loaded.from, loaded.text);
                self.last_len = Some(loaded.len);
                if self.follows {
                    self.scroll.position.first_line = self.first_loaded;
                    self.requested = Some((self.first_loaded, self.scroll.rows));
                }
            }
            Ok(None) => {}
            Err(error) => self.scroll.message = Some(error),
        }
    }

    /// When to draw again without an event: to show that a search continues.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let searching = self.searching.as_ref().filter(|search| !search.is_shown)?;
        Some(searching.since? + SEARCH_NOTICE_DELAY)
    }

    /// Moves the position, and abandons a running search.
    fn go(&mut self, to: PagerMove) {
        self.abandon_search();
        self.follows = false;
        self.scroll.go(to);
    }

    fn follow(&mut self) {
        self.abandon_search();
        self.follows = true;
        (self.last_read, self.last_len) = (None, None);
    }

    pub(crate) fn event(&mut self, event: &Event) -> PagerRequest {
        match self.scroll.event(event) {
            ScrollEvent::Handled => {}
            ScrollEvent::Close => {
                self.abandon_search();
                return PagerRequest::Close;
            }
            ScrollEvent::Move(to) => self.go(to),
            ScrollEvent::Pattern(typed) => return self.start_search(&typed),
            ScrollEvent::NextMatch { forward, count, .. } => {
                return self.find(forward, count.unwrap_or(1));
            }
            ScrollEvent::Key(key) if key.code != KeyCode::Char('F') => {}
            ScrollEvent::Key(_) if self.has_ended => {
                self.go(PagerMove::Last);
                self.scroll.message = Some("the command has ended: nothing follows".to_owned());
            }
            ScrollEvent::Key(_) => self.follow(),
        }
        PagerRequest::Nothing
    }

    /// Adapts the position to a new height. If the pager showed the end, it shows the end again.
    fn set_rows(&mut self, rows: u16) {
        let before = u64::from(std::mem::replace(&mut self.scroll.rows, rows));
        if before == u64::from(rows) || before == 0 || self.scroll.total <= before {
            return;
        }
        let was_at_end = self.scroll.position.first_line + before > self.scroll.total;
        let to = if was_at_end {
            PagerMove::Last
        } else {
            PagerMove::Lines(0)
        };
        self.scroll.position.go(to, self.scroll.total, rows);
    }

    /// Scrolls sideways until the first match of the found line is visible. If the line is not
    /// loaded, tries again later.
    fn reveal(&mut self, card: Option<&OutputText>, width: usize, theme: &Theme) {
        let (Some(found), Some(pattern)) = (self.found, &self.pattern) else {
            return;
        };
        let text = card.unwrap_or(&self.text);
        let first = self.first_loaded.saturating_add(text.dropped_lines());
        let skip = found.line.checked_sub(first);
        let skip = skip.and_then(|skip| usize::try_from(skip).ok());
        let rows = skip.map(|skip| text.window(usize::MAX, skip, 1, theme).rows);
        let Some(row) = rows.as_ref().and_then(|rows| rows.first()) else {
            self.scroll.reveals_match = true;
            return;
        };
        let line: String = row.spans.iter().map(|span| &*span.content).collect();
        let Some(range) = pattern.find(&line).map(|found| found.range()) else {
            return;
        };
        // The columns of the frame, the line number and its margins.
        let margin = self.scroll.total.max(1).to_string().len() + 5;
        let room = width.saturating_sub(margin);
        self.scroll.position.reveal(&line, range, room);
    }

    /// `card`: the output that the card holds, if the pager shows a card.
    pub(crate) fn draw(
        &mut self,
        frame: &mut Frame<'_>,
        area: Rect,
        card: Option<&OutputText>,
        now: Duration,
        theme: &Theme,
    ) {
        self.set_rows(Pager::page_rows(area));
        if let Some(card) = card {
            (self.first_loaded, self.scroll.total) = (1, card.total_lines());
            if self.follows {
                self.scroll
                    .position
                    .go(PagerMove::Last, self.scroll.total, self.scroll.rows);
            }
        }
        if std::mem::take(&mut self.scroll.reveals_match) {
            self.reveal(card, usize::from(area.width), theme);
        }
        let is_slow = self.is_slow(now);
        let prompt = match (self.scroll.typing.typed(), &self.scroll.message) {
            (Some(typed), _) => PagerPrompt::Typed(typed),
            _ if let Some(count) = self.scroll.count.typed() => PagerPrompt::Count(count),
            _ if is_slow => PagerPrompt::Message("searching…"),
            (None, Some(message)) => PagerPrompt::Message(message),
            (None, None) if self.follows => PagerPrompt::Follows,
            (None, None) => PagerPrompt::Keys {
                live: !self.has_ended,
            },
        };
        let pager = Pager {
            title: &self.title,
            subtitle: &self.subtitle,
            text: card.unwrap_or(&self.text),
            from_line: self.first_loaded,
            // For a file, the loaded lines are shown until the requested lines have arrived.
            first_line: if card.is_some() {
                self.scroll.position.first_line
            } else {
                self.first_loaded
            },
            total_lines: self.scroll.total,
            column: self.scroll.position.column,
            pattern: self.pattern.as_ref(),
            matches: self.found.map(|found| (found.index, found.total)),
            found_line: self.found.map(|found| found.line),
            prompt,
        };
        pager.render(area, frame.buffer_mut(), theme);
    }
}

#[cfg(test)]
#[path = "pager_state_tests.rs"]
mod tests;
