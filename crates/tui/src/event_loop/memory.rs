//! What is remembered of a run, and where it is kept.

use crate::transcript::EntryId;
use agent_bash::core::{Clock, Timestamp};
use agent_bash::journals::{History, HistoryEntry};
use std::collections::HashMap;

/// What is remembered of this run, and where it is kept.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) file: Option<History>,
    /// Tells this run from others.
    pub(super) run: String,
    /// When something was typed last.
    last: Timestamp,
    /// What has not ended.
    pub(super) open: HashMap<EntryId, HistoryEntry>,
}

impl Memory {
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

    /// When something is typed now: of several at once each has a time of its own, which tells them apart.
    pub(super) fn typed_at(&mut self, clock: &dyn Clock) -> Timestamp {
        let Timestamp(now) = clock.wall();
        let Timestamp(last) = self.last;
        self.last = Timestamp(now.max(last + 1));
        self.last
    }
}
