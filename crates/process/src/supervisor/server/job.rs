//! A job: a call that outlives its host. Its supervisor does not end with the host, owns the job's
//! files, accepts connections from later hosts, enforces the time limit, and records the end of the
//! job.
//!
//! Not here: reading the job's output (`relay`), ending it (`ladder`), the client side of
//! connections (`job_client`).

use crate::supervisor::channel::{self, Inbox, ReceiveOutcome, SendMode};
use crate::supervisor::job_directory::{
    ENTRY_FILE, JobDirectory, JobEnd, NEW_END_FILE, NEW_ENTRY_FILE, OUTPUT_FILE,
};
use crate::supervisor::protocol::{DetachOptions, JobAnswer, JobRequest, ShellEnd};
use agent_bash_core::{Notice, ScriptEnding, Survivor, Timestamp};
use rustix::process::Signal;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// Maximum number of concurrent connections. Further connections wait.
const MAX_CONNECTIONS: usize = 32;

/// Time limit for other processes to close the output after the job's processes have ended, and for
/// the job's processes after its shell was killed.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// A supervisor's job.
#[derive(Debug)]
pub(super) struct Job {
    directory: JobDirectory,
    /// A copy of the job's description; `None` if the system has no unnamed files.
    _description: Option<OwnedFd>,
    listener: UnixListener,
    connections: Vec<JobConnection>,
    /// The open [`NEW_END_FILE`].
    reserved: File,
    /// The job's output file; `None` for adopted survivors, whose file is their call's.
    output: Option<File>,
    /// Write end of the job's stdin.
    stdin: Option<OwnedFd>,
    limit: Option<JobTimeLimit>,
    timed_out: bool,
    /// True if the completion status is appended to the output file.
    completion_status: bool,
    /// The last signal sent on request to the job's processes after its shell had ended.
    ended_by: Option<Signal>,
    /// The time at which the wait for the rest of the output ends.
    drain_until: Option<Instant>,
    end: Option<JobEnd>,
}

#[derive(Debug, Clone, Copy)]
struct JobTimeLimit {
    /// The length of the limit.
    after: Duration,
    /// The time at which the limit is reached.
    until: Instant,
    /// The time between SIGTERM and SIGKILL.
    grace: Duration,
}

/// A connected later host.
#[derive(Debug)]
struct JobConnection {
    socket: UnixStream,
    inbox: Inbox,
}

/// The state of the job's processes.
#[derive(Debug, Clone, Copy)]
pub(super) struct JobProcesses {
    /// The end of the shell, if it has ended.
    pub(super) shell: Option<ShellEnd>,
    /// True if all processes have ended.
    pub(super) empty: bool,
    /// True while the processes are being ended, and none has survived SIGKILL so far.
    pub(super) is_being_ended: bool,
    /// True if some processes withstand SIGKILL.
    pub(super) has_stuck_processes: bool,
    /// True if all output has been read.
    pub(super) all_read: bool,
    /// Bytes that were read but not stored.
    pub(super) dropped: u64,
}

impl Job {
    /// Takes over a job whose shell waits for its script. [`Job::run`] must follow.
    pub(super) fn take_over(
        detach: &DetachOptions,
        stdin: Option<OwnedFd>,
        now: Instant,
    ) -> io::Result<Self> {
        let mut job = Self::open(&detach.directory)?;
        job.output = Some(job.directory.file(OUTPUT_FILE, true)?);
        job.stdin = stdin;
        job.completion_status = detach.completion_status;
        let after = Duration::from_millis(detach.limit_ms);
        job.limit = now.checked_add(after).map(|until| JobTimeLimit {
            after,
            until,
            grace: Duration::from_millis(detach.grace_ms),
        });
        Ok(job)
    }

    /// Makes the entry file visible and lets the shell run its script.
    ///
    /// # Errors
    /// There is no job, and the shell has not received its script.
    pub(super) fn run(&self, control: OwnedFd, commit: &str) -> io::Result<()> {
        self.commit()?;
        File::from(control)
            .write_all(commit.as_bytes())
            .inspect_err(|_| {
                // The shell has already ended without running the script, so no job must be
                // visible.
                let _ = self.directory.rename(ENTRY_FILE, NEW_ENTRY_FILE);
            })
    }

    /// Creates a job without a time limit from the survivors of a call.
    pub(super) fn adopt(directory: &OsStr) -> io::Result<Self> {
        let job = Self::open(directory)?;
        job.commit()?;
        Ok(job)
    }

    fn open(directory: &OsStr) -> io::Result<Self> {
        let directory = JobDirectory::open(Path::new(directory))?;
        Ok(Self {
            reserved: directory.file(NEW_END_FILE, false)?,
            _description: directory.copy_description().ok(),
            listener: directory.listen()?,
            directory,
            connections: Vec::new(),
            output: None,
            stdin: None,
            limit: None,
            timed_out: false,
            completion_status: false,
            ended_by: None,
            drain_until: None,
            end: None,
        })
    }

    fn commit(&self) -> io::Result<()> {
        self.directory.rename(NEW_ENTRY_FILE, ENTRY_FILE)
    }

    /// Returns a duplicate descriptor of the output file, for the relay.
    pub(super) fn output(&self) -> io::Result<Option<File>> {
        self.output.as_ref().map(File::try_clone).transpose()
    }

    /// Returns the end of the job, if it has ended. Processes that have closed the output may still
    /// run.
    pub(super) fn end(&self) -> Option<&JobEnd> {
        self.end.as_ref()
    }

    /// Descriptors to poll for reading.
    pub(super) fn sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let listener = (self.connections.len() < MAX_CONNECTIONS).then(|| self.listener.as_fd());
        let connections = self
            .connections
            .iter()
            .map(|connection| connection.socket.as_fd());
        listener.into_iter().chain(connections)
    }

    /// Returns the time at which [`Job::due`] or [`Job::conclude`] must be called if nothing else
    /// happens.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let limit = self.limit.filter(|_| !self.timed_out);
        let until = limit.map(|limit| limit.until);
        until.into_iter().chain(self.drain_until).min()
    }

    /// Returns, once, the grace period for ending the job when the time limit is reached.
    pub(super) fn due(&mut self, now: Instant) -> Option<Duration> {
        let limit = self.limit.filter(|limit| now >= limit.until)?;
        (!std::mem::replace(&mut self.timed_out, true)).then_some(limit.grace)
    }

    /// True if all output was read, or waiting for the rest has timed out.
    fn is_drained(&mut self, state: JobProcesses, now: Instant) -> bool {
        let was_killed =
            matches!(state.shell, Some(ShellEnd::Signaled(_))) && !state.is_being_ended;
        let is_limited = state.empty || was_killed || state.has_stuck_processes;
        if !is_limited || state.all_read {
            self.drain_until = None;
            return state.all_read;
        }
        now >= *self.drain_until.get_or_insert(now + DRAIN_TIMEOUT)
    }

    /// True if the job and all its processes have ended, and no more output is read.
    pub(super) fn has_read_all(&mut self, state: JobProcesses, now: Instant) -> bool {
        self.end.is_some() && state.empty && self.is_drained(state, now)
    }

    /// Records the job's end once its shell has ended and no process holds its output. A job of
    /// survivors has no shell: it ends when no processes remain. A job with a killed shell has
    /// ended even if a process still holds its output. The output file ends with the notices of
    /// `limits`. Returns true at the moment of its end.
    pub(super) fn conclude(
        &mut self,
        state: JobProcesses,
        now: Instant,
        limits: impl FnOnce() -> Vec<Notice>,
    ) -> bool {
        if self.end.is_some() {
            return false;
        }
        let drained = self.is_drained(state, now);
        let ending = match (&self.output, state.shell) {
            (None, _) if state.empty && drained => {
                self.requested_ending().unwrap_or(ScriptEnding::AllEnded)
            }
            (Some(_), Some(end)) if drained => self.ending(end),
            _ => return false,
        };
        self.stdin = None;
        if let Some(output) = &mut self.output {
            for notice in limits() {
                // As below, a full disk does not matter.
                let _ = output.write_all(format!("\n[{}]\n", notice.text).as_bytes());
            }
        }
        let end = JobEnd {
            ending,
            ended_at: wall(),
            dropped_bytes: state.dropped,
            has_remaining: !state.empty,
            length: self.output.as_ref().map_or(0, length),
        };
        self.limit = None;
        if self.completion_status
            && let Some(output) = &mut self.output
        {
            // A full disk must not keep the end from being recorded.
            let _ = output.write_all(end.ending.completion_status().as_bytes());
        }
        let _ = self.directory.end(&mut self.reserved, &end);
        let answer = JobAnswer::Ended { end: end.clone() };
        self.connections
            .retain(|connection| connection.send(&answer, &[]));
        self.end = Some(end);
        true
    }

    fn ending(&self, shell: ShellEnd) -> ScriptEnding {
        match (self.timed_out, self.limit.as_ref()) {
            (true, Some(limit)) => ScriptEnding::TimedOut { after: limit.after },
            _ => self.requested_ending().unwrap_or_else(|| shell.into()),
        }
    }

    /// Records that the processes are sent SIGTERM on request. `shell_ended` is true if the shell's
    /// end was already reported.
    pub(super) fn end_requested(&mut self, shell_ended: bool) {
        if shell_ended && !self.timed_out {
            self.ended_by.get_or_insert(Signal::TERM);
        }
    }

    /// Records that the processes are sent SIGKILL.
    pub(super) fn record_sigkill(&mut self) {
        if let Some(signal) = &mut self.ended_by {
            *signal = Signal::KILL;
        }
    }

    fn requested_ending(&self) -> Option<ScriptEnding> {
        let signal = self.ended_by?;
        Some(ShellEnd::Signaled(signal.as_raw()).into())
    }

    /// Accepts connections and answers requests. Returns the grace periods of the requests to end
    /// the job. `survivors` lists the running processes.
    pub(super) fn receive(
        &mut self,
        mut survivors: impl FnMut() -> Vec<Survivor>,
    ) -> Vec<Duration> {
        while self.connections.len() < MAX_CONNECTIONS {
            let Ok((socket, _)) = self.listener.accept() else {
                break;
            };
            if socket.set_nonblocking(true).is_ok() {
                let connection = JobConnection {
                    socket,
                    inbox: Inbox::new(),
                };
                let end = self.end.clone().map(|end| JobAnswer::Ended { end });
                if end.is_none_or(|end| connection.send(&end, &[])) {
                    self.connections.push(connection);
                }
            }
        }
        let mut graces = Vec::new();
        let mut connections = std::mem::take(&mut self.connections);
        connections.retain_mut(|connection| {
            let Some(requests) = connection.requests() else {
                return false;
            };
            requests.into_iter().all(|request| match request {
                JobRequest::End { grace_ms } => {
                    graces.push(Duration::from_millis(grace_ms));
                    true
                }
                JobRequest::Survivors => {
                    let survivors = survivors();
                    connection.send(&JobAnswer::Survivors { survivors }, &[])
                }
                JobRequest::Stdin => match &self.stdin {
                    Some(stdin) => connection.send(&JobAnswer::Stdin, &[stdin.as_fd()]),
                    None => connection.send(&JobAnswer::NoStdin, &[]),
                },
                JobRequest::CloseStdin => match self.stdin.take() {
                    Some(_) => connection.send(&JobAnswer::StdinClosed, &[]),
                    None => connection.send(&JobAnswer::NoStdin, &[]),
                },
            })
        });
        self.connections = connections;
        graces
    }

    /// Reports processes that withstand SIGKILL to all clients.
    pub(super) fn report_stuck(&mut self, survivors: &[Survivor]) {
        let answer = JobAnswer::Stuck {
            survivors: survivors.to_vec(),
        };
        self.connections
            .retain(|connection| connection.send(&answer, &[]));
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.directory.remove_socket();
    }
}

impl JobConnection {
    /// Returns the client's requests; `None` if it has disconnected or violates the protocol.
    fn requests(&mut self) -> Option<Vec<JobRequest>> {
        let mut requests = Vec::new();
        loop {
            let received = self.inbox.receive(&self.socket).ok()?;
            while let Some((request, _)) = self.inbox.next::<JobRequest>().ok()? {
                requests.push(request);
            }
            match received {
                ReceiveOutcome::Received => {}
                // Requests sent before disconnecting still count: a client may end the job and
                // disconnect.
                ReceiveOutcome::Closed if requests.is_empty() => return None,
                ReceiveOutcome::Nothing | ReceiveOutcome::Closed => return Some(requests),
            }
        }
    }

    /// Sends an answer. Returns false if the client cannot be reached, which counts as
    /// disconnected.
    fn send(&self, answer: &JobAnswer, fds: &[BorrowedFd<'_>]) -> bool {
        channel::send(self.socket.as_fd(), answer, fds, SendMode::NonBlocking).is_ok()
    }
}

fn length(file: &File) -> u64 {
    file.metadata().map_or(0, |meta| meta.len())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the supervisor has no runtime; this is its clock"
)]
fn wall() -> Timestamp {
    SystemTime::now().into()
}
