//! The private directory of a session's shell, which contains the FIFOs for a script's output.

use agent_bash_core::sandbox::Plan;
use agent_bash_os::{O_PATH, proc_path};
use agent_bash_process::{NoTemporaryDirectory, make_fifo, make_temporary, parent_for_plan};
use rustix::fs::{Mode, OFlags, fstat, lstat, open};
use rustix::io::Errno;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Prefix of the names of session directories.
const NAME_PREFIX: &str = "agent-bash-session-";

/// Extension of directories that are being removed.
const REMOVED_EXTENSION: &str = "removed";

/// Name of a FIFO without contents. The host keeps it open while it runs, so that a sweep
/// recognises abandoned directories.
const STATUS_FIFO: &str = "status";

/// Name of the FIFO for a script's stdout.
pub(super) const STDOUT_FIFO: &str = "out";

/// Name of the FIFO for a script's stderr; with merged streams, another name of [`STDOUT_FIFO`].
pub(super) const STDERR_FIFO: &str = "err";

/// A session's directory. Removed when dropped, even while the shell writes to it.
#[derive(Debug)]
pub(super) struct SessionDirectory {
    path: PathBuf,
    /// The directory as the open descriptor `_opened`, because a script may replace its name by a
    /// link. The name on a system without `/proc`, which has no sandbox.
    host_path: PathBuf,
    _opened: OwnedFd,
    /// The open [`STATUS_FIFO`].
    _status_fifo: OwnedFd,
}

impl SessionDirectory {
    /// Creates a directory in `wanted`, which is `$TMPDIR`, or else in `/tmp`. Its mode is 0700:
    /// other users could otherwise replace a FIFO and read all exported variables.
    pub(super) fn make(wanted: &Path, plan: Option<&Plan>) -> Result<Self, NoTemporaryDirectory> {
        make_temporary(wanted, |parent| {
            let parent = match plan {
                Some(plan) => &parent_for_plan(parent, plan)?,
                None => parent,
            };
            let made = tempfile::Builder::new()
                .prefix(NAME_PREFIX)
                .permissions(fs::Permissions::from_mode(0o700))
                .tempdir_in(parent)?;
            let status_fifo = fifo(&made.path().join(STATUS_FIFO))?;
            let flags = O_PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = open(made.path(), flags, Mode::empty())?;
            let path = made.keep();
            let host_path = PathBuf::from(proc_path(&opened));
            Ok(Self {
                host_path: if host_path.exists() {
                    host_path
                } else {
                    path.clone()
                },
                path,
                _opened: opened,
                _status_fifo: status_fifo,
            })
        })
    }

    /// Returns the directory's path without symbolic links.
    pub(super) fn canonical(&self) -> io::Result<PathBuf> {
        fs::canonicalize(&self.path)
    }

    /// Returns the shell's path of [`STDOUT_FIFO`] or [`STDERR_FIFO`].
    pub(super) fn shell_path(&self, fifo: &str) -> PathBuf {
        self.path.join(fifo)
    }

    /// Returns the host's path of [`STDOUT_FIFO`] or [`STDERR_FIFO`].
    pub(super) fn host_path(&self, fifo: &str) -> PathBuf {
        self.host_path.join(fifo)
    }

    /// Makes stderr another name of stdout's FIFO, unless it is already. The name is a hard link,
    /// because the recorder of changes follows a symbolic link more slowly.
    pub(super) fn join_outputs(&self, stdout: &OwnedFd) -> io::Result<()> {
        let path = self.host_path(STDERR_FIFO);
        if self.are_joined(stdout)? {
            return Ok(());
        }
        remove(&path)?;
        fs::hard_link(self.host_path(STDOUT_FIFO), path)
    }

    /// True if stderr is a name of this FIFO.
    pub(super) fn are_joined(&self, stdout: &OwnedFd) -> io::Result<bool> {
        let stdout = fstat(stdout)?;
        let stderr = lstat(self.host_path(STDERR_FIFO));
        Ok(stderr
            .is_ok_and(|stderr| (stderr.st_dev, stderr.st_ino) == (stdout.st_dev, stdout.st_ino)))
    }
}

impl Drop for SessionDirectory {
    fn drop(&mut self) {
        // A shell that opens a removed FIFO for writing creates a regular file, and `rmdir` then
        // fails. After the rename, the shell cannot find the directory. The second `remove_dir_all`
        // removes files that were created before the rename.
        let renamed = self.path.with_extension(REMOVED_EXTENSION);
        let path = match fs::rename(&self.path, &renamed) {
            Ok(()) => &renamed,
            Err(_) => &self.path,
        };
        if fs::remove_dir_all(path).is_err() {
            drop(fs::remove_dir_all(path));
        }
    }
}

/// Removes a file or directory, if it exists.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        _ => fs::remove_file(path),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Creates a FIFO and opens it.
fn fifo(path: &Path) -> io::Result<OwnedFd> {
    make_fifo(path)?;
    open_fifo(path, OFlags::RDWR)
}

/// Opens a FIFO without blocking.
pub(super) fn open_fifo(path: &Path, access: OFlags) -> io::Result<OwnedFd> {
    let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(open(path, flags, Mode::empty())?)
}

/// Removes the session directories of killed hosts from `directory`. Returns the number of removed
/// directories.
pub fn sweep_sessions(directory: &Path) -> usize {
    let Ok(entries) = fs::read_dir(directory) else {
        return 0;
    };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(NAME_PREFIX))
        .filter(|entry| is_abandoned(&entry.path()) && fs::remove_dir_all(entry.path()).is_ok())
        .count()
}

/// True if the removal of the directory was interrupted, or its host has ended. False if that
/// cannot be determined.
fn is_abandoned(directory: &Path) -> bool {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    directory
        .extension()
        .is_some_and(|end| end == REMOVED_EXTENSION)
        || open(directory.join(STATUS_FIFO), flags, Mode::empty())
            .is_err_and(|error| error == Errno::NXIO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweep_skips_directories_with_a_reader() {
        let temp = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = temp.path().join(format!("{NAME_PREFIX}{name}"));
            fs::create_dir(&path).unwrap();
            path
        };
        let (new, used, dead) = (make("new"), make("used"), make("dead"));
        let (other, removed) = (temp.path().join("other.removed"), make("half.removed"));
        fs::create_dir(&other).unwrap();
        let _reader = fifo(&used.join(STATUS_FIFO)).unwrap();
        drop(fifo(&dead.join(STATUS_FIFO)).unwrap());
        let mut swept = 0;
        // A child that another test has forked has the FIFO open until it executes its program.
        for _ in 0..10_000 {
            swept += sweep_sessions(temp.path());
            if !dead.exists() {
                break;
            }
        }
        assert_eq!(swept, 2);
        assert!(new.exists() && used.exists() && other.exists());
        assert!(!dead.exists() && !removed.exists());
    }

    #[test]
    fn directory_is_private_to_the_user() {
        let temp = tempfile::tempdir().unwrap();
        let directory = SessionDirectory::make(temp.path(), None).unwrap();
        let status = directory.path.join(STATUS_FIFO);
        for (path, mode) in [(&directory.path, 0o700), (&status, 0o600)] {
            let found = fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(found, mode, "{}", path.display());
        }
    }

    #[test]
    fn host_paths_lead_to_the_directory_after_its_name_became_a_link() {
        let temp = tempfile::tempdir().unwrap();
        let directory = SessionDirectory::make(temp.path(), None).unwrap();
        let [moved, other] = ["moved", "other"].map(|name| temp.path().join(name));
        fs::create_dir(&other).unwrap();
        fs::rename(&directory.path, &moved).unwrap();
        std::os::unix::fs::symlink(&other, &directory.path).unwrap();
        make_fifo(&directory.host_path(STDOUT_FIFO)).unwrap();
        let stdout = open_fifo(&directory.host_path(STDOUT_FIFO), OFlags::RDWR).unwrap();
        directory.join_outputs(&stdout).unwrap();
        assert!(moved.join(STDOUT_FIFO).exists() && moved.join(STDERR_FIFO).exists());
        remove(&directory.host_path(STDERR_FIFO)).unwrap();
        assert!(!moved.join(STDERR_FIFO).exists());
        drop(directory);
        assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
    }

    #[test]
    fn removal_is_complete_while_a_process_writes() {
        let temp = tempfile::tempdir().unwrap();
        for _ in 0..200 {
            let directory = SessionDirectory::make(temp.path(), None).unwrap();
            let out = directory.shell_path(STDOUT_FIFO);
            fs::write(&out, "").unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    // Writes as the shell does, while the directory exists.
                    (0..100_000).all(|_| fs::write(&out, "").is_ok())
                });
                drop(directory);
            });
        }
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
    }
}
