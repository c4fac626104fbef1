//! Artifact numbers: handed out in ascending order under a file lock, across all processes that
//! share the directory, and never reused.

use crate::artifact_list::ids;
use crate::artifact_options::Naming;
use crate::sidecar::Sidecar;
use agent_bash_core::{ArtifactId, ArtifactMeta, StreamId};
use agent_bash_os::{PrivateDir, is_linked};
use std::fmt::Write as _;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};

/// File with the next artifact number and the number of used bytes; its lock guards both.
pub(crate) const COUNTER_FILE: &str = ".next";

/// Attempts to take the counter's lock, yielding in between: about 100 ms. A holder needs
/// microseconds unless it was stopped, and a run must not wait for a stopped process.
const LOCK_TRIES: u32 = 50_000;

/// Attempts to find a free file name for one number. A second attempt is only needed if something
/// else writes to the directory.
const NAME_TRIES: u32 = 1000;

/// Takes the next number, at least `from`, and creates its file.
pub(crate) fn allocate(
    naming: Naming,
    dir: &PrivateDir,
    meta: &ArtifactMeta,
    stream: StreamId,
    from: ArtifactId,
) -> io::Result<(ArtifactId, String, File)> {
    let mut counter = Counter::lock(dir)?;
    let id = ArtifactId(counter.next_number(dir).max(from.0));
    let made = (0..NAME_TRIES).find_map(|attempt| {
        let name = naming.file(id, meta, stream, attempt);
        match dir.create_new(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
            made => Some(made.map(|file| (name, file))),
        }
    });
    let (name, file) = made.unwrap_or(Err(io::ErrorKind::AlreadyExists.into()))?;
    counter.next = Some(id.0 + 1);
    if let Err(error) = counter.write() {
        // Ignored: the error worth reporting is the counter's.
        let _ = dir.remove(&name);
        return Err(error);
    }
    Ok((id, name, file))
}

/// Stands for an unknown number.
const UNKNOWN_NUMBER: &str = "?";

/// The counter's file, locked until this is dropped.
#[derive(Debug)]
pub(crate) struct Counter {
    file: File,
    /// The next number; `None` if unknown.
    next: Option<u64>,
    /// Bytes that the artifacts occupy, or more; `None` if unknown.
    pub(crate) used: Option<u64>,
}

impl Counter {
    pub(crate) fn lock(dir: &PrivateDir) -> io::Result<Self> {
        let file = lock_counter(dir)?;
        let mut text = String::new();
        // Invalid contents count as unknown.
        let _ = (&file).take(64).read_to_string(&mut text);
        let mut numbers = text.lines().map(|line| line.trim().parse().ok());
        Ok(Self {
            next: numbers.next().flatten(),
            used: numbers.next().flatten(),
            file,
        })
    }

    /// Writes both numbers; unknown ones stay unknown.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        let mut text = match self.next {
            Some(next) => format!("{next:020}\n"),
            None => format!("{UNKNOWN_NUMBER:>20}\n"),
        };
        if let Some(used) = self.used {
            let _ = writeln!(text, "{used:020}");
        }
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(text.as_bytes())
    }

    /// Returns the next unused number. Reads all names only if the counter is wrong, as after its
    /// removal.
    fn next_number(&self, dir: &PrivateDir) -> u64 {
        let is_free = |number: &u64| {
            let id = ArtifactId(*number);
            !dir.has(&Sidecar::name(id)) && !dir.has(&format!("{id}.log"))
        };
        if let Some(next) = self.next.filter(is_free) {
            return next;
        }
        let after_last = ids(dir).last().map_or(0, |id| id.0 + 1);
        after_last.max(self.next.unwrap_or_default())
    }
}

/// Removes a directory with only the counter, then its parent if that is empty. Numbering restarts
/// afterwards, so call this only when no link to an old artifact can exist any more.
pub(crate) fn forget(dir: &PrivateDir) {
    let only_counter = || {
        dir.names()
            .is_ok_and(|names| names.iter().all(|name| name == COUNTER_FILE))
    };
    if !only_counter() {
        return;
    }
    // Processes waiting for this lock will find the counter unlinked and create a new one.
    let Ok(_lock) = lock_counter(dir) else {
        return;
    };
    if only_counter() && dir.remove(COUNTER_FILE).is_ok() && fs::remove_dir(dir.path()).is_ok() {
        // Other things live in the session's directory too; `rmdir` leaves it alone unless it is
        // empty.
        if let Some(session) = dir.path().parent() {
            let _ = fs::remove_dir(session);
        }
    }
}

/// Opens the counter and locks it. Closing the file releases the lock.
fn lock_counter(dir: &PrivateDir) -> io::Result<File> {
    let mut counter = dir.open_or_create(COUNTER_FILE)?;
    for _ in 0..LOCK_TRIES {
        match counter.try_lock() {
            Ok(()) if is_linked(&counter) => return Ok(counter),
            // Another process removed the empty directory, and the counter with it, before we got
            // the lock.
            Ok(()) => counter = dir.open_or_create(COUNTER_FILE)?,
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    let why = "another process holds the lock of the artifact directory";
    Err(io::Error::new(io::ErrorKind::WouldBlock, why))
}
