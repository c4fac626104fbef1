//! The private directory of one shell that is kept in something: its temporary directory, and the pipe it reports in.
//!
//! It is locked for as long as somebody may use it. A lock ends with the process that holds it, however that ends, so a
//! directory without one was left by a supervisor that was killed: [`sweep`] removes it. (A pid in its name would say
//! less: `/tmp` can be shared by containers, each with its own pids.)

use crate::platform::make_fifo;
use agent_bash_os::remove_tree;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, open};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// How the names begin.
const PREFIX: &str = "agent-bash-boxed-";

/// Such a directory. Removed when dropped.
#[derive(Debug)]
pub(super) struct ShellDirectory {
    path: PathBuf,
    /// Held until the directory is removed; `None` on a file system that has no locks, where none is swept either.
    _lock: Option<OwnedFd>,
}

impl ShellDirectory {
    pub(super) fn make(parent: &Path) -> io::Result<Self> {
        let parent = fs::canonicalize(parent)?;
        for number in 0u32.. {
            let name = format!("{PREFIX}{}-{number}", std::process::id());
            match Self::make_at(parent.join(name)) {
                Ok(own) => return Ok(own),
                // It was there, or a sweep took it for one that was left.
                Err(error) if is_taken(&error) && parent.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn make_at(path: PathBuf) -> io::Result<Self> {
        let builder = || {
            let mut builder = DirBuilder::new();
            builder.mode(0o700);
            builder
        };
        builder().create(&path)?;
        let own = Self {
            _lock: match locked(&path) {
                Err(error) if !is_taken(&error) => None,
                other => Some(other?),
            },
            path,
        };
        builder().create(own.temporary())?;
        make_fifo(&own.report())?;
        Ok(own)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Where it and others are.
    pub(super) fn parent(&self) -> Option<PathBuf> {
        self.path.parent().map(Path::to_owned)
    }

    pub(super) fn temporary(&self) -> PathBuf {
        self.path.join("tmp")
    }

    pub(super) fn report(&self) -> PathBuf {
        self.path.join("report")
    }
}

impl Drop for ShellDirectory {
    fn drop(&mut self) {
        // What cannot be removed is private.
        let _ = remove_tree(&self.path);
    }
}

fn is_taken(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, NotFound, WouldBlock};
    matches!(error.kind(), AlreadyExists | NotFound | WouldBlock)
}

/// The lock of a directory that nobody else has locked.
fn locked(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = open(path, flags, Mode::empty())?;
    flock(&directory, FlockOperation::NonBlockingLockExclusive)?;
    Ok(directory)
}

/// Removes the directories of this user that were left in `parent` by supervisors that were killed.
pub(super) fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    let user = rustix::process::geteuid().as_raw();
    for entry in entries.flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let path = entry.path();
        // Locked until it is removed: nobody is to begin using it meanwhile.
        if let Ok(lock) = locked(&path)
            && fstat(&lock).is_ok_and(|stat| stat.st_uid == user)
        {
            let _ = remove_tree(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_holds_is_removed_and_what_somebody_does_stays() {
        let parent = tempfile::tempdir().unwrap();
        let held = ShellDirectory::make(parent.path()).unwrap();
        let left = parent.path().join(format!("{PREFIX}1-0"));
        fs::create_dir_all(left.join("tmp/more")).unwrap();
        let other = parent.path().join("agent-bash-other");
        fs::create_dir(&other).unwrap();
        sweep(parent.path());
        assert!(!left.exists());
        assert!(held.temporary().is_dir() && other.is_dir());
        let path = held.path().to_owned();
        drop(held);
        assert!(!path.exists());
    }

    #[test]
    fn a_name_that_is_taken_is_passed_over() {
        let parent = tempfile::tempdir().unwrap();
        let two = [(); 2].map(|()| ShellDirectory::make(parent.path()).unwrap());
        assert_ne!(two[0].path(), two[1].path());
        let missing = parent.path().join("missing");
        assert!(ShellDirectory::make(&missing).is_err());
    }
}
