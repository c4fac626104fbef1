//! Typed commands: the stored history and its search.

use super::{App, Effect};
use crate::history_search::SearchRequest;
use crate::transcript::EntryId;
use agent_bash::journals::HistoryEntry;
use crossterm::event::Event;

impl App {
    /// Empties the prompt after its line has started or was queued. A queued line is stored when it
    /// starts.
    pub(super) fn submitted(&mut self, started: Option<EntryId>) {
        let command = self.prompt.text();
        self.prompt.clear();
        if started.is_some() {
            self.store_typed(started, command);
        }
    }

    /// Stores a command that has started, or will never start. A leading blank keeps it out of the
    /// history.
    pub(super) fn store_typed(&mut self, entry: Option<EntryId>, command: String) {
        if !command.starts_with(' ') {
            self.effects.push(Effect::StoreTyped { entry, command });
        }
    }

    /// Merges the stored history.
    pub(super) fn history_read(&mut self, stored: Vec<HistoryEntry>, run: &str) {
        self.prompt.history.merge_stored(stored, run);
        if let Some(search) = &mut self.search {
            search.search(&self.prompt.history);
        }
    }

    pub(super) fn search_event(&mut self, event: &Event) {
        let Some(search) = &mut self.search else {
            return;
        };
        match search.event(event, &self.prompt.history) {
            SearchRequest::Nothing => {}
            SearchRequest::Close => self.search = None,
            SearchRequest::Accept(command) => {
                self.search = None;
                self.prompt.replace(&command, false);
            }
        }
    }
}
