//! Decides which artifacts have expired, and which ones may be evicted.

use crate::sidecar::{Lifetime, Sidecar};
use agent_bash_core::Timestamp;
use agent_bash_os::PrivateDir;

/// A day, in milliseconds.
pub(crate) const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// True if an artifact has expired. `is_dead`: its owner has ended.
pub(crate) fn is_expired(
    sidecar: &Sidecar,
    is_dead: bool,
    dir: &PrivateDir,
    now: Timestamp,
) -> bool {
    match (&sidecar.done, sidecar.lifetime) {
        // If the owner has ended, the artifact will never be finished.
        (None, _) => is_dead,
        (Some(done), Lifetime::Session) if !done.shared => is_dead,
        (Some(_), Lifetime::Session | Lifetime::Day) => is_older(dir, &sidecar.file, now, DAY_MS),
        (Some(_), Lifetime::Timed) => false,
    }
}

/// True if no process writes the artifact any more, so that it may be evicted. `is_dead`: its owner
/// has ended.
pub(crate) fn is_settled(
    sidecar: &Sidecar,
    is_dead: bool,
    dir: &PrivateDir,
    now: Timestamp,
) -> bool {
    match &sidecar.done {
        None => is_dead,
        // Other processes may write a shared artifact until its file is unchanged for a day.
        Some(done) => !done.shared || is_older(dir, &sidecar.file, now, DAY_MS),
    }
}

/// True if a file was last written at least `age` milliseconds ago.
pub(crate) fn is_older(dir: &PrivateDir, name: &str, now: Timestamp, age: u64) -> bool {
    dir.metadata(name)
        .and_then(|metadata| metadata.modified())
        .is_ok_and(|modified| now.0.saturating_sub(Timestamp::from(modified).0) >= age)
}
