//! Numbers for artifacts: counted up under a lock, over all processes that share the directory, and not used again.

use crate::artifact_dir::ids;
use crate::artifact_options::Naming;
use crate::private_dir::{self, PrivateDir};
use agent_bash_core::{ArtifactId, ArtifactMeta, StreamId};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Holds the number of the next artifact, and the lock under which it is taken.
pub(crate) const COUNTER: &str = ".next";

/// How often the counter's lock is tried for, yielding in between: some 100 ms. Whoever holds it needs microseconds,
/// unless it was stopped meanwhile; and a run must not wait for that.
const LOCK_TRIES: u32 = 50_000;

/// How many file names are tried for one number; more than one is taken only where somebody meddles.
const NAME_TRIES: u32 = 1000;

/// Takes the next number, and makes the file for it.
pub(crate) fn allocate(
    naming: Naming,
    dir: &PrivateDir,
    meta: &ArtifactMeta,
    stream: StreamId,
) -> io::Result<(ArtifactId, String, File)> {
    let mut counter = lock_counter(dir)?;
    let id = ArtifactId(next_number(dir, &mut counter)?);
    let made = (0..NAME_TRIES).find_map(|attempt| {
        let name = naming.file(id, meta, stream, attempt);
        match dir.create_new(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
            made => Some(made.map(|file| (name, file))),
        }
    });
    let (name, file) = made.unwrap_or(Err(io::ErrorKind::AlreadyExists.into()))?;
    let noted = counter
        .seek(SeekFrom::Start(0))
        .and_then(|_| counter.write_all(format!("{:020}\n", id.0 + 1).as_bytes()));
    if let Err(error) = noted {
        // The error that matters is the counter's.
        let _ = dir.remove(&name);
        return Err(error);
    }
    Ok((id, name, file))
}

/// Removes a directory in which nothing but the counter is left, and that of its session if it is empty then. Numbers begin
/// anew after that, so it is only for directories whose links nobody can remember.
pub(crate) fn forget(dir: &PrivateDir) {
    let only_counter = || {
        dir.names()
            .is_ok_and(|names| names.iter().all(|name| name == COUNTER))
    };
    if !only_counter() {
        return;
    }
    // Whoever waits for this lock finds the counter without a name, and makes another.
    let Ok(_lock) = lock_counter(dir) else {
        return;
    };
    if only_counter() && dir.remove(COUNTER).is_ok() && fs::remove_dir(dir.path()).is_ok() {
        // The session's directory is not ours alone; one that is not empty stays.
        if let Some(session) = dir.path().parent() {
            let _ = fs::remove_dir(session);
        }
    }
}

/// Opens the counter and takes its lock, which goes with the file.
fn lock_counter(dir: &PrivateDir) -> io::Result<File> {
    let mut counter = dir.open_or_create(COUNTER)?;
    for _ in 0..LOCK_TRIES {
        match counter.try_lock() {
            Ok(()) if private_dir::is_linked(&counter) => return Ok(counter),
            // Somebody found the directory empty and removed it meanwhile.
            Ok(()) => counter = dir.open_or_create(COUNTER)?,
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    let why = "another process holds the lock of the artifact directory";
    Err(io::Error::new(io::ErrorKind::WouldBlock, why))
}

/// The number that was not given out yet.
fn next_number(dir: &PrivateDir, counter: &mut File) -> io::Result<u64> {
    let mut text = String::new();
    counter.take(64).read_to_string(&mut text)?;
    let after_last = ids(dir).last().map_or(0, |id| id.0 + 1);
    Ok(text.trim_end().parse().unwrap_or(0).max(after_last))
}
