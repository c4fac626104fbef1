//! Retention of journals: age and total size.

use crate::recording::{Recording, of_session, recordings};
use agent_bash_core::Timestamp;
use agent_bash_os::{PrivateDir, SweepBounds, SweepProgress, Visit};
use std::path::Path;
use std::time::Duration;

/// The file with the progress of the sweep, in the state directory.
const PROGRESS_FILE: &str = ".swept-journals";

/// Milliseconds between two steps of the sweep.
const INTERVAL_MS: u64 = 10 * 60 * 1000;

/// The largest number of journals that a step looks at.
const MAX_STEP_JOURNALS: u64 = 256;

/// The retention limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionLimits {
    /// Time since the last write of a journal.
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
/// running process is never removed. Looks at every journal.
pub fn sweep(state: &Path, keep: RetentionLimits, now: Timestamp) -> SweptJournals {
    let all = recordings(state, None);
    let mut total: u64 = all.iter().map(|one| one.bytes).sum();
    let mut swept = SweptJournals::default();
    for one in all {
        if (keep.is_past(&one, now) || total > keep.bytes) && swept.remove(&one) {
            total -= one.bytes;
        }
    }
    swept
}

/// Makes the next step of a sweep like [`sweep`], if one is due: every ten minutes, over at most
/// 256 journals. When all were counted and the total size does not fit, the oldest are removed.
pub fn sweep_when_due(state: &Path, keep: RetentionLimits, now: Timestamp) -> SweptJournals {
    let mut swept = SweptJournals::default();
    let bounds = SweepBounds {
        now: now.0,
        interval: INTERVAL_MS,
        items: MAX_STEP_JOURNALS,
    };
    let Ok(dir) = PrivateDir::open(state, &[]) else {
        return swept;
    };
    if !SweepProgress::read(&dir, PROGRESS_FILE).is_due(bounds) {
        return swept;
    }
    let visit = |session: &str, from: u64, most: u64| {
        let mut visit = Visit::default();
        let mut last = from;
        let mut all = of_session(state, session);
        all.sort_by_key(|one| one.started_at);
        for one in all.iter().filter(|one| one.started_at.0 >= from) {
            // Journals that were begun at one time are looked at together.
            if visit.items >= most && one.started_at.0 > last {
                visit.next = Some(one.started_at.0);
                break;
            }
            visit.items += 1;
            last = one.started_at.0;
            if !(keep.is_past(one, now) && swept.remove(one)) {
                visit.bytes += one.bytes;
            }
        }
        visit
    };
    // Without a position, the next process repeats the step.
    let is_complete = SweepProgress::step(&dir, PROGRESS_FILE, bounds, visit);
    let total = SweepProgress::read(&dir, PROGRESS_FILE).total;
    if is_complete.unwrap_or(false) && total.is_some_and(|total| total > keep.bytes) {
        let more = sweep(state, keep, now);
        swept.files += more.files;
        swept.bytes += more.bytes;
    }
    swept
}

impl RetentionLimits {
    fn is_past(&self, one: &Recording, now: Timestamp) -> bool {
        let age = now.0.saturating_sub(one.written_at.0);
        Duration::from_millis(age) > self.time
    }
}

impl SweptJournals {
    /// Removes a journal and counts it if that worked.
    fn remove(&mut self, one: &Recording) -> bool {
        let is_removed = one.remove();
        if is_removed {
            self.files += 1;
            self.bytes += one.bytes;
        }
        is_removed
    }
}
