//! Directories of this program below `$TMPDIR` that only this user can access.
//!
//! A directory is locked while a process may use it. A lock ends with its holder, so an unlocked
//! directory belongs to a killed process: [`sweep`] removes it. (A pid in the name would not
//! suffice: containers with separate pids can share `/tmp`.)

use crate::temporary::temporary_parents;
use agent_bash_os::remove_tree;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, open};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The prefix of the names of the directories of shells, and of the sockets of `openssl`.
pub(crate) const SHELL_PREFIX: &str = "agent-bash-sandbox-";

/// The prefix of the names of the directories of askpass programs.
pub(crate) const ASKPASS_PREFIX: &str = "agent-bash-askpass-";

/// Maximum number of names that are tried.
const MAX_NAMES: u32 = 1000;

/// A private directory. Removed when dropped.
#[derive(Debug)]
pub(crate) struct PrivateDirectory {
    path: PathBuf,
    /// Open until the directory is removed; `None` on a file system without locks, where [`sweep`]
    /// removes nothing.
    _lock: Option<OwnedFd>,
}

impl PrivateDirectory {
    /// Creates a directory in `parent`. An existing directory is never used: another user may have
    /// created it.
    pub(crate) fn create_in(parent: &Path, prefix: &str) -> io::Result<Self> {
        for number in 0..MAX_NAMES {
            let name = format!("{prefix}{}-{number}", std::process::id());
            if let Some(directory) = Self::create_at(parent.join(name))? {
                return Ok(directory);
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Creates the directory `path`. `None` if another process has a directory of this name, or is
    /// removing it.
    fn create_at(path: PathBuf) -> io::Result<Option<Self>> {
        match private_builder().create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            other => other?,
        }
        let held_lock = match lock(&path) {
            Ok(lock) => Some(lock),
            // Another process has swept the directory before it was locked here.
            Err(error) if is_owned_elsewhere(&error) => return Ok(None),
            Err(_) => None,
        };
        Ok(Some(Self {
            path,
            _lock: held_lock,
        }))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        // If this fails, the remaining directory is still private.
        let _ = remove_tree(&self.path);
    }
}

/// Returns a builder for directories that only this user can access.
pub(crate) fn private_builder() -> DirBuilder {
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

/// Removes the directories of this user's killed processes, in `tmpdir` (`$TMPDIR`) and `/tmp`.
pub(crate) fn sweep_temporary(tmpdir: &Path) {
    temporary_parents(tmpdir).for_each(sweep);
}

/// Removes the directories of this user's killed processes in `parent`.
pub(crate) fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    let user = rustix::process::geteuid().as_raw();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if ![SHELL_PREFIX, ASKPASS_PREFIX]
            .iter()
            .any(|prefix| name.starts_with(prefix))
        {
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

    #[test]
    fn sweep_removes_only_unlocked_directories() {
        for prefix in [SHELL_PREFIX, ASKPASS_PREFIX] {
            let parent = tempfile::tempdir().unwrap();
            let held = PrivateDirectory::create_in(parent.path(), prefix).unwrap();
            let leftover = parent.path().join(format!("{prefix}1-0"));
            fs::create_dir_all(leftover.join("tmp/more")).unwrap();
            let other = parent.path().join("agent-bash-other");
            fs::create_dir(&other).unwrap();
            sweep(parent.path());
            assert!(!leftover.exists());
            assert!(held.path().is_dir() && other.is_dir());
            let path = held.path().to_owned();
            drop(held);
            assert!(!path.exists());
        }
    }

    #[test]
    fn create_skips_existing_names() {
        let parent = tempfile::tempdir().unwrap();
        let two =
            [(); 2].map(|()| PrivateDirectory::create_in(parent.path(), SHELL_PREFIX).unwrap());
        assert_ne!(two[0].path(), two[1].path());
    }
}
