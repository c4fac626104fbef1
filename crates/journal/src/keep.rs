//! How long journals are kept, and how much of them.

use crate::recording::recordings;
use agent_bash_core::Timestamp;
use std::path::Path;
use std::time::Duration;

/// What is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// For how long after it was last written.
    pub time: Duration,
    /// Of all journals together, in bytes; the oldest go first.
    pub bytes: u64,
}

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Removes what is too old, and the oldest of what is too much. What a process still writes stays, however long it was
/// silent.
pub fn sweep(state: &Path, keep: Keep, now: Timestamp) -> Swept {
    let longest = u64::try_from(keep.time.as_millis()).unwrap_or(u64::MAX);
    let all = recordings(state, None);
    let mut total: u64 = all.iter().map(|one| one.bytes).sum();
    let mut swept = Swept::default();
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
