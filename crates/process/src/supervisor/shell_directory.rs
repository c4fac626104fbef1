//! The private directory of one sandboxed or traced shell: its temporary directory, and the pipe
//! for its report.
//!
//! The directory is locked while a process may use it. A lock ends with its holder, so a directory
//! without a lock belongs to a killed supervisor: [`sweep`] removes it. (A pid in its name would
//! not identify the supervisor: containers with separate pids can share `/tmp`.)

use crate::platform::make_fifo;
use crate::temporary::{NoTemporaryDirectory, make_temporary, temporary_parents};
use agent_bash_core::sandbox::Plan;
use agent_bash_os::remove_tree;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, open};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The prefix of the directories' names.
const NAME_PREFIX: &str = "agent-bash-boxed-";

/// The maximum number of names that are tried.
const MAX_NAMES: u32 = 1000;

/// The private directory of a shell. Removed when dropped.
#[derive(Debug)]
pub(super) struct ShellDirectory {
    path: PathBuf,
    /// Held until the directory is removed; `None` on a file system without locks, where [`sweep`]
    /// removes nothing.
    _lock: Option<OwnedFd>,
}

impl ShellDirectory {
    /// Creates a directory in `wanted`, which is `$TMPDIR`, or else in `/tmp`, for a shell in the
    /// sandbox of this plan.
    pub(super) fn make(wanted: &Path, plan: Option<&Plan>) -> Result<Self, NoTemporaryDirectory> {
        make_temporary(wanted, |parent| Self::make_in(parent, plan))
    }

    fn make_in(parent: &Path, plan: Option<&Plan>) -> io::Result<Self> {
        let parent = fs::canonicalize(parent)?;
        if plan.is_some_and(|plan| plan.covers(&parent)) {
            return Err(io::Error::other("the sandbox has another directory there"));
        }
        for number in 0..MAX_NAMES {
            let name = format!("{NAME_PREFIX}{}-{number}", std::process::id());
            if let Some(own) = Self::make_at(parent.join(name))? {
                return Ok(own);
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// `None` if another process has a directory of this name, or removes it at this moment.
    fn make_at(path: PathBuf) -> io::Result<Option<Self>> {
        match private().create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            other => other?,
        }
        let lock = match locked(&path) {
            Ok(lock) => Some(lock),
            // Another process has swept the directory before it was locked.
            Err(error) if is_taken(&error) => return Ok(None),
            Err(_) => None,
        };
        let own = Self { path, _lock: lock };
        private().create(own.temporary())?;
        make_fifo(&own.report())?;
        Ok(Some(own))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The directory that has the private directories of all shells.
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
        // A remaining directory is private.
        let _ = remove_tree(&self.path);
    }
}

/// Creates directories for this user alone.
fn private() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

fn is_taken(error: &io::Error) -> bool {
    use io::ErrorKind::{NotFound, WouldBlock};
    matches!(error.kind(), NotFound | WouldBlock)
}

/// Takes the lock of an unlocked directory.
fn locked(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = open(path, flags, Mode::empty())?;
    flock(&directory, FlockOperation::NonBlockingLockExclusive)?;
    Ok(directory)
}

/// Removes the directories that killed supervisors of this user have left. `wanted` is `$TMPDIR`.
pub(super) fn sweep_temporary(wanted: &Path) {
    temporary_parents(wanted).for_each(sweep);
}

/// Removes the directories in `parent` that killed supervisors of this user have left.
pub(super) fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    let user = rustix::process::geteuid().as_raw();
    for entry in entries.flatten() {
        if !entry.file_name().to_string_lossy().starts_with(NAME_PREFIX) {
            continue;
        }
        let path = entry.path();
        // Locked until it is removed, so that no process begins to use it meanwhile.
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
    use agent_bash_core::sandbox::{Level, Network, Tier};

    #[test]
    fn unlocked_directory_is_removed_and_locked_one_stays() {
        let parent = tempfile::tempdir().unwrap();
        let held = ShellDirectory::make_in(parent.path(), None).unwrap();
        let left = parent.path().join(format!("{NAME_PREFIX}1-0"));
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
        let two = [(); 2].map(|()| ShellDirectory::make_in(parent.path(), None).unwrap());
        assert_ne!(two[0].path(), two[1].path());
    }

    #[test]
    fn directory_that_takes_none_is_tried_once_and_replaced() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("file");
        fs::write(&file, "").unwrap();
        // In `/proc`, creating a directory fails as if the parent were missing.
        for wanted in [&parent.path().join("missing"), &file, Path::new("/proc")] {
            assert!(ShellDirectory::make_in(wanted, None).is_err(), "{wanted:?}");
            let own = ShellDirectory::make(wanted, None).unwrap();
            let shared = fs::canonicalize("/tmp").unwrap();
            assert_eq!(own.parent(), Some(shared), "{wanted:?}");
        }
    }

    #[test]
    fn directory_that_the_sandbox_covers_takes_none() {
        let parent = tempfile::tempdir().unwrap();
        let mut plan = Plan {
            level: Level::ReadOnly,
            network: Network::Off,
            tier: Tier::Full,
            writable: Vec::new(),
            hidden: vec![fs::canonicalize(parent.path()).unwrap()],
            protected: Vec::new(),
            devices: Vec::new(),
        };
        for wanted in [parent.path(), Path::new("/dev/shm")] {
            assert!(ShellDirectory::make_in(wanted, Some(&plan)).is_err());
        }
        plan.hidden.clear();
        assert!(ShellDirectory::make_in(parent.path(), Some(&plan)).is_ok());
    }
}
