//! A shell of a session that lives and waits for records.

use super::Remembered;
use super::directory::{Directory, fifo, open_fifo, remove};
use super::record::{self, COMMIT, QUESTION};
use crate::cache::ShellCacheOptions;
use crate::snapshot::Snapshot;
use agent_bash_call::launch;
use agent_bash_core::{Clock, NotStarted, RunSpec, StreamId, Streams, Survivor};
use agent_bash_process::supervisor::{Event, Gone, ShellEnd, ShellStart, Supervised};
use agent_bash_process::{Children, make_fifo, shrink_pipe, signal_name};
use rustix::buffer::spare_capacity;
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::unix::pipe::{Receiver, Sender};

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
    /// What came out in this call.
    pub(super) said: Vec<u8>,
    /// What it exports comes out here after a call, and is read when the next one begins.
    exports: OwnedFd,
    /// The exports after its last call are still to be read.
    owes_exports: bool,
    /// Holds the FIFOs; removed with the shell.
    pub(super) directory: Directory,
    /// It has run nothing yet.
    pub(super) fresh: bool,
    /// What it has loaded.
    pub(super) snapshot: Option<Arc<Snapshot>>,
    /// Whom the supervisor and the shell have.
    children: [Children; 2],
    /// `$?` after the last call.
    pub(super) last: i32,
}

/// A pipe that the shell opens by its path, and our ends.
#[derive(Debug)]
pub(super) struct Fifo {
    pub(super) read: OwnedFd,
    /// As long as it is open the pipe has no end: the shell closes it before it reports, and that must not wake us.
    pub(super) write: OwnedFd,
    pub(super) path: PathBuf,
}

impl Fifo {
    fn open(path: PathBuf) -> io::Result<Self> {
        Ok(Self {
            read: open_fifo(&path, OFlags::RDONLY)?,
            write: open_fifo(&path, OFlags::WRONLY)?,
            path,
        })
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
        let directory = Directory::make(&options.directory)
            .map_err(|error| failed(&format_args!("{}: {error}", options.directory.display())))?;
        let status = fifo(&directory.status()).map_err(|error| failed(&error))?;
        let status = Receiver::from_owned_fd_unchecked(status).map_err(|error| failed(&error))?;
        let exports = fifo(&directory.exports()).map_err(|error| failed(&error))?;
        let base = &spec.env.base;
        let mut supervised = launch(&options.supervisor, base, &options.clock, true)
            .await
            .map_err(|error| failed(&error))?;
        let start = ShellStart {
            program: spec.shell.path.clone(),
            arg0: OsString::from("bash"),
            args: record::boot(&directory, snapshot.as_deref()),
            env_changes: Vec::new(),
            inherits_stdin: false,
            // Nobody would read them: a call's output comes out of its FIFOs.
            output: Vec::new(),
            limits: spec.limits,
        };
        let fds = supervised
            .start(start, None)
            .await
            .map_err(|error| failed(&error))?;
        // So small that a single byte makes it full: when it has room again the byte was read.
        shrink_pipe(&fds.control);
        let supervisor = supervised.pid();
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
            exports,
            owes_exports: false,
            directory,
            fresh: true,
            snapshot,
            children: [supervisor, fds.pid].map(Children::of),
            last: 0,
        })
    }

    /// A FIFO at this path that nobody has open but we: that of a call before, or a new one.
    fn fifo(path: PathBuf) -> io::Result<Fifo> {
        // Unless a script has removed it, or put something else there.
        if let Ok(fifo) = Fifo::open(path.clone())
            && FileType::from_raw_mode(rustix::fs::fstat(&fifo.read)?.st_mode).is_fifo()
        {
            return Ok(fifo);
        }
        remove(&path)?;
        make_fifo(&path)?;
        Fifo::open(path)
    }

    /// What the next script prints into, one for each stream.
    pub(super) fn outputs(&self, streams: Streams) -> io::Result<Vec<(StreamId, Fifo)>> {
        let stdout = Self::fifo(self.directory.stdout())?;
        match streams {
            Streams::Merged => {
                self.directory.join_outputs()?;
                Ok(vec![(StreamId::Merged, stdout)])
            }
            Streams::Split => {
                let stderr = Self::fifo(self.directory.stderr())?;
                Ok(vec![(StreamId::Stdout, stdout), (StreamId::Stderr, stderr)])
            }
        }
    }

    /// Gives it a record. It takes it when it gets to it.
    pub(super) fn write(&mut self, record: &[u8]) -> io::Result<()> {
        // Nothing of the record before is left, should that have been longer.
        self.record.set_len(0)?;
        self.record.write_all_at(record, 0)?;
        self.record.rewind()?;
        self.control.write_all(COMMIT)
    }

    /// Whether nobody lives beside it or below it, as far as that can be told by a short look. Whoever leaves it becomes the
    /// supervisor's child.
    pub(super) fn is_alone(&self) -> bool {
        let [beside, below] = &self.children;
        let own = i32::try_from(self.pid).unwrap_or_default();
        beside.are_just(&[own]) && below.are_just(&[])
    }

    /// Whether it has taken the record: it reads it from the place that it shares with us.
    pub(super) fn has_taken(&self) -> bool {
        rustix::fs::tell(&self.record) != Ok(0)
    }

    /// Takes the record back, if it was not taken. Returns whether it was not: the shell will find an empty one then.
    pub(super) fn take_back(&self) -> io::Result<bool> {
        if self.has_taken() {
            return Ok(false);
        }
        self.record.write_all_at(b"\0", 0)?;
        // At 1 it has taken the empty one meanwhile, beyond it the whole one.
        Ok(rustix::fs::tell(&self.record)? <= 1)
    }

    /// Asks whether it is done with its record. It answers by taking what it is asked with from the control pipe.
    pub(super) fn ask(&mut self) -> io::Result<Asked> {
        self.control.write_all(QUESTION)?;
        let control = self.control.try_clone()?;
        let control = Sender::from_owned_fd_unchecked(control.into())?;
        Ok(Asked { control })
    }

    /// Reads what it has said and was not read.
    pub(super) fn listen(&mut self) -> io::Result<()> {
        read_now(&self.status, &mut self.said)
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
        let failed = |error: io::Error| error.to_string();
        let mut exports = Vec::new();
        read_now(&self.exports, &mut exports).map_err(failed)?;
        if exports.last() != Some(&0) {
            // It is not done with them yet, which is rare.
            let fifo = self.exports.try_clone().map_err(failed)?;
            let fifo = Receiver::from_owned_fd_unchecked(fifo).map_err(failed)?;
            let mut limit = clock.sleep(SAID_WITHIN);
            while exports.last() != Some(&0) {
                tokio::select! {
                    biased;
                    read = read_status(&fifo, &mut exports) => read.map_err(failed)?,
                    end = until_ended(&mut self.supervised) => return Err(gone(end)),
                    () = &mut limit => return Ok(None),
                }
            }
        }
        exports.pop();
        Ok(Some(exports))
    }
}

/// A question to a shell.
#[derive(Debug)]
pub(super) struct Asked {
    control: Sender,
}

impl Asked {
    /// Waits for the answer: it is done with its record, and reads what comes next. For ever, where the system does not tell.
    /// Cancel safe.
    pub(super) async fn answered(&self) {
        let _ = self.control.writable().await;
        if rustix::io::ioctl_fionread(&self.control) != Ok(0) {
            std::future::pending::<()>().await;
        }
    }
}

/// How long what a shell exports may take to come.
const SAID_WITHIN: Duration = Duration::from_secs(1);

/// Reads what is there.
fn read_now(fifo: impl AsFd, text: &mut Vec<u8>) -> io::Result<()> {
    loop {
        text.reserve(4096);
        match rustix::io::read(&fifo, spare_capacity(text)) {
            Err(Errno::WOULDBLOCK) | Ok(0) => return Ok(()),
            Err(Errno::INTR) | Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

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

/// Waits until nobody of a tree that is being ended is left. Returns who withstands. Cancel safe.
pub(super) async fn until_gone(supervised: &mut Supervised) -> Vec<Survivor> {
    loop {
        match supervised.event().await {
            Ok((Event::Stuck { survivors }, _)) => return survivors,
            Ok((Event::Empty | Event::Ended { empty: true, .. }, _)) | Err(Gone) => {
                return Vec::new();
            }
            Ok(_) => {}
        }
    }
}

/// Why there is no shell any more.
pub(super) fn gone(end: Option<ShellEnd>) -> String {
    match end {
        Some(ShellEnd::Exited(code)) => format!("its shell exited with code {code}"),
        Some(ShellEnd::Signaled(number)) => {
            format!("its shell was ended by {}", signal_name(number))
        }
        None => "its supervisor was gone".to_owned(),
    }
}
