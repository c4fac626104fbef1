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
            open: HashMap::new(),
        }
    }
}
