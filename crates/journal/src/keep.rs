//! Retention of journals: age and total size.

use crate::recording::recordings;
use agent_bash_core::Timestamp;
use std::path::Path;
use std::time::Duration;

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
/// running process is never removed.
pub fn sweep(state: &Path, keep: RetentionLimits, now: Timestamp) -> SweptJournals {
    let longest = u64::try_from(keep.time.as_millis()).unwrap_or(u64::MAX);
    let all = recordings(state, None);
    let mut total: u64 = all.iter().map(|one| one.bytes).sum();
    let mut swept = SweptJournals::default();
    for one in all {
        let age = now.0.saturating_sub(one.written_at.0);
        if (age > longest || total > keep.bytes) && one.remove() {
            total -= one.bytes;
            swept.files += 1;
            swept.bytes += one.bytes;
        }
    }
    swept
}
