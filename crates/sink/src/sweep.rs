//! What is past its time: artifacts of dead processes, and of yesterday.

use crate::allocate::{COUNTER, forget};
use crate::artifact_dir::{ArtifactInfo, Cleared, Removed, ids, info};
use crate::artifact_options::DIRECTORY;
use crate::private_dir::PrivateDir;
use crate::sidecar::{Lifetime, Sidecar};
use agent_bash_core::Timestamp;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A day, in milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// How long the number of the next artifact is remembered after the last one was made: longer than anybody goes back to a
/// conversation.
const REMEMBERED: u64 = 365 * DAY;

/// Beside the sessions: when they were swept last, by its time of change. No session is called so.
const STAMP: &str = ".swept";

/// How long what is past its time may wait for a program that makes one call, which would look at every artifact for it.
const INTERVAL: u64 = 60 * 60 * 1000;

/// As [`sweep`], if that was not done within the last hour.
pub(crate) fn sweep_when_due(root: &Path, now: Timestamp) -> Removed {
    let Ok(dir) = PrivateDir::open(root, &[]) else {
        // Nothing was ever kept there.
        return Removed::default();
    };
    let last = dir.metadata(STAMP).and_then(|stamp| stamp.modified());
    let age = last.map(|last| now.0.checked_sub(Timestamp::from(last).0));
    // A stamp of the future is none: the clock was set back.
    if matches!(age, Ok(Some(age)) if age < INTERVAL) {
        return Removed::default();
    }
    // Before, so that of many programs one does it. Where it cannot be written, each does.
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

/// Removes what nobody uses, whatever its age: finished artifacts, unless `keep` says otherwise or they go with a session
/// that another process still has; and what is past its time.
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
        let theirs = !dead && !sidecar.owner.is_me();
        let used = match info(dir, &sidecar) {
            None => !dead,
            Some(info) => (theirs && sidecar.lifetime == Lifetime::Session) || keep(&info),
        };
        if used {
            cleared.kept += 1;
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
            // Unreadable: it goes by its age, like any stray file.
            Err(_) => {}
        }
    }
    // Left by a process that was killed between two steps.
    let names = dir.names().unwrap_or_default();
    for name in names.iter().filter(|name| !known.contains(*name)) {
        if is_older(dir, name, now, DAY) {
            // Next time, then.
            let _ = dir.remove(name);
        }
    }
    if dir.metadata(COUNTER).is_err() || is_older(dir, COUNTER, now, REMEMBERED) {
        forget(dir);
    }
}

/// Whether an artifact may go at the next start. `dead`: so is whoever made it.
fn is_past(sidecar: &Sidecar, dead: bool, dir: &PrivateDir, now: Timestamp) -> bool {
    match (&sidecar.done, sidecar.lifetime) {
        // Never finished, and nobody left to do it.
        (None, _) => dead,
        (Some(done), Lifetime::Session) if !done.shared => dead,
        (Some(_), Lifetime::Session | Lifetime::Day) => is_older(dir, &sidecar.file, now, DAY),
        (Some(_), Lifetime::Kept) => false,
    }
}

/// Whether nobody writes an artifact any more, so that it may go where room is needed.
pub(crate) fn is_settled(sidecar: &Sidecar, dead: bool, dir: &PrivateDir, now: Timestamp) -> bool {
    match &sidecar.done {
        None => dead,
        Some(done) => !done.shared || is_older(dir, &sidecar.file, now, DAY),
    }
}

/// Whether a file was last written so many milliseconds ago or longer.
fn is_older(dir: &PrivateDir, name: &str, now: Timestamp, age: u64) -> bool {
    dir.metadata(name)
        .and_then(|metadata| metadata.modified())
        .is_ok_and(|modified| now.0.saturating_sub(Timestamp::from(modified).0) >= age)
}
