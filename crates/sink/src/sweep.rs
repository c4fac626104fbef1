//! Removes expired artifacts: those of dead processes and those older than a day.

use crate::allocate::{COUNTER, forget};
use crate::artifact_list::{ArtifactInfo, Cleared, Removed, ids, info};
use crate::artifact_options::DIRECTORY;
use crate::sidecar::{Lifetime, Sidecar};
use agent_bash_core::Timestamp;
use agent_bash_os::{PrivateDir, ProcessIdentity};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A day, in milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// How long the counter is kept after the last artifact: longer than a user returns to a
/// conversation.
const REMEMBERED: u64 = 365 * DAY;

/// Its change time is the time of the last sweep. Stored beside the session directories; no session
/// can have this name.
const STAMP: &str = ".swept";

/// Minimum time between sweeps for programs that make a single call: a sweep looks at every
/// artifact.
const INTERVAL: u64 = 60 * 60 * 1000;

/// As [`sweep`], unless one ran within the last hour.
pub(crate) fn sweep_when_due(root: &Path, now: Timestamp) -> Removed {
    let Ok(dir) = PrivateDir::open(root, &[]) else {
        // Nothing was ever stored there.
        return Removed::default();
    };
    let last = dir.metadata(STAMP).and_then(|stamp| stamp.modified());
    let age = last.map(|last| now.0.checked_sub(Timestamp::from(last).0));
    // A stamp from the future does not count: the clock was set back.
    if matches!(age, Ok(Some(age)) if age < INTERVAL) {
        return Removed::default();
    }
    // Stamped before the sweep, so that only one of several programs sweeps. If it cannot be
    // written, each of them does.
    let _ = dir.replace(STAMP, b"");
    sweep(root, now)
}

/// Sweeps all sessions under `root`. What cannot be read or is not ours stays.
pub(crate) fn sweep(root: &Path, now: Timestamp) -> Removed {
    let mut removed = Removed::default();
    let Ok(entries) = fs::read_dir(root) else {
        return removed;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if let Ok(dir) = PrivateDir::open(root, &[name, DIRECTORY]) {
            sweep_dir(&dir, now, &mut removed);
        }
    }
    removed
}

/// Removes unused files of any age: expired artifacts, and finished ones except those that `keep`
/// selects and those of a running session of another process.
pub(crate) fn clear(
    dir: &PrivateDir,
    now: Timestamp,
    keep: impl Fn(&ArtifactInfo) -> bool,
) -> Cleared {
    let mut cleared = Cleared::default();
    for id in ids(dir) {
        let Ok((sidecar, dead)) = Sidecar::read_settled(dir, id) else {
            continue;
        };
        let theirs = !dead && sidecar.owner != ProcessIdentity::current();
        let used = match info(dir, &sidecar) {
            None => !dead,
            Some(info) => (theirs && sidecar.lifetime == Lifetime::Session) || keep(&info),
        };
        if used {
            cleared.in_use += 1;
        } else {
            cleared.removed.take(&sidecar, dir);
        }
    }
    sweep_dir(dir, now, &mut cleared.removed);
    cleared
}

fn sweep_dir(dir: &PrivateDir, now: Timestamp, removed: &mut Removed) {
    let mut known: BTreeSet<String> = BTreeSet::from([COUNTER.to_owned()]);
    for id in ids(dir) {
        let name = Sidecar::name(id);
        match Sidecar::read_settled(dir, id) {
            Ok((sidecar, dead)) if is_past(&sidecar, dead, dir, now) => {
                removed.take(&sidecar, dir);
            }
            Ok((sidecar, _)) => known.extend([name, sidecar.file]),
            // Unreadable: expires by age, like any stray file.
            Err(_) => {}
        }
    }
    // Leftovers of a process that was killed between two steps.
    let names = dir.names().unwrap_or_default();
    for name in names.iter().filter(|name| !known.contains(*name)) {
        if is_older(dir, name, now, DAY) {
            // The next sweep will try again.
            let _ = dir.remove(name);
        }
    }
    if dir.metadata(COUNTER).is_err() || is_older(dir, COUNTER, now, REMEMBERED) {
        forget(dir);
    }
}

/// Whether an artifact has expired. `dead`: its owner has ended.
fn is_past(sidecar: &Sidecar, dead: bool, dir: &PrivateDir, now: Timestamp) -> bool {
    match (&sidecar.done, sidecar.lifetime) {
        // The artifact was never finished, and its process has ended.
        (None, _) => dead,
        (Some(done), Lifetime::Session) if !done.shared => dead,
        (Some(_), Lifetime::Session | Lifetime::Day) => is_older(dir, &sidecar.file, now, DAY),
        (Some(_), Lifetime::Timed) => false,
    }
}

/// Whether an artifact has no writer any more, and may be evicted.
pub(crate) fn is_settled(sidecar: &Sidecar, dead: bool, dir: &PrivateDir, now: Timestamp) -> bool {
    match &sidecar.done {
        None => dead,
        Some(done) => !done.shared || is_older(dir, &sidecar.file, now, DAY),
    }
}

/// Whether a file was last written at least `age` milliseconds ago.
fn is_older(dir: &PrivateDir, name: &str, now: Timestamp, age: u64) -> bool {
    dir.metadata(name)
        .and_then(|metadata| metadata.modified())
        .is_ok_and(|modified| now.0.saturating_sub(Timestamp::from(modified).0) >= age)
}
