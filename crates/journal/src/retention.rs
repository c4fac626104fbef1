//! Retention of journals: age and total size.

use crate::DIRECTORY_NAME;
use crate::recording::{Recording, recordings, recordings_of};
use agent_bash_core::Timestamp;
use agent_bash_os::{PrivateDir, SweepBounds, SweepProgress, Visit};
use std::path::Path;
use std::time::Duration;

/// The file with the progress of the sweep, in the directory of all journals.
const PROGRESS_FILE: &str = ".swept-journals";

/// Time in milliseconds between two steps of the sweep.
const INTERVAL_MS: u64 = 10 * 60 * 1000;

/// The largest number of journals that a step examines.
const MAX_STEP_JOURNALS: u64 = 256;

/// The retention limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionLimits {
    /// The time after its last write until a journal is removed.
    pub time: Duration,
    /// Total size of all journals in bytes; the oldest are removed first.
    pub bytes: u64,
}

/// The removed journals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SweptJournals {
    /// Number of files.
    pub files: u64,
    /// Total size in bytes.
    pub bytes: u64,
}

/// Removes journals that are too old, then the oldest until the total size fits. A journal of a
/// running process is never removed. Examines every journal.
pub fn sweep(state: &Path, limits: RetentionLimits, now: Timestamp) -> SweptJournals {
    let all = recordings(state, None);
    let mut total: u64 = all.iter().map(|journal| journal.bytes).sum();
    let mut swept = SweptJournals::default();
    for journal in all {
        if (limits.is_expired(&journal, now) || total > limits.bytes) && swept.remove(&journal) {
            total -= journal.bytes;
        }
    }
    swept
}

/// Makes the next step of an incremental [`sweep`], if one is due: every ten minutes, over at most
/// 256 journals. After the last step, if the total size does not fit, removes the oldest journals.
pub fn sweep_when_due(state: &Path, limits: RetentionLimits, now: Timestamp) -> SweptJournals {
    let mut swept = SweptJournals::default();
    let bounds = SweepBounds {
        now: now.0,
        interval: INTERVAL_MS,
        items: MAX_STEP_JOURNALS,
    };
    let Ok(dir) = PrivateDir::open(state, &[DIRECTORY_NAME]) else {
        return swept;
    };
    if !SweepProgress::read(&dir, PROGRESS_FILE).is_due(bounds) {
        return swept;
    }
    let visit = |session: &str, first: u64, max_items: u64| {
        let mut visit = Visit::default();
        let mut last = first;
        let mut all = recordings_of(state, session);
        all.sort_by_key(|journal| journal.started_at);
        for journal in all.iter().filter(|journal| journal.started_at.0 >= first) {
            // The position is a time, so journals that began at the same time are examined
            // together.
            if visit.items >= max_items && journal.started_at.0 > last {
                visit.next = Some(journal.started_at.0);
                break;
            }
            visit.items += 1;
            last = journal.started_at.0;
            if !(limits.is_expired(journal, now) && swept.remove(journal)) {
                visit.bytes += journal.bytes;
            }
        }
        visit
    };
    // If the position cannot be stored, the next process repeats the step.
    let is_complete = SweepProgress::step(&dir, PROGRESS_FILE, bounds, visit);
    let total = SweepProgress::read(&dir, PROGRESS_FILE).total;
    if is_complete.unwrap_or(false) && total.is_some_and(|total| total > limits.bytes) {
        let removed = sweep(state, limits, now);
        swept.files += removed.files;
        swept.bytes += removed.bytes;
    }
    swept
}

impl RetentionLimits {
    fn is_expired(&self, journal: &Recording, now: Timestamp) -> bool {
        let age = now.0.saturating_sub(journal.written_at.0);
        Duration::from_millis(age) > self.time
    }
}

impl SweptJournals {
    /// Removes a journal and counts it. Returns false if the journal stays.
    fn remove(&mut self, journal: &Recording) -> bool {
        let is_removed = journal.remove();
        if is_removed {
            self.files += 1;
            self.bytes += journal.bytes;
        }
        is_removed
    }
}
