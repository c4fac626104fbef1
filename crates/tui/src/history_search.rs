//! The search through the history: query, scope and matches.

use crate::history::History;
use agent_bash::core::Timestamp;
use agent_bash::journals::{HistoryEnd, HistoryEntry};
use agent_bash_render::{HistoryPanel, HistoryRow, HistoryRowEnd, Theme};
use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind,
};
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::Frame;
use ratatui::layout::Rect;
use std::collections::HashSet;
use std::time::Duration;

/// Maximum number of matches.
const MAX_MATCHES: usize = 500;

const PAGE_ROWS: isize = 10;

/// The entries that a search covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HistoryScope {
    Everywhere,
    Directory,
    Run,
}

/// The search while it is open.
#[derive(Debug)]
pub(crate) struct HistorySearch {
    query: String,
    scope: HistoryScope,
    directory: String,
    run: String,
    now: Timestamp,
    matches: Vec<HistoryMatch>,
    /// Index in `matches`, the best match first.
    selected: usize,
    /// The screen row and the index of each drawn match.
    drawn: Vec<(u16, usize)>,
    matcher: Matcher,
}

#[derive(Debug)]
struct HistoryMatch {
    entry: HistoryEntry,
    /// The command on one line.
    line: String,
    /// The indices of the matching characters.
    match_indices: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SearchRequest {
    Nothing,
    Close,
    /// Put this text on the prompt.
    Accept(String),
}

impl HistorySearch {
    /// Opens a search with the prompt's text as query.
    pub(crate) fn new(query: &str, directory: String, run: String, now: Timestamp) -> Self {
        Self {
            query: query.to_owned(),
            scope: HistoryScope::Everywhere,
            directory,
            run,
            now,
            matches: Vec::new(),
            selected: 0,
            drawn: Vec::new(),
            matcher: Matcher::new(Config::DEFAULT),
        }
    }

    /// Searches the history again. The best matches are first, and among equal ones the newest.
    pub(crate) fn search(&mut self, history: &History) {
        self.selected = 0;
        let pattern = Pattern::parse(&self.query, CaseMatching::Smart, Normalization::Smart);
        let (mut seen, mut buffer) = (HashSet::new(), Vec::new());
        let mut scored: Vec<(u32, HistoryMatch)> = Vec::new();
        for entry in history.entries().iter().rev() {
            if !self.is_in_scope(entry) || !seen.insert(entry.command.as_str()) {
                continue;
            }
            let line = HistoryRow::line(&entry.command);
            let mut at = Vec::new();
            let text = Utf32Str::new(&line, &mut buffer);
            let Some(score) = pattern.indices(text, &mut self.matcher, &mut at) else {
                continue;
            };
            at.sort_unstable();
            at.dedup();
            let entry = entry.clone();
            scored.push((
                score,
                HistoryMatch {
                    entry,
                    line,
                    match_indices: at,
                },
            ));
            if self.query.is_empty() && scored.len() >= MAX_MATCHES {
                break;
            }
        }
        // The sort is stable: among equal scores, the newest stays first.
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        scored.truncate(MAX_MATCHES);
        self.matches = scored.into_iter().map(|(_, found)| found).collect();
    }

    fn is_in_scope(&self, entry: &HistoryEntry) -> bool {
        match self.scope {
            HistoryScope::Everywhere => true,
            HistoryScope::Directory => entry.directory == self.directory,
            HistoryScope::Run => entry.session == self.run,
        }
    }

    pub(crate) fn event(&mut self, event: &Event, history: &History) -> SearchRequest {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                return self.key(*key, history);
            }
            Event::Paste(text) => {
                self.query.extend(text.chars().filter(|c| !c.is_control()));
                self.search(history);
            }
            Event::Mouse(mouse) => match mouse.kind {
                MouseEventKind::ScrollUp => self.move_selection(1),
                MouseEventKind::ScrollDown => self.move_selection(-1),
                MouseEventKind::Down(MouseButton::Left) => return self.click(mouse.row),
                _ => {}
            },
            _ => {}
        }
        SearchRequest::Nothing
    }

    fn key(&mut self, key: KeyEvent, history: &History) -> SearchRequest {
        const CTRL: KeyModifiers = KeyModifiers::CONTROL;
        match (key.code, key.modifiers) {
            (KeyCode::Esc, _) | (KeyCode::Char('c' | 'g'), CTRL) => return SearchRequest::Close,
            (KeyCode::Enter | KeyCode::Tab, _) => return self.accept(),
            (KeyCode::Char('r'), CTRL) => {
                self.scope = match self.scope {
                    HistoryScope::Everywhere => HistoryScope::Directory,
                    HistoryScope::Directory => HistoryScope::Run,
                    HistoryScope::Run => HistoryScope::Everywhere,
                };
                self.search(history);
            }
            (KeyCode::Up, _) | (KeyCode::Char('p'), CTRL) => self.move_selection(1),
            (KeyCode::Down, _) | (KeyCode::Char('n'), CTRL) => self.move_selection(-1),
            (KeyCode::PageUp, _) => self.move_selection(PAGE_ROWS),
            (KeyCode::PageDown, _) => self.move_selection(-PAGE_ROWS),
            (KeyCode::Backspace, _) => {
                self.query.pop();
                self.search(history);
            }
            (KeyCode::Char('u'), CTRL) => {
                self.query.clear();
                self.search(history);
            }
            (KeyCode::Char('w'), CTRL) => {
                let rest = self.query.trim_end();
                let end = rest.rfind(' ').map_or(0, |at| at + 1);
                self.query.truncate(end);
                self.search(history);
            }
            (KeyCode::Char(c), held) if !held.intersects(CTRL | KeyModifiers::ALT) => {
                self.query.push(c);
                self.search(history);
            }
            _ => {}
        }
        SearchRequest::Nothing
    }

    /// Handles a click: the first one selects a match, the second accepts it.
    fn click(&mut self, row: u16) -> SearchRequest {
        match self.drawn.iter().find(|(y, _)| *y == row) {
            Some((_, at)) if *at == self.selected => return self.accept(),
            Some((_, at)) => self.selected = *at,
            None => {}
        }
        SearchRequest::Nothing
    }

    fn accept(&self) -> SearchRequest {
        match self.matches.get(self.selected) {
            Some(found) => SearchRequest::Accept(found.entry.command.clone()),
            None => SearchRequest::Nothing,
        }
    }

    fn move_selection(&mut self, by: isize) {
        let last = self.matches.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
    }

    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, home: &str, theme: &Theme) {
        let rows: Vec<HistoryRow<'_>> = self
            .matches
            .iter()
            .map(|found| self.row(found, home))
            .collect();
        let scope = match self.scope {
            HistoryScope::Everywhere => "everywhere",
            HistoryScope::Directory => "this directory",
            HistoryScope::Run => "this run",
        };
        let panel = HistoryPanel {
            query: &self.query,
            scope,
            rows: &rows,
            selected: self.selected,
        };
        panel.render(area, frame.buffer_mut(), theme);
        let drawn = (area.y..area.bottom()).filter_map(|y| Some((y, panel.at(area, y)?)));
        self.drawn = drawn.collect();
    }

    fn row<'a>(&'a self, found: &'a HistoryMatch, home: &str) -> HistoryRow<'a> {
        let entry = &found.entry;
        let end = match entry.end {
            Some(HistoryEnd::Exit(0) | HistoryEnd::Background) => HistoryRowEnd::Succeeded,
            Some(HistoryEnd::Blocked) => HistoryRowEnd::Refused,
            Some(HistoryEnd::Cancelled) => HistoryRowEnd::Cancelled,
            Some(HistoryEnd::TimedOut) => HistoryRowEnd::TimedOut,
            Some(HistoryEnd::Exit(_) | HistoryEnd::Killed | HistoryEnd::NotStarted) => {
                HistoryRowEnd::Failed
            }
            Some(HistoryEnd::Lost) | None => HistoryRowEnd::Unknown,
        };
        let directory = match entry.directory.strip_prefix(home) {
            Some("") if !home.is_empty() => "~".to_owned(),
            Some(rest) if rest.starts_with('/') && !home.is_empty() => format!("~{rest}"),
            _ => entry.directory.clone(),
        };
        HistoryRow {
            end,
            duration: entry.took_ms.map(Duration::from_millis),
            age: Duration::from_millis(self.now.0.saturating_sub(entry.at.0)),
            line: &found.line,
            command: &found.entry.command,
            matched: &found.match_indices,
            directory,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::tests::entry;

    fn history() -> History {
        let mut history = History::default();
        for (at, command, directory) in [
            (1, "cargo test -p render", "/work"),
            (2, "git checkout main", "/other"),
            (3, "cargo build", "/other"),
            (4, "cargo test -p render", "/other"),
            (5, "printf 'a\nb'", "/work"),
        ] {
            history.add(HistoryEntry {
                directory: directory.to_owned(),
                ..entry(at, command)
            });
        }
        history
    }

    fn key(search: &mut HistorySearch, code: KeyCode, held: KeyModifiers) -> SearchRequest {
        search.event(&Event::Key(KeyEvent::new(code, held)), &history())
    }

    fn lines(search: &HistorySearch) -> Vec<&str> {
        search.matches.iter().map(|found| &*found.line).collect()
    }

    #[test]
    fn parts_of_words_find_each_command_once() {
        let mut search = HistorySearch::new("", "/work".into(), "one".into(), Timestamp(9));
        search.search(&history());
        let all = [
            "printf 'a⏎b'", "cargo test -p render", "cargo build", "git checkout main",
        ];
        assert_eq!(lines(&search), all);
        for c in "ctr".chars() {
            key(&mut search, KeyCode::Char(c), KeyModifiers::NONE);
        }
        assert_eq!(lines(&search), ["cargo test -p render"]);
        for code in [KeyCode::Enter, KeyCode::Tab] {
            let taken = key(&mut search, code, KeyModifiers::NONE);
            assert_eq!(taken, SearchRequest::Accept("cargo test -p render".into()));
        }
        key(&mut search, KeyCode::Char('x'), KeyModifiers::NONE);
        let taken = key(&mut search, KeyCode::Tab, KeyModifiers::NONE);
        assert_eq!(taken, SearchRequest::Nothing);
        key(&mut search, KeyCode::Char('u'), KeyModifiers::CONTROL);
        assert_eq!(lines(&search), all);
    }

    #[test]
    fn first_click_selects_and_second_accepts() {
        use ratatui::{Terminal, backend::TestBackend};
        let mut search = HistorySearch::new("", "/work".into(), "one".into(), Timestamp(9));
        search.search(&history());
        let mut terminal = Terminal::new(TestBackend::new(80, 10)).unwrap();
        let mut click = |search: &mut HistorySearch, row| {
            let draw = |frame: &mut Frame<'_>| {
                search.draw(frame, frame.area(), "/", &Theme::plain());
            };
            terminal.draw(draw).unwrap();
            search.event(&crate::app::pressed_at(9, row), &history())
        };
        // The best match is in row 7, above the query.
        assert_eq!(click(&mut search, 8), SearchRequest::Nothing);
        assert_eq!(click(&mut search, 5), SearchRequest::Nothing);
        assert_eq!(search.selected, 2);
        let taken = click(&mut search, 5);
        assert_eq!(taken, SearchRequest::Accept("cargo build".into()));
    }

    #[test]
    fn search_can_be_limited_to_a_directory() {
        let mut search = HistorySearch::new("", "/work".into(), "none".into(), Timestamp(9));
        search.search(&history());
        key(&mut search, KeyCode::Char('r'), KeyModifiers::CONTROL);
        assert_eq!(lines(&search), ["printf 'a⏎b'", "cargo test -p render"]);
        key(&mut search, KeyCode::Char('r'), KeyModifiers::CONTROL);
        assert!(lines(&search).is_empty());
        key(&mut search, KeyCode::Char('r'), KeyModifiers::CONTROL);
        assert_eq!(search.matches.len(), 4);
        key(&mut search, KeyCode::Up, KeyModifiers::NONE);
        let taken = key(&mut search, KeyCode::Enter, KeyModifiers::NONE);
        assert_eq!(taken, SearchRequest::Accept("cargo test -p render".into()));
    }
}
