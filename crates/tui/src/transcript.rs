//! The transcript: cards in order, the newest at the bottom. Only visible rows are drawn.

pub(crate) use crate::card_entry::{Card, CardEntry, EntryId, TRIAL_NOTE};

use crate::note::Note;
use agent_bash::core::Timestamp;
use agent_bash::core::changes::{Changes, ChangesId};
use agent_bash::exec::Job;
use agent_bash::sink::LiveUpdates;
use agent_bash_render::Theme;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::task::Waker;
use std::time::Duration;

/// Maximum number of entries. Two thousand cards of short commands take 15 MB.
const MAX_ENTRIES: usize = 2000;

/// Limit of output bytes of all cards. A card holds at most `OutputLimits::CARD`.
const MAX_OUTPUT_BYTES: usize = 64 << 20;

/// The note that replaces dropped cards.
const DROPPED_TEXT: [&str; 2] = ["Earlier cards were dropped;", "`agent-bash log` has them."];

/// Rows of output on a collapsed card: half of the available ones, within these bounds.
const MIN_COLLAPSED_ROWS: usize = 4;
const MAX_COLLAPSED_ROWS: usize = 40;

/// Identifies the notice about dropped cards.
const NOTICE_ID: EntryId = EntryId(0);

/// All entries, and the scroll position.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    entries: VecDeque<CardEntry>,
    last_id: u64,
    /// Rows below the last visible one; 0 follows new output.
    scrolled_rows: usize,
    /// Rows visible at once.
    visible_rows: usize,
    pub(crate) selected: Option<EntryId>,
    /// True if the mouse selected the card. The card then has no keys: the click may only have been
    /// meant for the window.
    pub(crate) is_clicked: bool,
    /// True if the selected card's height is about to change, and the card must stay in place even
    /// at the bottom.
    holds_selected: bool,
}

/// The entry that stays in place while heights change.
struct ScrollAnchor {
    card: EntryId,
    /// Number of rows between its first row and the first visible one; negative if the entry begins
    /// below.
    offset: isize,
    /// True if the entry itself changes its height: as much of it as fits is shown.
    is_whole: bool,
}

impl Transcript {
    /// Adds the card of a running command.
    pub(crate) fn start(
        &mut self,
        card: Card,
        live: &LiveUpdates,
        waker: Waker,
        now: Duration,
    ) -> EntryId {
        let id = self.add(card, now);
        if let Some(entry) = self.get_mut(id) {
            entry.live = Some((live.clone(), waker));
        }
        self.scrolled_rows = 0;
        id
    }

    /// Adds a card that has ended or never ran.
    pub(crate) fn add(&mut self, card: Card, now: Duration) -> EntryId {
        self.last_id += 1;
        let id = EntryId(self.last_id);
        self.entries.push_back(CardEntry::new(id, card, now));
        self.drop_old();
        id
    }

    /// Adds the card of a trial of an earlier run: before the cards of this run, and after the
    /// notes at its start.
    pub(crate) fn add_earlier(&mut self, card: Card) {
        self.last_id += 1;
        let mut entry = CardEntry::new(EntryId(self.last_id), card, Duration::ZERO);
        entry.is_trial = true;
        let is_card = |entry: &CardEntry| !matches!(entry.card, Card::Note(_));
        let at = self.entries.iter().position(is_card);
        self.entries.insert(at.unwrap_or(self.entries.len()), entry);
    }

    /// True if trials of earlier runs have cards.
    pub(crate) fn has_earlier(&self) -> bool {
        self.entries.iter().any(CardEntry::is_of_earlier_run)
    }

    /// True if the selected trial is the first undecided one, or if no trial is undecided.
    pub(crate) fn is_first_undecided(&self) -> bool {
        let first = self.undecided().next();
        first.is_none() || first == self.selected
    }

    /// Drops the oldest cards if there are too many, except those of running commands and undecided
    /// trials.
    fn drop_old(&mut self) {
        let mut bytes: usize = self.entries.iter().map(|entry| entry.held_bytes).sum();
        let mut has_dropped = false;
        while self.entries.len() > MAX_ENTRIES || bytes > MAX_OUTPUT_BYTES {
            // The newest card always stays.
            let older = self.entries.len().saturating_sub(1);
            let mut old = self.entries.iter().take(older);
            let Some(at) = old.position(|entry| !entry.must_stay() && entry.id != NOTICE_ID) else {
                break;
            };
            bytes -= self.entries.remove(at).map_or(0, |entry| entry.held_bytes);
            has_dropped = true;
        }
        let is_shown = self
            .entries
            .front()
            .is_some_and(|first| first.id == NOTICE_ID);
        if has_dropped && !is_shown {
            let lines = DROPPED_TEXT.map(Line::from).to_vec();
            let notice = Card::Note(Note::Lines(lines));
            let notice = CardEntry::new(NOTICE_ID, notice, Duration::ZERO);
            self.entries.push_front(notice);
        }
    }

    /// Changes an entry, if it still exists.
    pub(crate) fn change(&mut self, id: EntryId, change: impl FnOnce(&mut CardEntry)) {
        if let Some(entry) = self.get_mut(id) {
            entry.read_live_output();
            change(entry);
            entry.height = None;
        }
    }

    /// Updates the lines about survivors.
    pub(crate) fn update_jobs(&mut self, jobs: &[Job], now: Timestamp) {
        for entry in &mut self.entries {
            entry.update_jobs(jobs, now);
        }
    }

    /// True if a line about survivors appears after some time without an event.
    pub(crate) fn has_unshown_survivors(&self) -> bool {
        self.entries
            .iter()
            .any(|entry| !entry.unshown_survivors.is_empty())
    }

    /// Commands with survivors that run, or ran until now, with the numbers of their change sets.
    pub(crate) fn with_survivors(&self) -> Vec<(EntryId, ChangesId)> {
        let with_survivors = self.entries.iter().filter(|entry| entry.has_survivors);
        let sets =
            with_survivors.filter_map(|entry| Some((entry.id, entry.card.changes()?.set.id)));
        sets.collect()
    }

    /// Stores the change sets of a command's background processes.
    pub(crate) fn set_background_changes(&mut self, id: EntryId, background: Vec<(Changes, bool)>) {
        if let Some(entry) = self.get_mut(id) {
            entry.set_background_changes(background);
        }
    }

    /// Stores the present state of change sets on their cards.
    pub(crate) fn update_sets(&mut self, sets: &[Changes]) {
        for entry in &mut self.entries {
            let Some(changes) = entry.card.changes_mut() else {
                continue;
            };
            let mut is_changed = false;
            let background = changes.background.iter_mut().map(|(set, _)| set);
            for known in std::iter::once(&mut changes.set).chain(background) {
                let Some(set) = sets.iter().find(|set| set.id == known.id) else {
                    continue;
                };
                let counts = known.counts;
                *known = set.clone();
                // A discarded change set has no counts any more.
                if known.counts.total() == 0 {
                    known.counts = counts;
                }
                is_changed = true;
            }
            if is_changed {
                entry.height = None;
            }
        }
    }

    pub(crate) fn get(&self, id: EntryId) -> Option<&CardEntry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    fn get_mut(&mut self, id: EntryId) -> Option<&mut CardEntry> {
        self.entries.iter_mut().find(|entry| entry.id == id)
    }

    /// The selected entry, or else the last command.
    pub(crate) fn current(&self) -> Option<&CardEntry> {
        let last = || {
            let mut commands = self.entries.iter().rev();
            commands.find(|entry| !matches!(entry.card, Card::Note(_)))
        };
        self.selected_entry().or_else(last)
    }

    pub(crate) fn selected_entry(&self) -> Option<&CardEntry> {
        self.selected.and_then(|id| self.get(id))
    }

    /// Ends the selection.
    pub(crate) fn deselect(&mut self) {
        (self.selected, self.is_clicked) = (None, false);
    }

    /// Selects the previous or next command; beyond the last, none. A clicked card first gets the
    /// keys.
    pub(crate) fn select(&mut self, backwards: bool) {
        if std::mem::take(&mut self.is_clicked) && self.selected_entry().is_some() {
            self.show_selected();
            return;
        }
        let commands: Vec<EntryId> = self
            .entries
            .iter()
            .filter(|entry| !matches!(entry.card, Card::Note(_)))
            .map(|entry| entry.id)
            .collect();
        let at = self
            .selected
            .and_then(|id| commands.iter().position(|other| *other == id));
        self.selected = match (at, backwards) {
            (None, true) => commands.last().copied(),
            (None, false) => None,
            (Some(at), true) => commands.get(at.saturating_sub(1)).copied(),
            (Some(at), false) => commands.get(at + 1).copied(),
        };
        self.show_selected();
    }

    /// Selects the last undecided trial, or the one before the selected one. Returns true if there
    /// is one.
    pub(crate) fn select_undecided(&mut self) -> bool {
        let waiting: Vec<EntryId> = self.undecided().collect();
        let at = self
            .selected
            .and_then(|id| waiting.iter().position(|other| *other == id));
        let before = at.and_then(|at| at.checked_sub(1));
        let wanted = before.map_or(waiting.last(), |at| waiting.get(at));
        let Some(id) = wanted.copied() else {
            return false;
        };
        (self.selected, self.is_clicked) = (Some(id), false);
        self.show_selected();
        true
    }

    /// Scrolls so that the selected entry is visible.
    fn show_selected(&mut self) {
        let Some(id) = self.selected else {
            self.scrolled_rows = 0;
            return;
        };
        let mut below = 0;
        for entry in self.entries.iter().rev() {
            let height = entry.rows;
            if entry.id == id {
                let top = below + height;
                if self.scrolled_rows > below || top > self.scrolled_rows + self.visible_rows {
                    self.scrolled_rows = if height >= self.visible_rows {
                        top - self.visible_rows.min(top)
                    } else {
                        below
                    };
                }
                return;
            }
            below += height;
        }
    }

    /// Removes everything except running commands and undecided trials.
    pub(crate) fn clear(&mut self) {
        self.entries.retain(CardEntry::must_stay);
        self.scrolled_rows = 0;
        self.deselect();
    }

    /// Prepares a change of the selected card's height: its first row stays in place, unless more
    /// of the card fits.
    pub(crate) fn hold_selected(&mut self) {
        self.holds_selected = self.selected.is_some();
    }

    /// Scrolls by rows; up if positive.
    pub(crate) fn scroll(&mut self, rows: isize) {
        // Scrolling too far is corrected when drawing: heights may have changed since they were
        // computed.
        self.scrolled_rows = self.scrolled_rows.saturating_add_signed(rows);
    }

    /// Scrolls by pages; up if positive.
    pub(crate) fn scroll_pages(&mut self, pages: isize) {
        let page = isize::try_from(self.visible_rows.saturating_sub(2).max(1)).unwrap_or(1);
        self.scroll(pages.saturating_mul(page));
    }

    pub(crate) fn go_to_top(&mut self) {
        self.scrolled_rows = usize::MAX;
    }

    pub(crate) fn go_to_bottom(&mut self) {
        self.scrolled_rows = 0;
    }

    /// Rows below the visible part.
    pub(crate) fn rows_below(&self) -> usize {
        self.scrolled_rows
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The undecided trials, oldest first.
    pub(crate) fn undecided(&self) -> impl DoubleEndedIterator<Item = EntryId> {
        let is_undecided = |entry: &&CardEntry| entry.is_undecided();
        self.entries
            .iter()
            .filter(is_undecided)
            .map(|entry| entry.id)
    }

    /// True if anything changes without events: a spinner, a running time.
    pub(crate) fn is_live(&self) -> bool {
        self.entries.iter().any(|entry| entry.live.is_some())
    }

    /// The files with full outputs, by their URI.
    pub(crate) fn output_files(&self) -> HashMap<String, PathBuf> {
        let output_file = |entry: &CardEntry| Some((entry.artifact?.uri(), entry.file.clone()?));
        self.entries.iter().filter_map(output_file).collect()
    }

    /// The command whose card was drawn in this row.
    pub(crate) fn at_row(&self, row: u16) -> Option<EntryId> {
        let mut commands = self.entries.iter();
        let is_drawn_at_row = |entry: &&CardEntry| {
            !matches!(entry.card, Card::Note(_))
                && (entry.drawn_rows.0..entry.drawn_rows.1).contains(&row)
        };
        commands.find(is_drawn_at_row).map(|entry| entry.id)
    }

    /// The entry that stays in place while heights change: the selected card if it is visible, else
    /// the first visible one. `None` at the bottom, where the view follows the newest.
    fn anchor(&mut self) -> Option<ScrollAnchor> {
        let total: usize = self.entries.iter().map(|entry| entry.rows).sum();
        let back = self
            .scrolled_rows
            .min(total.saturating_sub(self.visible_rows));
        let holds = std::mem::take(&mut self.holds_selected);
        if back == 0 && !holds {
            return None;
        }
        let end = total - back;
        let first = end.saturating_sub(self.visible_rows);
        let (mut at, mut found) = (0, None);
        for entry in self.entries.iter().filter(|entry| entry.rows > 0) {
            let is_visible = at + entry.rows > first && at < end;
            let is_selected = self.selected == Some(entry.id);
            if is_visible && (found.is_none() || is_selected) {
                found = Some(ScrollAnchor {
                    card: entry.id,
                    offset: first.cast_signed() - at.cast_signed(),
                    is_whole: holds && is_selected,
                });
            }
            at += entry.rows;
        }
        found
    }

    /// Scrolls so that the entry stays in its place. If the entry became too short for that, shows
    /// its beginning.
    fn restore_anchor(&mut self, anchor: &ScrollAnchor, total: usize) {
        let mut top: usize = 0;
        for entry in &self.entries {
            let height = entry.rows;
            if entry.id == anchor.card {
                let is_within = anchor.offset < height.cast_signed();
                let below = if is_within { anchor.offset } else { 0 };
                let mut first = (top.cast_signed() + below).max(0).cast_unsigned();
                if anchor.is_whole {
                    let lowest_first = (top + height).saturating_sub(self.visible_rows);
                    first = first.max(lowest_first.min(top));
                }
                let last = total.saturating_sub(self.visible_rows);
                self.scrolled_rows = last - first.min(last);
                return;
            }
            top += height;
        }
    }

    /// Draws the cards. `window`: the height that the transcript has with a prompt of one row, so
    /// that cards keep their height while the prompt grows.
    pub(crate) fn draw(
        &mut self,
        frame: &mut Frame<'_>,
        area: Rect,
        window: u16,
        now: Duration,
        theme: &Theme,
    ) {
        let width = area.width;
        let anchor = self.anchor();
        let mut total = 0;
        let rows = (usize::from(window) / 2).clamp(MIN_COLLAPSED_ROWS, MAX_COLLAPSED_ROWS);
        for entry in &mut self.entries {
            entry.refresh(now);
            entry.collapse_to(rows);
            entry.rows = entry.height(width, theme);
            total += entry.rows;
        }
        self.visible_rows = usize::from(area.height);
        if let Some(anchor) = anchor {
            self.restore_anchor(&anchor, total);
        }
        self.scrolled_rows = self
            .scrolled_rows
            .min(total.saturating_sub(self.visible_rows));
        let end = total - self.scrolled_rows.min(total);
        let first = end.saturating_sub(self.visible_rows);
        let mut at = 0;
        for entry in &mut self.entries {
            let height = entry.rows;
            entry.drawn_rows = (0, 0);
            if at + height > first && at < end {
                let skip = first.saturating_sub(at);
                let y = (at + skip - first) as u16;
                let max_rows = (end - at - skip).min(self.visible_rows - usize::from(y));
                let is_selected = self.selected == Some(entry.id);
                // The empty row below belongs to no card.
                let card_rows = max_rows.min(height - skip - usize::from(height > skip)) as u16;
                entry.drawn_rows = (area.y + y, area.y + y + card_rows);
                entry.draw(
                    frame,
                    Rect {
                        y: area.y + y,
                        ..area
                    },
                    skip,
                    max_rows,
                    is_selected,
                    theme,
                );
            }
            at += height;
        }
    }
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
