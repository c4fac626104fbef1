//! Removes expired artifacts: artifacts of ended processes, and artifacts older than a day.

use crate::allocate::{COUNTER_FILE, remove_unused_directory};
use crate::artifact_list::{ArtifactInfo, ClearOutcome, RemovedArtifacts, ids, info};
use crate::artifact_options::DIRECTORY_NAME;
use crate::expiry::{DAY_MS, is_expired, is_older};
use crate::quota;
use crate::sidecar::{Lifetime, Sidecar};
use agent_bash_core::Timestamp;
use agent_bash_os::{PrivateDir, ProcessIdentity, SweepBounds, SweepProgress, Visit};
use std::collections::BTreeSet;
use std::path::Path;

/// How long a session's counter is kept after its last artifact: longer than any conversation.
const COUNTER_RETENTION_MS: u64 = 365 * DAY_MS;

/// The file with the progress of the sweep. Stored beside the session directories; no session can
/// have this name.
const PROGRESS_FILE: &str = ".swept";

/// Milliseconds between two steps of the sweep.
const INTERVAL_MS: u64 = 10 * 60 * 1000;

/// The largest number of artifacts that a step reads.
const MAX_STEP_ARTIFACTS: u64 = 256;

/// The first artifact, and the largest number of artifacts to read.
type Portion = (u64, u64);

/// All artifacts of a session.
const ALL_ARTIFACTS: Portion = (0, u64::MAX);

/// Returns true if the next step of the sweep under `root` is due.
pub(crate) fn is_due(root: &Path, now: Timestamp) -> bool {
    // Nothing was ever stored in a missing directory.
    PrivateDir::open(root, &[])
        .is_ok_and(|dir| SweepProgress::read(&dir, PROGRESS_FILE).is_due(bounds(now)))
}

/// Does the next step of the sweep under `root`, if a step is due. A step reads only a few
/// artifacts, however many are stored.
pub(crate) fn sweep_when_due(root: &Path, now: Timestamp) -> RemovedArtifacts {
    let mut removed = RemovedArtifacts::default();
    if is_due(root, now)
        && let Ok(dir) = PrivateDir::open(root, &[])
    {
        let visit =
            |session: &str, first, max| visit(root, session, now, (first, max), &mut removed);
        // Without a position, the next process repeats the step.
        let _ = SweepProgress::step(&dir, PROGRESS_FILE, bounds(now), visit);
    }
    removed
}

/// Sweeps all sessions under `root`. Skips sessions that cannot be read or belong to another user.
pub(crate) fn sweep(root: &Path, now: Timestamp) -> RemovedArtifacts {
    let mut removed = RemovedArtifacts::default();
    let sessions = PrivateDir::open(root, &[]).and_then(|dir| dir.directories());
    for session in sessions.unwrap_or_default() {
        visit(root, &session, now, ALL_ARTIFACTS, &mut removed);
    }
    removed
}

/// Returns the bounds of a step.
fn bounds(now: Timestamp) -> SweepBounds {
    SweepBounds {
        now: now.0,
        interval: INTERVAL_MS,
        items: MAX_STEP_ARTIFACTS,
    }
}

/// Sweeps a portion of the artifacts of one session.
fn visit(
    root: &Path,
    session: &str,
    now: Timestamp,
    portion: Portion,
    removed: &mut RemovedArtifacts,
) -> Visit {
    let dir = PrivateDir::open(root, &[session, DIRECTORY_NAME]);
    dir.map_or_else(
        |_| Visit::default(),
        |dir| sweep_dir(&dir, now, portion, removed),
    )
}

/// Removes unused files of any age: expired artifacts and finished artifacts. Keeps artifacts that
/// `keep` selects and artifacts of another process's running session.
pub(crate) fn clear(
    dir: &PrivateDir,
    now: Timestamp,
    keep: impl Fn(&ArtifactInfo) -> bool,
) -> ClearOutcome {
    let mut cleared = ClearOutcome::default();
    for id in ids(dir) {
        let Ok((sidecar, is_dead)) = Sidecar::read_settled(dir, id) else {
            continue;
        };
        let is_foreign = !is_dead && sidecar.owner != ProcessIdentity::current();
        let is_in_use = match info(dir, &sidecar) {
            None => !is_dead,
            Some(info) => (is_foreign && sidecar.lifetime == Lifetime::Session) || keep(&info),
        };
        if is_in_use {
            cleared.in_use += 1;
        } else {
            cleared.removed.remove(&sidecar, dir);
        }
    }
    sweep_dir(dir, now, ALL_ARTIFACTS, &mut cleared.removed);
    cleared
}

/// Sweeps a portion of a session's artifacts.
fn sweep_dir(
    dir: &PrivateDir,
    now: Timestamp,
    (first, max_items): Portion,
    removed: &mut RemovedArtifacts,
) -> Visit {
    let mut visit = Visit::default();
    let mut known: BTreeSet<String> = BTreeSet::from([COUNTER_FILE.to_owned()]);
    let before = removed.bytes;
    for id in ids(dir).into_iter().filter(|id| id.0 >= first) {
        if visit.items == max_items {
            visit.next = Some(id.0);
            break;
        }
        visit.items += 1;
        let name = Sidecar::name(id);
        match Sidecar::read_settled(dir, id) {
            Ok((sidecar, is_dead)) if is_expired(&sidecar, is_dead, dir, now) => {
                removed.remove(&sidecar, dir);
            }
            Ok((sidecar, _)) => known.extend([name, sidecar.file]),
            // The files of an unreadable sidecar expire by age, like all files without a sidecar.
            Err(_) => {}
        }
    }
    if first > 0 || visit.next.is_some() {
        // The files of the other artifacts are unknown to this step.
        quota::account(dir, -(removed.bytes - before).cast_signed());
        return visit;
    }
    // Leftovers of a process that was killed between two steps.
    let names = dir.names().unwrap_or_default();
    for name in names.iter().filter(|name| !known.contains(*name)) {
        if is_older(dir, name, now, DAY_MS) {
            // The next sweep will try again.
            let _ = dir.remove(name);
        }
    }
    if dir.metadata(COUNTER_FILE).is_err() || is_older(dir, COUNTER_FILE, now, COUNTER_RETENTION_MS)
    {
        remove_unused_directory(dir);
    } else {
        quota::recount(dir);
    }
    visit
}
