//! A job: a call that outlives its host. Its supervisor has given up the lifeline, owns the job's
//! files, accepts connections from later hosts, enforces the time limit, and records the end of the
//! job.
//!
//! Not here: reading the job's output (`relay`), ending it (`ladder`), the client side of
//! connections (`job_client`).

use crate::supervisor::channel::{Inbox, ReceiveOutcome, SendMode, send};
use crate::supervisor::job_directory::{
    ENTRY_FILE, JobDirectory, JobEnd, NEW_END_FILE, NEW_ENTRY_FILE, OUTPUT_FILE,
};
use crate::supervisor::protocol::{DetachOptions, ShellEnd, VisitAnswer, VisitRequest};
use agent_bash_core::{ScriptEnding, Survivor, Timestamp};
use rustix::process::Signal;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// Limit of concurrent connections. Further ones wait.
const MAX_VISITORS: usize = 32;

/// Time limit for an outside process to release the output, after all processes of the job have
/// ended. Likewise for the remaining processes if the shell was killed.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// A supervisor's job.
#[derive(Debug)]
pub(super) struct Job {
    directory: JobDirectory,
    listener: UnixListener,
    visitors: Vec<Visitor>,
    /// [`NEW_END_FILE`].
    reserved: File,
    /// The job's output file; `None` for adopted survivors, whose file is their call's.
    output: Option<File>,
    /// Write end of the job's stdin.
    stdin: Option<OwnedFd>,
    limit: Option<JobTimeLimit>,
    timed_out: bool,
    /// True if the completion status is appended to the output file.
    completion_status: bool,
    /// The last signal sent to its processes on request after its shell had ended.
    ended_by: Option<Signal>,
    drained: Option<Instant>,
    end: Option<JobEnd>,
}

/// The time limit of a job.
#[derive(Debug, Clone, Copy)]
struct JobTimeLimit {
    after: Duration,
    until: Instant,
    grace: Duration,
}

/// A connected later host.
#[derive(Debug)]
struct Visitor {
    socket: UnixStream,
    inbox: Inbox,
}

/// A visitor's request that concerns the whole supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SupervisorRequest {
    /// End the tree with this grace period.
    End(Duration),
}

/// The state of the job's processes.
#[derive(Debug, Clone, Copy)]
pub(super) struct JobProcesses {
    /// The end of the shell, if it has ended.
    pub(super) shell: Option<ShellEnd>,
    /// All processes have ended.
    pub(super) empty: bool,
    /// True while the processes are being ended, and none has survived SIGKILL so far.
    pub(super) is_being_ended: bool,
    /// Some withstand SIGKILL.
    pub(super) is_withstood: bool,
    /// All output has been read.
    pub(super) all_read: bool,
    /// Bytes that were read but not stored.
    pub(super) dropped: u64,
}

impl Job {
    /// Takes over a job whose shell waits for its script; to be followed by [`Job::run`].
    pub(super) fn take(
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

    /// Makes the entry visible and lets the shell run.
    ///
    /// # Errors
    /// There is no job, and the shell has not received its script.
    pub(super) fn run(&self, control: OwnedFd, commit: &str) -> io::Result<()> {
        self.commit()?;
        File::from(control)
            .write_all(commit.as_bytes())
            .inspect_err(|_| {
                // The shell has already ended. Nothing has run, so no job must be visible.
                let _ = self.directory.rename(ENTRY_FILE, NEW_ENTRY_FILE);
            })
    }

    /// Takes survivors of a call as a job without a time limit.
    pub(super) fn adopt(directory: &OsStr) -> io::Result<Self> {
        let job = Self::open(directory)?;
        job.commit()?;
        Ok(job)
    }

    fn open(directory: &OsStr) -> io::Result<Self> {
        let directory = JobDirectory::open(Path::new(directory))?;
        Ok(Self {
            reserved: directory.file(NEW_END_FILE, false)?,
            listener: directory.listen()?,
            directory,
            visitors: Vec::new(),
            output: None,
            stdin: None,
            limit: None,
            timed_out: false,
            completion_status: false,
            ended_by: None,
            drained: None,
            end: None,
        })
    }

    fn commit(&self) -> io::Result<()> {
        self.directory.rename(NEW_ENTRY_FILE, ENTRY_FILE)
    }

    /// A duplicate descriptor of the output file, for the relay.
    pub(super) fn output(&self) -> io::Result<Option<File>> {
        self.output.as_ref().map(File::try_clone).transpose()
    }

    /// The end of the job, if it has ended. Processes that have released its output may still be
    /// alive.
    pub(super) fn end(&self) -> Option<&JobEnd> {
        self.end.as_ref()
    }

    /// Descriptors to poll for reading.
    pub(super) fn sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let listener = (self.visitors.len() < MAX_VISITORS).then(|| self.listener.as_fd());
        let visitors = self.visitors.iter().map(|visitor| visitor.socket.as_fd());
        listener.into_iter().chain(visitors)
    }

    /// The time at which [`Job::due`] or [`Job::conclude`] must be called if nothing else happens.
    pub(super) fn next(&self) -> Option<Instant> {
        let limit = self.limit.filter(|_| !self.timed_out);
        let until = limit.map(|limit| limit.until);
        until.into_iter().chain(self.drained).min()
    }

    /// Returns the grace period for ending the job, if the time limit has just been reached.
    /// Returned once.
    pub(super) fn due(&mut self, now: Instant) -> Option<Duration> {
        let limit = self.limit.filter(|limit| now >= limit.until)?;
        (!std::mem::replace(&mut self.timed_out, true)).then_some(limit.grace)
    }

    /// True if the supervisor stops waiting for the rest of the output.
    fn is_drained(&mut self, seen: JobProcesses, now: Instant) -> bool {
        let was_killed = matches!(seen.shell, Some(ShellEnd::Signaled(_))) && !seen.is_being_ended;
        let waits = seen.empty || was_killed || seen.is_withstood;
        if !waits || seen.all_read {
            self.drained = None;
            return seen.all_read;
        }
        now >= *self.drained.get_or_insert(now + DRAIN_TIMEOUT)
    }

    /// True if nothing more is read: the job has ended, and so have all processes that print.
    pub(super) fn reads_no_more(&mut self, seen: JobProcesses, now: Instant) -> bool {
        self.end.is_some() && seen.empty && self.is_drained(seen, now)
    }

    /// Records the job's end once its shell has ended and no process holds its output, or no
    /// processes remain at all (for survivors, only the latter). A job with a killed shell has
    /// ended even if its output is still held. Returns true at the moment of its end.
    pub(super) fn conclude(&mut self, seen: JobProcesses, now: Instant) -> bool {
        if self.end.is_some() {
            return false;
        }
        let over = self.is_drained(seen, now);
        let ending = match (&self.output, seen.shell) {
            (None, _) if seen.empty && over => self.on_request().unwrap_or(ScriptEnding::AllEnded),
            (Some(_), Some(end)) if over => self.ending(end),
            _ => return false,
        };
        self.stdin = None;
        let end = JobEnd {
            ending,
            ended_at: wall(),
            dropped_bytes: seen.dropped,
            has_remaining: !seen.empty,
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
        let answer = VisitAnswer::Ended { end: end.clone() };
        self.visitors.retain(|visitor| visitor.tell(&answer, &[]));
        self.end = Some(end);
        true
    }

    fn ending(&self, shell: ShellEnd) -> ScriptEnding {
        match (self.timed_out, self.limit.as_ref()) {
            (true, Some(limit)) => ScriptEnding::TimedOut { after: limit.after },
            _ => self.on_request().unwrap_or_else(|| shell.into()),
        }
    }

    /// Records that its processes are sent SIGTERM on request. `shell_ended`: no shell is left to
    /// report an ending.
    pub(super) fn end_requested(&mut self, shell_ended: bool) {
        if shell_ended && !self.timed_out {
            self.ended_by.get_or_insert(Signal::TERM);
        }
    }

    /// Records that its processes are sent SIGKILL.
    pub(super) fn is_being_killed(&mut self) {
        if let Some(signal) = &mut self.ended_by {
            *signal = Signal::KILL;
        }
    }

    fn on_request(&self) -> Option<ScriptEnding> {
        let signal = self.ended_by?;
        Some(ShellEnd::Signaled(signal.as_raw()).into())
    }

    /// Accepts visitors and serves their requests. `survivors` lists the living processes.
    pub(super) fn receive(
        &mut self,
        mut survivors: impl FnMut() -> Vec<Survivor>,
    ) -> Vec<SupervisorRequest> {
        while self.visitors.len() < MAX_VISITORS {
            let Ok((socket, _)) = self.listener.accept() else {
                break;
            };
            if socket.set_nonblocking(true).is_ok() {
                let visitor = Visitor {
                    socket,
                    inbox: Inbox::new(),
                };
                let end = self.end.clone().map(|end| VisitAnswer::Ended { end });
                if end.is_none_or(|end| visitor.tell(&end, &[])) {
                    self.visitors.push(visitor);
                }
            }
        }
        let mut wanted = Vec::new();
        let mut visitors = std::mem::take(&mut self.visitors);
        visitors.retain_mut(|visitor| {
            let Some(requests) = visitor.requests() else {
                return false;
            };
            requests.into_iter().all(|request| match request {
                VisitRequest::End { grace_ms } => {
                    wanted.push(SupervisorRequest::End(Duration::from_millis(grace_ms)));
                    true
                }
                VisitRequest::Survivors => {
                    let survivors = survivors();
                    visitor.tell(&VisitAnswer::Survivors { survivors }, &[])
                }
                VisitRequest::Stdin => match &self.stdin {
                    Some(stdin) => visitor.tell(&VisitAnswer::Stdin, &[stdin.as_fd()]),
                    None => visitor.tell(&VisitAnswer::NoStdin, &[]),
                },
                VisitRequest::CloseStdin => match self.stdin.take() {
                    Some(_) => visitor.tell(&VisitAnswer::StdinClosed, &[]),
                    None => visitor.tell(&VisitAnswer::NoStdin, &[]),
                },
            })
        });
        self.visitors = visitors;
        wanted
    }

    /// Tells the visitors which processes withstand SIGKILL.
    pub(super) fn tell_stuck(&mut self, survivors: &[Survivor]) {
        let answer = VisitAnswer::Stuck {
            survivors: survivors.to_vec(),
        };
        self.visitors.retain(|visitor| visitor.tell(&answer, &[]));
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.directory.tidy();
    }
}

impl Visitor {
    /// The visitor's requests; `None` if it has disconnected or violates the protocol.
    fn requests(&mut self) -> Option<Vec<VisitRequest>> {
        let mut requests = Vec::new();
        loop {
            let received = self.inbox.receive(&self.socket).ok()?;
            while let Some((request, _)) = self.inbox.next::<VisitRequest>().ok()? {
                requests.push(request);
            }
            match received {
                ReceiveOutcome::Some => {}
                // Requests sent before disconnecting still count: a visitor may end the job and
                // leave.
                ReceiveOutcome::Closed if requests.is_empty() => return None,
                ReceiveOutcome::Nothing | ReceiveOutcome::Closed => return Some(requests),
            }
        }
    }

    /// Returns false if the visitor cannot be reached, which counts as disconnected.
    fn tell(&self, answer: &VisitAnswer, fds: &[BorrowedFd<'_>]) -> bool {
        send(self.socket.as_fd(), answer, fds, SendMode::No).is_ok()
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
