//! The private directory of a shell with a sandbox, a trial or private mounts. Contains the
//! temporary directory and the pipe for the shell's report.
//!
//! The directory is locked while a process may use it. A lock ends with its holder, so an unlocked
//! directory belongs to a killed supervisor: [`sweep`] removes it. (A pid in the name would not
//! suffice: containers with separate pids can share `/tmp`.)

use crate::platform::make_fifo;
use crate::temporary::{NoTemporaryDirectory, make_temporary, parent_for_plan, temporary_parents};
use agent_bash_core::sandbox::Plan;
use agent_bash_os::remove_tree;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, open};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The prefix of the names of these directories.
const NAME_PREFIX: &str = "agent-bash-boxed-";

/// Maximum number of names that are tried.
const MAX_NAMES: u32 = 1000;

/// The private directory of a shell. Removed when dropped.
#[derive(Debug)]
pub(super) struct ShellDirectory {
    path: PathBuf,
    /// Open until the directory is removed; `None` on a file system without locks, where [`sweep`]
    /// removes nothing.
    _lock: Option<OwnedFd>,
}

impl ShellDirectory {
    /// Creates a directory for a shell with this sandbox plan, in `tmpdir` (`$TMPDIR`). If the
    /// creation fails there, creates the directory in `/tmp`.
    pub(super) fn create(tmpdir: &Path, plan: Option<&Plan>) -> Result<Self, NoTemporaryDirectory> {
        make_temporary(tmpdir, |parent| Self::create_in(parent, plan))
    }

    fn create_in(parent: &Path, plan: Option<&Plan>) -> io::Result<Self> {
        let parent = match plan {
            Some(plan) => parent_for_plan(parent, plan)?,
            None => fs::canonicalize(parent)?,
        };
        for number in 0..MAX_NAMES {
            let name = format!("{NAME_PREFIX}{}-{number}", std::process::id());
            if let Some(directory) = Self::create_at(parent.join(name))? {
                return Ok(directory);
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Creates the directory `path`. `None` if another process has a directory of this name, or is
    /// removing it.
    fn create_at(path: PathBuf) -> io::Result<Option<Self>> {
        match private().create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            other => other?,
        }
        let held_lock = match lock(&path) {
            Ok(lock) => Some(lock),
            // Another process has swept the directory before it was locked here.
            Err(error) if is_owned_elsewhere(&error) => return Ok(None),
            Err(_) => None,
        };
        let directory = Self {
            path,
            _lock: held_lock,
        };
        private().create(directory.temporary())?;
        make_fifo(&directory.report())?;
        Ok(Some(directory))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the parent, which contains the private directories of all shells.
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
        // If this fails, the remaining directory is still private.
        let _ = remove_tree(&self.path);
    }
}

/// Returns a builder for directories that only this user can access.
fn private() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

fn is_owned_elsewhere(error: &io::Error) -> bool {
    use io::ErrorKind::{NotFound, WouldBlock};
    matches!(error.kind(), NotFound | WouldBlock)
}

/// Locks a directory without waiting.
fn lock(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = open(path, flags, Mode::empty())?;
    flock(&directory, FlockOperation::NonBlockingLockExclusive)?;
    Ok(directory)
}

/// Removes the directories of this user's killed supervisors, in `tmpdir` (`$TMPDIR`) and `/tmp`.
pub(super) fn sweep_temporary(tmpdir: &Path) {
    temporary_parents(tmpdir).for_each(sweep);
}

/// Removes the directories of this user's killed supervisors in `parent`.
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
        // Locked until it is removed, so that no process starts using it meanwhile.
        if let Ok(held_lock) = lock(&path)
            && fstat(&held_lock).is_ok_and(|stat| stat.st_uid == user)
        {
            let _ = remove_tree(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::sandbox::{Caches, Level, Network, Tier};

    #[test]
    fn sweep_removes_only_unlocked_directories() {
        let parent = tempfile::tempdir().unwrap();
        let held = ShellDirectory::create_in(parent.path(), None).unwrap();
        let leftover = parent.path().join(format!("{NAME_PREFIX}1-0"));
        fs::create_dir_all(leftover.join("tmp/more")).unwrap();
        let other = parent.path().join("agent-bash-other");
        fs::create_dir(&other).unwrap();
        sweep(parent.path());
        assert!(!leftover.exists());
        assert!(held.temporary().is_dir() && other.is_dir());
        let path = held.path().to_owned();
        drop(held);
        assert!(!path.exists());
    }

    #[test]
    fn create_skips_existing_names() {
        let parent = tempfile::tempdir().unwrap();
        let two = [(); 2].map(|()| ShellDirectory::create_in(parent.path(), None).unwrap());
        assert_ne!(two[0].path(), two[1].path());
    }

    #[test]
    fn create_falls_back_to_shared_directory() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("file");
        fs::write(&file, "").unwrap();
        // In `/proc`, creating a directory fails as if the parent were missing.
        for tmpdir in [&parent.path().join("missing"), &file, Path::new("/proc")] {
            assert!(
                ShellDirectory::create_in(tmpdir, None).is_err(),
                "{tmpdir:?}"
            );
            let directory = ShellDirectory::create(tmpdir, None).unwrap();
            let shared = fs::canonicalize("/tmp").unwrap();
            assert_eq!(directory.parent(), Some(shared), "{tmpdir:?}");
        }
    }

    #[test]
    fn create_refuses_parent_covered_by_sandbox() {
        let parent = tempfile::tempdir().unwrap();
        let mut plan = Plan {
            level: Level::ReadOnly,
            network: Network::Off,
            hosts: Vec::new(),
            tier: Tier::Full,
            writable: Vec::new(),
            hidden: vec![fs::canonicalize(parent.path()).unwrap()],
            protected: Vec::new(),
            devices: Vec::new(),
            caches: Caches::default(),
        };
        for tmpdir in [parent.path(), Path::new("/dev/shm")] {
            assert!(ShellDirectory::create_in(tmpdir, Some(&plan)).is_err());
        }
        plan.hidden.clear();
        assert!(ShellDirectory::create_in(parent.path(), Some(&plan)).is_ok());
    }
}
