//! A job: a call that outlives its host. Its supervisor has let go of the lifeline, keeps the job's files, listens for
//! later hosts, ends it when it has taken too long, and writes how it ended.
//!
//! What is *not* here: reading the job's output (`relay`), ending it (`ladder`), the later host's side (`visit`).

use crate::signal_name;
use crate::supervisor::channel::{Inbox, Received, Wait, send};
use crate::supervisor::job_directory::{
    ENTRY, JobDirectory, JobEnd, JobEnding, NEW_END, NEW_ENTRY, OUTPUT,
};
use crate::supervisor::protocol::{Detach, ShellEnd, VisitAnswer, VisitRequest};
use agent_bash_core::{Survivor, Timestamp};
use rustix::fs::OFlags;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// Later hosts that are listened to at once. More wait.
const MAX_VISITORS: usize = 32;

/// When nobody is left, whoever outside still holds the output has this long to let go of it; and so long has whoever is left,
/// when the shell was killed.
const DRAIN: Duration = Duration::from_secs(1);

/// The job that a supervisor keeps.
#[derive(Debug)]
pub(super) struct Job {
    directory: JobDirectory,
    listener: UnixListener,
    visitors: Vec<Visitor>,
    /// [`NEW_END`].
    reserved: File,
    /// What it prints; `None` for adopted survivors, whose file is their call's.
    output: Option<File>,
    /// The writing end of what the job reads.
    stdin: Option<OwnedFd>,
    limit: Option<Limit>,
    timed_out: bool,
    drained: Option<Instant>,
    end: Option<JobEnd>,
}

/// How long a job may take.
#[derive(Debug, Clone, Copy)]
struct Limit {
    after: Duration,
    until: Instant,
    grace: Duration,
}

/// A later host.
#[derive(Debug)]
struct Visitor {
    socket: UnixStream,
    inbox: Inbox,
}

/// What a visitor wants of the whole supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// To end the tree, with this grace.
    End(Duration),
}

/// What the supervisor sees of the job.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// How the shell ended, once it has.
    pub(super) shell: Option<ShellEnd>,
    /// Nobody is left.
    pub(super) empty: bool,
    /// They are being ended, and none has withstood that so far.
    pub(super) is_being_ended: bool,
    /// One has.
    pub(super) is_withstood: bool,
    /// All output was read to its end.
    pub(super) all_read: bool,
    /// Bytes that were read and not kept.
    pub(super) dropped: u64,
}

impl Job {
    /// Takes a job whose shell waits for its script. [`Job::run`] follows.
    pub(super) fn take(detach: &Detach, stdin: Option<OwnedFd>, now: Instant) -> io::Result<Self> {
        let mut job = Self::open(&detach.directory)?;
        job.output = Some(
            job.directory
                .file(OUTPUT, OFlags::WRONLY | OFlags::APPEND)?,
        );
        job.stdin = stdin;
        let after = Duration::from_millis(detach.limit_ms);
        job.limit = now.checked_add(after).map(|until| Limit {
            after,
            until,
            grace: Duration::from_millis(detach.grace_ms),
        });
        Ok(job)
    }

    /// Makes the entry visible and lets the shell run.
    ///
    /// # Errors
    /// There is no job, and the shell has not been given its script.
    pub(super) fn run(&self, control: OwnedFd, commit: &str) -> io::Result<()> {
        self.commit()?;
        File::from(control)
            .write_all(commit.as_bytes())
            .inspect_err(|_| {
                // The shell is gone already. Nothing has run, so nothing shall be seen.
                let _ = self.directory.rename(ENTRY, NEW_ENTRY);
            })
    }

    /// Takes survivors of a call as a job: it has no limit.
    pub(super) fn adopt(directory: &OsStr) -> io::Result<Self> {
        let job = Self::open(directory)?;
        job.commit()?;
        Ok(job)
    }

    fn open(directory: &OsStr) -> io::Result<Self> {
        let directory = JobDirectory::open(Path::new(directory))?;
        Ok(Self {
            reserved: directory.file(NEW_END, OFlags::WRONLY)?,
            listener: directory.listen()?,
            directory,
            visitors: Vec::new(),
            output: None,
            stdin: None,
            limit: None,
            timed_out: false,
            drained: None,
            end: None,
        })
    }

    fn commit(&self) -> io::Result<()> {
        self.directory.rename(NEW_ENTRY, ENTRY)
    }

    /// A second handle of the output file, for the relay.
    pub(super) fn output(&self) -> io::Result<Option<File>> {
        self.output.as_ref().map(File::try_clone).transpose()
    }

    /// How it ended, once it has. Processes that have let go of its output may live on.
    pub(super) fn end(&self) -> Option<&JobEnd> {
        self.end.as_ref()
    }

    /// What to poll for reading.
    pub(super) fn sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let listener = (self.visitors.len() < MAX_VISITORS).then(|| self.listener.as_fd());
        let visitors = self.visitors.iter().map(|visitor| visitor.socket.as_fd());
        listener.into_iter().chain(visitors)
    }

    /// When [`Job::due`] or [`Job::conclude`] has something to do although nothing happens.
    pub(super) fn next(&self) -> Option<Instant> {
        let limit = self.limit.filter(|_| !self.timed_out);
        let until = limit.map(|limit| limit.until);
        until.into_iter().chain(self.drained).min()
    }

    /// The grace with which the job is to be ended now, since its time is up. Once.
    pub(super) fn due(&mut self, now: Instant) -> Option<Duration> {
        let limit = self.limit.filter(|limit| now >= limit.until)?;
        (!std::mem::replace(&mut self.timed_out, true)).then_some(limit.grace)
    }

    /// Whether what is left of the output is not waited for any longer.
    fn is_drained(&mut self, seen: Seen, now: Instant) -> bool {
        let was_killed = matches!(seen.shell, Some(ShellEnd::Signaled(_))) && !seen.is_being_ended;
        let waits = seen.empty || was_killed || seen.is_withstood;
        if !waits || seen.all_read {
            self.drained = None;
            return seen.all_read;
        }
        now >= *self.drained.get_or_insert(now + DRAIN)
    }

    /// Whether nothing more is to be read: it has ended, and so has everybody who prints.
    pub(super) fn reads_no_more(&mut self, seen: Seen, now: Instant) -> bool {
        self.end.is_some() && seen.empty && self.is_drained(seen, now)
    }

    /// Writes how the job ended, when it has: its shell is gone and nobody holds its output any longer, or nobody is left who
    /// could; for survivors, when nobody is left at all. A job whose shell was killed has ended, whoever still holds its output.
    /// True in the moment in which it ends.
    pub(super) fn conclude(&mut self, seen: Seen, now: Instant) -> bool {
        if self.end.is_some() {
            return false;
        }
        let over = self.is_drained(seen, now);
        let ending = match (&self.output, seen.shell) {
            (None, _) if seen.empty && over => JobEnding::Gone,
            (Some(_), Some(end)) if over => self.ending(end),
            _ => return false,
        };
        self.stdin = None;
        let end = JobEnd {
            ending,
            ended_at: wall(),
            dropped_bytes: seen.dropped,
            left: !seen.empty,
            length: self.output.as_ref().map_or(0, length),
        };
        self.limit = None;
        let _ = self.directory.end(&mut self.reserved, &end);
        let answer = VisitAnswer::Ended { end: end.clone() };
        self.visitors.retain(|visitor| visitor.tell(&answer, &[]));
        self.end = Some(end);
        true
    }

    fn ending(&self, shell: ShellEnd) -> JobEnding {
        match (self.timed_out, self.limit, shell) {
            (true, Some(limit), _) => JobEnding::TimedOut {
                after_ms: u64::try_from(limit.after.as_millis()).unwrap_or(u64::MAX),
            },
            (_, _, ShellEnd::Exited(code)) => JobEnding::Exited { code },
            (_, _, ShellEnd::Signaled(number)) => JobEnding::Signaled {
                signal: signal_name(number),
                number,
            },
        }
    }

    /// Lets visitors in and does what they ask for. `survivors` is asked for the living.
    pub(super) fn receive(&mut self, mut survivors: impl FnMut() -> Vec<Survivor>) -> Vec<Wanted> {
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
                    wanted.push(Wanted::End(Duration::from_millis(grace_ms)));
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

    /// Tells the visitors that somebody withstands SIGKILL.
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
    /// What it wants; `None` if it is gone or speaks nonsense.
    fn requests(&mut self) -> Option<Vec<VisitRequest>> {
        let mut requests = Vec::new();
        loop {
            let received = self.inbox.receive(&self.socket).ok()?;
            while let Some((request, _)) = self.inbox.next::<VisitRequest>().ok()? {
                requests.push(request);
            }
            match received {
                Received::Some => {}
                // What it said before it left still counts: to end a job and go is a thing to do.
                Received::Closed if requests.is_empty() => return None,
                Received::Nothing | Received::Closed => return Some(requests),
            }
        }
    }

    /// False if it cannot be told, which is as good as gone.
    fn tell(&self, answer: &VisitAnswer, fds: &[BorrowedFd<'_>]) -> bool {
        send(self.socket.as_fd(), answer, fds, Wait::No).is_ok()
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
