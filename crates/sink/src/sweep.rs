//! What is past its time: artifacts of dead processes, and of yesterday.

use crate::allocate::{COUNTER, remove_if_empty};
use crate::artifact_dir::{ArtifactInfo, Cleared, Removed, ids, info};
use crate::artifact_options::{Naming, PAGED_PREFIX};
use crate::private_dir::PrivateDir;
use crate::sidecar::{Lifetime, Sidecar};
use agent_bash_core::Timestamp;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A day, in milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// Sweeps all sessions under `root`. What cannot be read or is not ours stays.
pub(crate) fn sweep(root: &Path, naming: Naming, now: Timestamp) -> Removed {
    let mut removed = Removed::default();
    let Ok(entries) = fs::read_dir(root) else {
        return removed;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let below = match naming {
            Naming::Numbered => vec![name, "artifacts"],
            Naming::Paged if name.starts_with(PAGED_PREFIX) => vec![name],
            Naming::Paged => continue,
        };
        if let Ok(dir) = PrivateDir::open(root, &below)
            && (naming == Naming::Numbered || is_artifact_dir(&dir))
        {
            sweep_dir(&dir, now, &mut removed);
        }
    }
    removed
}

/// Whether artifacts are, or were, kept in it: among temporary files others may have a name like ours.
fn is_artifact_dir(dir: &PrivateDir) -> bool {
    dir.metadata(COUNTER).is_ok()
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
        let Ok(sidecar) = Sidecar::read(dir, id) else {
            continue;
        };
        let theirs = !sidecar.owner.is_dead() && !sidecar.owner.is_me();
        let used = match info(dir, &sidecar) {
            None => !sidecar.owner.is_dead(),
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
        match Sidecar::read(dir, id) {
            Ok(sidecar) if is_past(&sidecar, dir, now) => removed.take(&sidecar, dir),
            Ok(sidecar) => known.extend([name, sidecar.file]),
            // Unreadable: it goes by its age, like any stray file.
            Err(_) => {}
        }
    }
    // Left by a process that was killed between two steps.
    let names = dir.names().unwrap_or_default();
    for name in names.iter().filter(|name| !known.contains(*name)) {
        if is_old(dir, name, now) {
            // Next time, then.
            let _ = dir.remove(name);
        }
    }
    remove_if_empty(dir);
}

/// Whether an artifact may go at the next start.
fn is_past(sidecar: &Sidecar, dir: &PrivateDir, now: Timestamp) -> bool {
    match (&sidecar.done, sidecar.lifetime) {
        // Never finished, and nobody left to do it.
        (None, _) => sidecar.owner.is_dead(),
        (Some(done), Lifetime::Session) if !done.shared => sidecar.owner.is_dead(),
        (Some(_), Lifetime::Session | Lifetime::Day) => is_old(dir, &sidecar.file, now),
        (Some(_), Lifetime::Kept) => false,
    }
}

/// Whether nobody writes an artifact any more, so that it may go where room is needed.
pub(crate) fn is_settled(sidecar: &Sidecar, dir: &PrivateDir, now: Timestamp) -> bool {
    match &sidecar.done {
        None => sidecar.owner.is_dead(),
        Some(done) => !done.shared || is_old(dir, &sidecar.file, now),
    }
}

/// Whether a file was last written a day ago or longer.
fn is_old(dir: &PrivateDir, name: &str, now: Timestamp) -> bool {
    dir.metadata(name)
        .and_then(|metadata| metadata.modified())
        .is_ok_and(|modified| now.0.saturating_sub(Timestamp::from(modified).0) >= DAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_somebody_else_s_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        // Other programs, and other parts of ours, name theirs so too.
        let other = PrivateDir::create(root.path(), &["agent-bash-session-x"]).unwrap();
        drop(other.create_new("status").unwrap());
        sweep(root.path(), Naming::Paged, Timestamp(u64::MAX));
        assert!(other.metadata("status").is_ok());
        // Once it is one of artifacts, what is old goes.
        drop(other.create_new(COUNTER).unwrap());
        sweep(root.path(), Naming::Paged, Timestamp(u64::MAX));
        assert!(!other.path().exists());
    }
}
