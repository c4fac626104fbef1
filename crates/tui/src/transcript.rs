//! The transcript: cards in order, the newest at the bottom. Only visible rows are drawn.

pub(crate) use crate::entry::{Card, Entry, EntryId};

use agent_bash::sink::LiveUpdates;
use agent_bash_render::Theme;
use ratatui::Frame;
use ratatui::layout::Rect;
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::task::Waker;
use std::time::Duration;

/// Maximum number of entries.
const MOST: usize = 200;

/// Rows of output on a collapsed card: half of what is there, within these bounds.
const LEAST_ROWS: usize = 4;
const MOST_ROWS: usize = 40;

/// All entries, and the scroll position.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    entries: VecDeque<Entry>,
    next: u64,
    /// Rows from the bottom to the last visible one; 0 follows new output.
    back: usize,
    /// Total rows and width when it was last drawn.
    drawn: (usize, u16),
    /// Rows visible at once.
    page: usize,
    pub(crate) selected: Option<EntryId>,
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
        self.back = 0;
        id
    }

    /// Adds a card that has ended or never ran.
    pub(crate) fn add(&mut self, card: Card, now: Duration) -> EntryId {
        self.next += 1;
        let id = EntryId(self.next);
        self.entries.push_back(Entry::new(id, card, now));
        while self.entries.len() > MOST {
            self.entries.pop_front();
        }
        id
    }

    /// Changes an entry, if it still exists.
    pub(crate) fn change(&mut self, id: EntryId, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.get_mut(id) {
            entry.take_in();
            change(entry);
            entry.height = None;
        }
    }

    pub(crate) fn get(&self, id: EntryId) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    fn get_mut(&mut self, id: EntryId) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.id == id)
    }

    /// The selected entry, or else the last one that is a command.
    pub(crate) fn current(&self) -> Option<&Entry> {
        let last = || {
            let mut commands = self.entries.iter().rev();
            commands.find(|entry| !matches!(entry.card, Card::Note(_)))
        };
        self.chosen().or_else(last)
    }

    /// The selected entry.
    pub(crate) fn chosen(&self) -> Option<&Entry> {
        self.selected.and_then(|id| self.get(id))
    }

    /// Selects the previous or next command; beyond the last, none.
    pub(crate) fn select(&mut self, backwards: bool) {
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

    /// Scrolls so that the selected entry is visible.
    fn show_selected(&mut self) {
        let Some(id) = self.selected else {
            self.back = 0;
            return;
        };
        let width = self.drawn.1;
        let mut below = 0;
        for entry in self.entries.iter().rev() {
            let height = entry
                .height
                .filter(|(of, _)| *of == width)
                .map_or(0, |(_, height)| height);
            if entry.id == id {
                let top = below + height;
                if self.back > below || top > self.back + self.page {
                    self.back = if height >= self.page {
                        top - self.page.min(top)
                    } else {
                        below
                    };
                }
                return;
            }
            below += height;
        }
    }

    /// Removes everything that is not running.
    pub(crate) fn clear(&mut self) {
        self.entries.retain(|entry| entry.live.is_some());
        (self.back, self.selected) = (0, None);
    }

    /// Scrolls by rows; up if positive.
    pub(crate) fn scroll(&mut self, rows: isize) {
        // Scrolling too far is corrected when drawing: heights may have changed since they were computed.
        self.back = self.back.saturating_add_signed(rows);
    }

    /// Scrolls by pages; up if positive.
    pub(crate) fn scroll_pages(&mut self, pages: isize) {
        let page = isize::try_from(self.page.saturating_sub(2).max(1)).unwrap_or(1);
        self.scroll(pages.saturating_mul(page));
    }

    pub(crate) fn go_to_top(&mut self) {
        self.back = usize::MAX;
    }

    pub(crate) fn go_to_bottom(&mut self) {
        self.back = 0;
    }

    /// Rows below the visible part.
    pub(crate) fn rows_below(&self) -> usize {
        self.back
    }

    /// Whether anything changes without events: a spinner, a running time.
    pub(crate) fn is_live(&self) -> bool {
        self.entries.iter().any(|entry| entry.live.is_some())
    }

    /// The files with full outputs, by their URI.
    pub(crate) fn outputs(&self) -> HashMap<String, PathBuf> {
        let of = |entry: &Entry| Some((entry.artifact?.uri(), entry.file.clone()?));
        self.entries.iter().filter_map(of).collect()
    }

    /// The command whose card was drawn in that row.
    pub(crate) fn at_row(&self, row: u16) -> Option<EntryId> {
        let mut commands = self.entries.iter();
        let is_there = |entry: &&Entry| {
            !matches!(entry.card, Card::Note(_)) && (entry.drawn.0..entry.drawn.1).contains(&row)
        };
        commands.find(is_there).map(|entry| entry.id)
    }

    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, now: Duration, theme: &Theme) {
        let width = area.width;
        let mut total = 0;
        let rows = (usize::from(area.height) / 2).clamp(LEAST_ROWS, MOST_ROWS);
        for entry in &mut self.entries {
            entry.refresh(now);
            entry.collapse_to(rows);
            total += entry.height(width, theme);
        }
        self.page = usize::from(area.height);
        if self.back > 0 && self.drawn.1 == width {
            // If the user has scrolled back, the visible part stays the same.
            let more = total.saturating_sub(self.drawn.0);
            self.back = self.back.saturating_add(more);
        }
        self.drawn = (total, width);
        self.back = self.back.min(total.saturating_sub(self.page));
        let end = total - self.back.min(total);
        let first = end.saturating_sub(self.page);
        let mut at = 0;
        for entry in &mut self.entries {
            let height = entry.height.map_or(0, |(_, height)| height);
            entry.drawn = (0, 0);
            if at + height > first && at < end {
                let skip = first.saturating_sub(at);
                let y = (at + skip - first) as u16;
                let most = (end - at - skip).min(self.page - usize::from(y));
                let is_selected = self.selected == Some(entry.id);
                // The empty row below is nobody's.
                let seen = most.min(height - skip - usize::from(height > skip)) as u16;
                entry.drawn = (area.y + y, area.y + y + seen);
                entry.draw(
                    frame,
                    Rect {
                        y: area.y + y,
                        ..area
                    },
                    skip,
                    most,
                    is_selected,
                    theme,
                );
            }
            at += height;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash::sink::{LiveKind, LiveOptions};
    use agent_bash_render::{BangCard, ToolCard};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::text::Line;

    fn note(text: &str) -> Card {
        Card::Note(
            text.lines()
                .map(|line| Line::from(line.to_owned()))
                .collect(),
        )
    }

    fn shown(transcript: &mut Transcript, width: u16, height: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let draw = |frame: &mut Frame<'_>| {
            transcript.draw(frame, frame.area(), Duration::ZERO, &Theme::plain());
        };
        terminal.draw(draw).unwrap();
        let buffer = terminal.backend().buffer();
        let rows = buffer.content().chunks(usize::from(width));
        rows.map(|row| {
            row.iter()
                .map(ratatui::buffer::Cell::symbol)
                .collect::<String>()
                .trim_end()
                .to_owned()
        })
        .collect()
    }

    #[test]
    fn the_newest_is_at_the_bottom_and_the_view_stays_where_it_was_put() {
        let mut transcript = Transcript::default();
        for text in ["a", "b\nc", "d"] {
            transcript.add(note(text), Duration::ZERO);
        }
        assert_eq!(
            shown(&mut transcript, 9, 9),
            ["a", "", "b", "c", "", "d", "", "", ""]
        );
        assert_eq!(shown(&mut transcript, 9, 4), ["c", "", "d", ""]);
        transcript.scroll(1);
        assert_eq!(shown(&mut transcript, 9, 4), ["b", "c", "", "d"]);
        transcript.add(note("e"), Duration::ZERO);
        assert_eq!(shown(&mut transcript, 9, 4), ["b", "c", "", "d"]);
        assert_eq!(transcript.rows_below(), 3);
        transcript.go_to_top();
        assert_eq!(shown(&mut transcript, 9, 4), ["a", "", "b", "c"]);
        transcript.scroll(99);
        assert_eq!(shown(&mut transcript, 9, 4), ["a", "", "b", "c"]);
        transcript.go_to_bottom();
        assert_eq!(shown(&mut transcript, 9, 4), ["d", "", "e", ""]);
    }

    #[test]
    fn what_is_no_text_is_not_shown_while_it_comes() {
        let live = LiveUpdates::new(LiveOptions::new(LiveKind::Raw, 256 << 10));
        let mut transcript = Transcript::default();
        let card = Card::Bang(Box::new(BangCard::new("cat x", false)));
        let id = transcript.start(card, &live, Waker::noop().clone(), Duration::ZERO);
        let mut screen_after = |bytes: &[u8]| {
            live.push(bytes);
            shown(&mut transcript, 40, 7)[2..4]
                .join("|")
                .trim()
                .to_owned()
        };
        // NULs as separators, and an unterminated string sequence.
        assert_eq!(
            screen_after(b"a\0b\x1bPq\n"),
            "a␀b|  running        0ms · esc to cancel"
        );
        let noise: Vec<u8> = (128..=255).collect();
        assert_eq!(
            screen_after(&noise),
            "[Binary output: 135B, not shown]|  running        0ms · esc to cancel"
        );
        // It was the beginning of a text.
        let text = [b"\n", &[b'x'; 500][..], b"\nend\n"].concat();
        assert!(screen_after(&text).ends_with("x|  end"));
        transcript.change(id, Entry::ended);
        assert!(shown(&mut transcript, 40, 20).contains(&"  end".to_owned()));
    }

    #[test]
    fn commands_are_selected_and_notes_are_not() {
        let mut transcript = Transcript::default();
        let tool = |command| Card::Tool(Box::new(ToolCard::new(command)));
        transcript.add(note("hello"), Duration::ZERO);
        let first = transcript.add(tool("one"), Duration::ZERO);
        let second = transcript.add(tool("two"), Duration::ZERO);
        assert_eq!(transcript.current().unwrap().id, second);
        for (backwards, want) in [
            (false, None),
            (true, Some(second)),
            (true, Some(first)),
            (true, Some(first)),
            (false, Some(second)),
            (false, None),
        ] {
            transcript.select(backwards);
            assert_eq!(transcript.selected, want);
        }
        transcript.select(true);
        transcript.select(true);
        assert_eq!(transcript.current().unwrap().command(), "one");
        transcript.clear();
        assert!(transcript.current().is_none());
    }
}
