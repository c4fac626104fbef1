//! Artifact numbers: assigned in ascending order under a file lock, across all processes that
//! share the directory, and never reused.

use crate::artifact_list::ids;
use crate::artifact_options::Naming;
use crate::sidecar::Sidecar;
use agent_bash_core::{ArtifactId, ArtifactMeta, StreamId};
use agent_bash_os::{Counter, PrivateDir, lock_file};
use std::fs::{self, File};
use std::io;

/// File with the next artifact number and the number of used bytes; its lock guards both.
pub(crate) const COUNTER_FILE: &str = ".next";

/// Attempts to find a free file name for one number. A second attempt is only needed if another
/// program writes to the directory.
const NAME_TRIES: u32 = 1000;

/// Takes the next number, at least `first`, and creates its file.
pub(crate) fn allocate(
    naming: Naming,
    dir: &PrivateDir,
    meta: &ArtifactMeta,
    stream: StreamId,
    first: ArtifactId,
) -> io::Result<(ArtifactId, String, File)> {
    let mut counter = Counter::lock(dir, COUNTER_FILE)?;
    let id = ArtifactId(next_number(&counter, dir).max(first.0));
    let created = (0..NAME_TRIES).find_map(|attempt| {
        let name = naming.file(id, meta, stream, attempt);
        match dir.create_new(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
            result => Some(result.map(|file| (name, file))),
        }
    });
    let (name, file) = created.unwrap_or(Err(io::ErrorKind::AlreadyExists.into()))?;
    counter.next = Some(id.0 + 1);
    if let Err(error) = counter.write() {
        // The error of the counter is reported.
        let _ = dir.remove(&name);
        return Err(error);
    }
    Ok((id, name, file))
}

/// Returns the next unused number. Reads all names only if the counter is wrong, as after its
/// removal.
fn next_number(counter: &Counter, dir: &PrivateDir) -> u64 {
    let is_free = |number: &u64| {
        let id = ArtifactId(*number);
        !dir.has(&Sidecar::name(id)) && !dir.has(&format!("{id}.log"))
    };
    if let Some(next) = counter.next.filter(is_free) {
        return next;
    }
    let after_last = ids(dir).last().map_or(0, |id| id.0 + 1);
    after_last.max(counter.next.unwrap_or_default())
}

/// Removes a directory that contains only the counter, then the parent directory if it is empty.
/// Numbering restarts afterwards, so call this only when no link to an old artifact can exist any
/// more.
pub(crate) fn remove_unused_directory(dir: &PrivateDir) {
    let only_counter = || {
        dir.names()
            .is_ok_and(|names| names.iter().all(|name| name == COUNTER_FILE))
    };
    if !only_counter() {
        return;
    }
    // Processes waiting for this lock will find the counter unlinked and create a new one.
    let Ok(_lock) = lock_file(dir, COUNTER_FILE) else {
        return;
    };
    if only_counter() && dir.remove(COUNTER_FILE).is_ok() && fs::remove_dir(dir.path()).is_ok() {
        // The session's directory may contain other files; `rmdir` removes only an empty directory.
        if let Some(session) = dir.path().parent() {
            let _ = fs::remove_dir(session);
        }
    }
}
