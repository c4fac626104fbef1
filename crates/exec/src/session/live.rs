//! A shell of a session that lives and waits for records.

use super::Remembered;
use super::record::{self, COMMIT, take_exports};
use crate::cache::ShellCacheOptions;
use crate::snapshot::Snapshot;
use crate::start;
use agent_bash_core::{Clock, NotStarted, RunSpec};
use agent_bash_process::signal_name;
use agent_bash_process::supervisor::{Event, Gone, ShellEnd, ShellStart, Supervised};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::unix::pipe::Receiver;

/// A living shell.
#[derive(Debug)]
pub(super) struct LiveShell {
    pub(super) supervised: Supervised,
    pub(super) pid: u32,
    /// Records go in here; the shell shares the place where it is read.
    record: File,
    /// A NUL in here makes the shell take the record.
    control: File,
    /// Reports come out here.
    pub(super) status: Receiver,
    /// What came out, and was not used yet.
    pub(super) said: Vec<u8>,
    /// The exports after its last call are still to come out.
    owes_exports: bool,
    /// Holds the FIFOs; removed with the shell.
    directory: tempfile::TempDir,
    /// FIFOs that nobody has open but we: the next call's.
    spare: Vec<Fifo>,
    /// It has run nothing yet.
    pub(super) fresh: bool,
    /// What it has loaded.
    pub(super) snapshot: Option<Arc<Snapshot>>,
    /// `$!` after the last call.
    pub(super) background: Vec<u8>,
    fifos: u64,
}

/// A pipe that the shell opens by its path, and our end.
#[derive(Debug)]
pub(super) struct Fifo {
    pub(super) fd: OwnedFd,
    pub(super) path: PathBuf,
}

impl Fifo {
    /// Whether its path still is its.
    fn is_there(&self) -> bool {
        rustix::fs::fstat(&self.fd).is_ok_and(|stat| stat.st_nlink > 0)
    }
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
            limits: spec.limits,
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
            record: File::from(fds.script),
            control: File::from(fds.control),
            status,
            said: Vec::new(),
            owes_exports: false,
            directory,
            spare: Vec::new(),
            fresh: true,
            snapshot,
            background: Vec::new(),
            fifos: 0,
        })
    }

    /// Where it reports.
    pub(super) fn status_path(&self) -> PathBuf {
        self.directory.path().join(STATUS)
    }

    /// A FIFO that nobody has open but we: one that a call before has left so, or a new one.
    pub(super) fn fifo(&mut self) -> io::Result<Fifo> {
        while !self.spare.is_empty() {
            let spare = self.spare.remove(0);
            if spare.is_there() {
                return Ok(spare);
            }
        }
        self.fifos += 1;
        let path = self.directory.path().join(format!("out-{}", self.fifos));
        let fd = fifo(&path, OFlags::RDONLY)?;
        Ok(Fifo { fd, path })
    }

    /// Keeps a FIFO that has ended for the next call.
    pub(super) fn keep(&mut self, fifo: Fifo) {
        self.spare.push(fifo);
    }

    /// Gives it a record. It takes it when it gets to it.
    pub(super) fn write(&mut self, record: &[u8]) -> io::Result<()> {
        // Nothing of the record before is left, should that have been longer.
        self.record.set_len(0)?;
        self.record.write_all_at(record, 0)?;
        self.record.rewind()?;
        self.control.write_all(COMMIT)
    }

    /// It has said how its call ended; what it exports follows.
    pub(super) fn will_say_exports(&mut self) {
        self.owes_exports = true;
    }

    /// What it exported after its last call, if that is not known yet and it says so within a second.
    ///
    /// # Errors
    /// It has ended meanwhile.
    pub(super) async fn exports(&mut self, clock: &dyn Clock) -> Result<Option<Vec<u8>>, String> {
        if !std::mem::take(&mut self.owes_exports) {
            return Ok(None);
        }
        let mut limit = clock.sleep(SAID_WITHIN);
        loop {
            if let Some(exports) = take_exports(&mut self.said) {
                return Ok(Some(exports));
            }
            tokio::select! {
                biased;
                read = read_status(&self.status, &mut self.said) => read.map_err(|error| error.to_string())?,
                end = until_ended(&mut self.supervised) => return Err(gone(end)),
                () = &mut limit => return Ok(None),
            }
        }
    }
}

/// How long the end of a report may take.
const SAID_WITHIN: Duration = Duration::from_secs(1);

/// Waits for more of a report. Cancel safe.
pub(super) async fn read_status(fifo: &Receiver, said: &mut Vec<u8>) -> io::Result<()> {
    loop {
        fifo.readable().await?;
        let mut buffer = [0u8; 4096];
        match fifo.try_read(&mut buffer) {
            Ok(count) => {
                said.extend_from_slice(&buffer[..count]);
                return Ok(());
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

/// Waits for the end of the shell. Cancel safe.
pub(super) async fn until_ended(supervised: &mut Supervised) -> Option<ShellEnd> {
    loop {
        match supervised.event().await {
            Ok((Event::Ended { end, .. }, _)) => return Some(end),
            Ok(_) => {}
            Err(Gone) => return None,
        }
    }
}

/// Why there is no shell any more.
pub(super) fn gone(end: Option<ShellEnd>) -> String {
    match end {
        Some(ShellEnd::Exited(code)) => format!("its shell had exited with code {code}"),
        Some(ShellEnd::Signaled(number)) => {
            format!("its shell had been ended by {}", signal_name(number))
        }
        None => "its supervisor was gone".to_owned(),
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
