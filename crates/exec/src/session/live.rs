//! A shell of a session that lives and waits for records.

use super::Remembered;
use super::record;
use crate::cache::ShellCacheOptions;
use crate::snapshot::Snapshot;
use crate::start;
use agent_bash_core::{NotStarted, RunSpec};
use agent_bash_process::supervisor::{ShellStart, Supervised};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::unix::pipe::Receiver;

/// A living shell.
#[derive(Debug)]
pub(super) struct LiveShell {
    pub(super) supervised: Supervised,
    pub(super) pid: u32,
    /// Records go in here.
    pub(super) control: File,
    /// Reports come out here.
    pub(super) status: Receiver,
    /// Holds the FIFOs; removed with the shell.
    directory: tempfile::TempDir,
    /// It has run nothing yet.
    pub(super) fresh: bool,
    /// What it has loaded.
    pub(super) snapshot: Option<Arc<Snapshot>>,
    /// `$!` after the last call.
    pub(super) background: Vec<u8>,
    calls: u64,
}

/// The FIFOs of one call, and our ends.
#[derive(Debug)]
pub(super) struct CallFifos {
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    pub(super) stdout_path: PathBuf,
    pub(super) stderr_path: PathBuf,
}

impl LiveShell {
    /// Starts one, in `/`: its first record takes it to where it belongs.
    pub(super) async fn start(
        spec: &RunSpec,
        options: &ShellCacheOptions,
        remembered: Option<&Remembered>,
        snapshot: Option<Arc<Snapshot>>,
    ) -> Result<Self, NotStarted> {
        let failed = |error: &dyn std::fmt::Display| {
            NotStarted::new(format!("the session's shell could not be started: {error}"))
        };
        let directory = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(&options.directory)
            .map_err(|error| failed(&format_args!("{}: {error}", options.directory.display())))?;
        let status = status_fifo(directory.path()).map_err(|error| failed(&error))?;
        let base = &spec.env.base;
        let mut supervised = start::supervisor(&options.supervisor, base, &*options.clock)
            .await
            .map_err(|error| failed(&error))?;
        let start = ShellStart {
            program: spec.shell.path.clone(),
            arg0: OsString::from("bash"),
            args: record::boot(snapshot.as_deref()),
            env_changes: Vec::new(),
            inherits_stdin: false,
        };
        // Its own stdout and stderr are /dev/null as of its first command, so their pipes are not kept.
        let fds = supervised
            .start(start, None)
            .await
            .map_err(|error| failed(&error))?;
        tracing::debug!(
            pid = fds.pid,
            restored = remembered.is_some(),
            "a session's shell has started"
        );
        Ok(Self {
            supervised,
            pid: fds.pid,
            control: File::from(fds.control),
            status,
            directory,
            fresh: true,
            snapshot,
            background: Vec::new(),
            calls: 0,
        })
    }

    /// Where it reports.
    pub(super) fn status_path(&self) -> PathBuf {
        self.directory.path().join(STATUS)
    }

    /// Makes fresh FIFOs, opened by us for reading.
    pub(super) fn fifos(&mut self) -> io::Result<CallFifos> {
        self.calls += 1;
        let path = |name: &str| self.directory.path().join(format!("{name}-{}", self.calls));
        let (stdout_path, stderr_path) = (path("out"), path("err"));
        Ok(CallFifos {
            stdout: fifo(&stdout_path, OFlags::RDONLY)?,
            stderr: fifo(&stderr_path, OFlags::RDONLY)?,
            stdout_path,
            stderr_path,
        })
    }
}

/// Removes the directories of shells whose host was killed, in `directory`. Returns how many there were.
pub fn sweep_sessions(directory: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return 0;
    };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX))
        .filter(|entry| {
            is_abandoned(&entry.path()) && std::fs::remove_dir_all(entry.path()).is_ok()
        })
        .count()
}

/// Whether nobody reads the status FIFO any more. Not where there is none yet, or where it cannot be told.
fn is_abandoned(directory: &Path) -> bool {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    open(directory.join(STATUS), flags, Mode::empty()).is_err_and(|error| error == Errno::NXIO)
}

/// Beginning of the directories' names.
const PREFIX: &str = "agent-bash-session-";

/// Name of the status FIFO.
const STATUS: &str = "status";

/// Open for writing too: it must not end when the shell closes it between two reports.
fn status_fifo(directory: &Path) -> io::Result<Receiver> {
    let fd = fifo(&directory.join(STATUS), OFlags::RDWR)?;
    Receiver::from_owned_fd_unchecked(fd)
}

fn fifo(path: &Path, access: OFlags) -> io::Result<OwnedFd> {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    Ok(open(
        path,
        access | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW,
        Mode::empty(),
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_reads_is_swept() {
        let temp = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = temp.path().join(format!("{PREFIX}{name}"));
            std::fs::create_dir(&path).unwrap();
            path
        };
        let (new, used, dead) = (make("new"), make("used"), make("dead"));
        let _reader = fifo(&used.join(STATUS), OFlags::RDWR).unwrap();
        drop(fifo(&dead.join(STATUS), OFlags::RDWR).unwrap());
        assert_eq!(sweep_sessions(temp.path()), 1);
        assert!(new.exists() && used.exists() && !dead.exists());
    }
}
