//! Data of a run, and where it is stored.

use crate::transcript::EntryId;
use agent_bash::core::{Clock, Timestamp};
use agent_bash::journals::{History, HistoryEntry};
use std::collections::HashMap;

/// Data of this run, and where it is stored.
#[derive(Debug)]
pub(super) struct RunMemory {
    pub(super) file: Option<History>,
    /// Distinguishes this run from others.
    pub(super) run: String,
    /// When a command was typed last.
    last: Timestamp,
    /// Entries of commands that have not ended.
    pub(super) open: HashMap<EntryId, HistoryEntry>,
}

impl RunMemory {
    pub(super) fn new(file: Option<History>, clock: &dyn Clock) -> Self {
        let Timestamp(start) = clock.wall();
        let pid = std::process::id();
        Self {
            file,
            run: format!("{start:x}-{pid}"),
            last: Timestamp(0),
            open: HashMap::new(),
        }
    }

    /// The time of a command that is typed now. Each of several commands at once gets its own time,
    /// which distinguishes them.
    pub(super) fn typed_at(&mut self, clock: &dyn Clock) -> Timestamp {
        let Timestamp(now) = clock.wall();
        let Timestamp(last) = self.last;
        self.last = Timestamp(now.max(last + 1));
        self.last
    }
}
