//! The history of typed commands: its file, and the entries of this run whose
//! commands have not ended.

use crate::transcript::EntryId;
use agent_bash::core::{Clock, Timestamp};
use agent_bash::journals::{History, HistoryEntry};
use std::collections::HashMap;

/// The history of typed commands during this run.
#[derive(Debug)]
pub(super) struct RunHistory {
    pub(super) file: Option<History>,
    /// Distinguishes this run from others.
    pub(super) run: String,
    /// The time of the last typed command.
    last_typed: Timestamp,
    /// Entries of commands that have not ended.
    pub(super) running: HashMap<EntryId, HistoryEntry>,
}

impl RunHistory {
    pub(super) fn new(file: Option<History>, clock: &dyn Clock) -> Self {
        let Timestamp(start) = clock.wall();
        let pid = std::process::id();
        Self {
            file,
            run: format!("{start:x}-{pid}"),
            last_typed: Timestamp(0),
            running: HashMap::new(),
        }
    }

    /// Returns the time of a command that is typed now. Commands typed within one millisecond get
    /// different times, which distinguish them.
    pub(super) fn typed_at(&mut self, clock: &dyn Clock) -> Timestamp {
        let Timestamp(now) = clock.wall();
        let Timestamp(last) = self.last_typed;
        self.last_typed = Timestamp(now.max(last + 1));
        self.last_typed
    }
}
