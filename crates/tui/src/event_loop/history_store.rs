//! Stores typed commands, and reads the stored history.

use super::EventLoop;
use crate::app::{Effect, Msg};
use crate::calls::CallEnd;
use crate::history_search::HistorySearch;
use crate::transcript::EntryId;
use agent_bash::journals::HistoryEntry;

impl EventLoop {
    /// Carries out effects of the prompt.
    pub(super) fn act_on_prompt(&mut self, effect: Effect) {
        match effect {
            Effect::StoreTyped { entry, command } => self.add_typed(entry, command),
            Effect::OpenSearch => self.search_history(),
            Effect::Complete { before } => self.look_for_completions(before),
            Effect::LookUp(path) => self.look_up(path),
            // The event loop or another module handles these.
            _ => {}
        }
    }

    /// Stores a typed command that has started, or will never start.
    fn add_typed(&mut self, entry: Option<EntryId>, command: String) {
        let directory = self.directory_of(&command);
        let typed = HistoryEntry {
            at: self.history.typed_at(&*self.clock),
            command,
            directory: directory.display().to_string(),
            session: self.history.run.clone(),
            end: None,
            took_ms: None,
        };
        self.store(&typed);
        self.history
            .running
            .extend(entry.map(|entry| (entry, typed)));
    }

    /// Stores the outcome of a command.
    pub(super) fn store_outcome(&mut self, entry: EntryId, end: &CallEnd) {
        if let Some(mut typed) = self.history.running.remove(&entry) {
            let (outcome, took_ms) = end.for_history();
            (typed.end, typed.took_ms) = (Some(outcome), took_ms);
            self.store(&typed);
        }
    }

    fn store(&mut self, typed: &HistoryEntry) {
        self.app.prompt.history.add(typed.clone());
        let Some(file) = self.history.file.clone() else {
            return;
        };
        let (typed, sender) = (typed.clone(), self.sender.clone());
        self.tasks.spawn_blocking(move || {
            if let Err(error) = file.add(&typed) {
                let _ = sender.send(Msg::HistoryNotStored(error.to_string()));
            }
        });
    }

    /// Reads the stored history, including the entries of other runs.
    pub(super) fn read_history(&mut self) {
        let Some(file) = self.history.file.clone() else {
            return;
        };
        let run = self.history.run.clone();
        self.read_in_background(move || match file.entries() {
            Ok(entries) => Msg::History { entries, run },
            Err(error) => Msg::HistoryNotStored(error.to_string()),
        });
    }

    /// Opens the search, and reads entries that other interfaces have added.
    fn search_history(&mut self) {
        let directory = self.app.directory.directory.display().to_string();
        let query = self.app.prompt.text();
        let (run, now) = (self.history.run.clone(), self.clock.wall());
        let mut search = HistorySearch::new(&query, directory, run, now);
        search.search(&self.app.prompt.history);
        self.app.search = Some(Box::new(search));
        self.read_history();
    }
}
