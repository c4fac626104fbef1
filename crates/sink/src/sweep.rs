//! Removes expired artifacts: those of dead processes and those older than a day.

use crate::allocate::{COUNTER_FILE, forget};
use crate::artifact_list::{ArtifactInfo, ClearOutcome, RemovedArtifacts, ids, info};
use crate::artifact_options::DIRECTORY_NAME;
use crate::expiry::{DAY_MS, is_older, is_past};
use crate::quota;
use crate::sidecar::{Lifetime, Sidecar};
use agent_bash_core::{ArtifactId, Timestamp};
use agent_bash_os::{PrivateDir, ProcessIdentity};
use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::Path;

/// How long a session's counter is kept after its last artifact: longer than any conversation.
const COUNTER_RETENTION_MS: u64 = 365 * DAY_MS;

/// The file with the time of the last sweep as its change time. Stored beside the session
/// directories; no session can have this name.
const STAMP_FILE: &str = ".swept";

/// Minimum time between sweeps for programs that make a single call: a sweep looks at every
/// artifact.
const INTERVAL_MS: u64 = 60 * 60 * 1000;

/// Number of artifacts between two writes of a sweep's position.
const POSITION_INTERVAL: usize = 200;

/// True unless a sweep has finished within the last hour, or nothing was ever stored there.
pub(crate) fn is_due(root: &Path, now: Timestamp) -> bool {
    PrivateDir::open(root, &[]).is_ok_and(|dir| next(&dir, now).is_some())
}

/// The position at which the next sweep begins; `None` if none is due.
fn next(dir: &PrivateDir, now: Timestamp) -> Option<SweepPosition> {
    let last = dir.metadata(STAMP_FILE).and_then(|stamp| stamp.modified());
    let age = last.map(|last| now.0.checked_sub(Timestamp::from(last).0));
    let from = SweepPosition::read(dir);
    // A stamp from the future does not count: the clock was set back.
    let is_recent = matches!(age, Ok(Some(age)) if age < INTERVAL_MS);
    from.or_else(|| (!is_recent).then(SweepPosition::default))
}

/// Sweeps as [`sweep`] does, unless a sweep has finished within the last hour. Continues a sweep
/// whose process was killed.
pub(crate) fn sweep_when_due(root: &Path, now: Timestamp) -> RemovedArtifacts {
    let Ok(dir) = PrivateDir::open(root, &[]) else {
        return RemovedArtifacts::default();
    };
    let Some(from) = next(&dir, now) else {
        return RemovedArtifacts::default();
    };
    // Written before the sweep, so that only one of several programs starts one. If it cannot be
    // written, each of them does.
    from.write(&dir);
    let removed = sweep_from(root, now, &from, &mut |reached| reached.write(&dir));
    let _ = dir.replace(STAMP_FILE, b"");
    removed
}

/// Sweeps all sessions under `root`. What cannot be read or is not ours stays.
pub(crate) fn sweep(root: &Path, now: Timestamp) -> RemovedArtifacts {
    sweep_from(root, now, &SweepPosition::default(), &mut |_| {})
}

/// The position of a sweep: sessions and artifacts are read in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct SweepPosition {
    session: String,
    id: ArtifactId,
}

impl SweepPosition {
    /// `None` if the last sweep has ended.
    fn read(root: &PrivateDir) -> Option<Self> {
        let mut text = String::new();
        root.read(STAMP_FILE)
            .ok()?
            .take(1024)
            .read_to_string(&mut text)
            .ok()?;
        let (id, session) = text.split_once(' ')?;
        Some(Self {
            session: session.to_owned(),
            id: ArtifactId(id.parse().ok()?),
        })
    }

    /// Ignores errors: the sweep is then repeated.
    fn write(&self, root: &PrivateDir) {
        let _ = root.replace(
            STAMP_FILE,
            format!("{} {}", self.id, self.session).as_bytes(),
        );
    }
}

fn sweep_from(
    root: &Path,
    now: Timestamp,
    from: &SweepPosition,
    note: &mut dyn FnMut(SweepPosition),
) -> RemovedArtifacts {
    let mut removed = RemovedArtifacts::default();
    let Ok(entries) = fs::read_dir(root) else {
        return removed;
    };
    let names = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let names: BTreeSet<String> = names.filter(|name| *name >= from.session).collect();
    for name in names {
        let first = if name == from.session {
            from.id
        } else {
            ArtifactId(0)
        };
        if let Ok(dir) = PrivateDir::open(root, &[&name, DIRECTORY_NAME]) {
            let mut note = |id| {
                let session = name.clone();
                note(SweepPosition { session, id });
            };
            sweep_dir(&dir, now, first, &mut removed, &mut note);
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
) -> ClearOutcome {
    let mut cleared = ClearOutcome::default();
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
    sweep_dir(dir, now, ArtifactId(0), &mut cleared.removed, &mut |_| {});
    cleared
}

/// Sweeps a session's artifacts from `first` on. Calls `note` with the next artifact after every
/// [`POSITION_INTERVAL`].
fn sweep_dir(
    dir: &PrivateDir,
    now: Timestamp,
    first: ArtifactId,
    removed: &mut RemovedArtifacts,
    note: &mut dyn FnMut(ArtifactId),
) {
    let mut known: BTreeSet<String> = BTreeSet::from([COUNTER_FILE.to_owned()]);
    let ids = ids(dir).into_iter().filter(|id| *id >= first);
    for (number, id) in ids.enumerate() {
        if number % POSITION_INTERVAL == POSITION_INTERVAL - 1 {
            note(id);
        }
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
    if first > ArtifactId(0) {
        // The files of earlier artifacts are unknown to this sweep.
        return;
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
        forget(dir);
    } else {
        quota::recount(dir);
    }
}
