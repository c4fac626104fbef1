//! The history of typed commands, and the recall (↑, ↓) of entries that begin like the typed line.

use agent_bash::journals::HistoryEntry;

/// Maximum number of entries.
const MAX_ENTRIES: usize = 20_000;

/// The entries, oldest first.
#[derive(Debug, Default)]
pub(crate) struct History {
    entries: Vec<HistoryEntry>,
    recall: Option<HistoryRecall>,
}

/// A recall of entries that begin with the typed text.
#[derive(Debug)]
struct HistoryRecall {
    typed: String,
    /// Index of the shown entry; the number of entries while the typed text is shown.
    shown: usize,
}

impl History {
    pub(crate) fn entries(&self) -> &[HistoryEntry] {
        &self.entries
    }

    /// Adds a command, or the outcome of one.
    pub(crate) fn add(&mut self, entry: HistoryEntry) {
        self.recall = None;
        let known = self
            .entries
            .iter_mut()
            .rev()
            .find(|known| entry.replaces(known));
        match known {
            Some(known) => *known = entry,
            None => self.entries.push(entry),
        }
        let over = self.entries.len().saturating_sub(MAX_ENTRIES);
        self.entries.drain(..over);
    }

    /// Adds stored entries. Keeps this run's own entries, because their stored copies have the
    /// secrets removed.
    pub(crate) fn merge_stored(&mut self, stored: Vec<HistoryEntry>, run: &str) {
        self.recall = None;
        let is_own = |entry: &HistoryEntry| entry.session == run;
        self.entries.retain(is_own);
        self.entries
            .extend(stored.into_iter().filter(|entry| !is_own(entry)));
        self.entries.sort_by_key(|entry| entry.at);
        let over = self.entries.len().saturating_sub(MAX_ENTRIES);
        self.entries.drain(..over);
    }

    /// Ends the recall, because the typed text has changed.
    pub(crate) fn end_recall(&mut self) {
        self.recall = None;
    }

    /// Returns true while the prompt shows an entry.
    pub(crate) fn is_recalling(&self) -> bool {
        self.recall.is_some()
    }

    /// Returns the next older or newer entry that differs from `text`, the shown line, and begins
    /// like the text that was typed before the recall.
    pub(crate) fn recall(&mut self, older: bool, text: &str) -> Option<String> {
        let end = self.entries.len();
        let recall = self.recall.get_or_insert_with(|| HistoryRecall {
            typed: text.to_owned(),
            shown: end,
        });
        let fits = |at: &usize| {
            let command = &self.entries[*at].command;
            command.starts_with(&recall.typed) && command != text
        };
        let found = if older {
            (0..recall.shown).rev().find(fits)
        } else {
            (recall.shown.saturating_add(1)..end).find(fits)
        };
        match found {
            Some(at) => {
                recall.shown = at;
                Some(self.entries[at].command.clone())
            }
            None if !older && recall.shown < end => {
                recall.shown = end;
                Some(recall.typed.clone())
            }
            None => None,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use agent_bash::core::Timestamp;

    pub(crate) fn entry(at: u64, command: &str) -> HistoryEntry {
        HistoryEntry {
            at: Timestamp(at),
            command: command.to_owned(),
            directory: "/work".to_owned(),
            session: "one".to_owned(),
            end: None,
            took_ms: None,
        }
    }

    #[test]
    fn recall_visits_entries_with_the_typed_beginning() {
        let mut history = History::default();
        let typed = ["cd a", "make", "cd b", "cd b", "ls"];
        for (at, command) in typed.into_iter().enumerate() {
            history.add(entry(at as u64, command));
        }
        let mut shown = "cd".to_owned();
        for (older, want) in [
            (true, Some("cd b")),
            (true, Some("cd a")),
            (true, None),
            (false, Some("cd b")),
            (false, Some("cd")),
            (false, None),
        ] {
            let next = history.recall(older, &shown);
            assert_eq!(next.as_deref(), want, "{older} from {shown}");
            shown = next.unwrap_or(shown);
        }
        history.end_recall();
        assert_eq!(history.recall(true, "").as_deref(), Some("ls"));
        assert_eq!(history.recall(true, "ls").as_deref(), Some("cd b"));
        assert_eq!(history.recall(true, "cd b").as_deref(), Some("make"));
    }

    #[test]
    fn stored_entries_of_other_runs_are_sorted_in_by_time() {
        let mut history = History::default();
        history.add(entry(5, "login --password hunter22"));
        let other = |at, command| HistoryEntry {
            session: "two".to_owned(),
            ..entry(at, command)
        };
        let stored = vec![
            other(4, "old"),
            entry(5, "login --password [hidden]"),
            other(6, "new"),
        ];
        for _ in 0..2 {
            history.merge_stored(stored.clone(), "one");
            let commands = history.entries().iter().map(|entry| &*entry.command);
            let commands: Vec<&str> = commands.collect();
            assert_eq!(commands, ["old", "login --password hunter22", "new"]);
        }
    }
}
