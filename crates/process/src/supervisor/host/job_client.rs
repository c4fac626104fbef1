//! Connects a later host to a job's supervisor, through a socket in the job's private directory.
//! Only that supervisor listens there, so a reused pid cannot be mistaken for it.

use super::order_sender::in_ms;
use super::receive::{self, Disconnected};
use crate::supervisor::channel::{Inbox, SendMode, send};
use crate::supervisor::job_directory::{JobDirectory, JobEnd};
use crate::supervisor::protocol::{JobAnswer, JobRequest};
use agent_bash_core::Survivor;
use agent_bash_os::ProcessIdentity;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;
use tokio::net::UnixStream;

/// A connection to a job's supervisor. Dropping it changes nothing.
#[derive(Debug)]
pub struct JobClient {
    socket: UnixStream,
    inbox: Inbox,
}

/// The result of ending a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobKilled {
    /// All processes have ended, and so has the supervisor.
    AllEnded,
    /// Some processes withstood SIGKILL: they are in uninterruptible sleep.
    Stuck(Vec<Survivor>),
}

impl JobClient {
    /// Connects to the supervisor of the job in `directory`.
    ///
    /// # Errors
    /// `NotFound` or `ConnectionRefused` if the supervisor has ended; others if it cannot be
    /// reached.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O enabled.
    pub async fn connect(directory: &Path) -> io::Result<Self> {
        let directory = JobDirectory::open(directory)?;
        Ok(Self {
            socket: UnixStream::connect(directory.socket()).await?,
            inbox: Inbox::new(),
        })
    }

    /// True unless another process than this supervisor listens on the socket: a command may have
    /// replaced the socket.
    pub fn is_of(&self, supervisor: &ProcessIdentity) -> bool {
        let peer = self.socket.peer_cred().ok().and_then(|peer| peer.pid());
        // The pid of a process of another PID namespace cannot be compared.
        peer.is_none_or(|pid| pid == supervisor.pid) || !supervisor.is_local()
    }

    /// Starts ending the job's process tree: SIGTERM, SIGCONT, `grace`, SIGKILL. Does not wait.
    ///
    /// # Errors
    /// The supervisor has ended.
    pub fn end(&self, grace: Duration) -> Result<(), Disconnected> {
        let grace_ms = in_ms(grace);
        self.ask(&JobRequest::End { grace_ms })
    }

    /// Waits until the job has ended. Processes that have released its output may still be alive.
    /// Cancel safe.
    ///
    /// # Errors
    /// The supervisor has ended. Then the job's files have the end of the job.
    pub async fn ended(&mut self) -> Result<JobEnd, Disconnected> {
        self.answer(|answer, _| match answer {
            JobAnswer::Ended { end } => Some(end),
            _ => None,
        })
        .await
    }

    /// Waits until all processes of the job have ended, or some withstand SIGKILL. Call after
    /// [`Self::end`]. Cancel safe.
    pub async fn killed(&mut self) -> JobKilled {
        let stuck = self.answer(|answer, _| match answer {
            JobAnswer::Stuck { survivors } => Some(survivors),
            _ => None,
        });
        stuck.await.map_or(JobKilled::AllEnded, JobKilled::Stuck)
    }

    /// Returns the running processes of the job.
    ///
    /// # Errors
    /// The supervisor has ended.
    pub async fn survivors(&mut self) -> Result<Vec<Survivor>, Disconnected> {
        self.ask(&JobRequest::Survivors)?;
        self.answer(|answer, _| match answer {
            JobAnswer::Survivors { survivors } => Some(survivors),
            _ => None,
        })
        .await
    }

    /// Returns the write end of the job's stdin; `None` if the job has no stdin, or it is closed.
    ///
    /// # Errors
    /// The supervisor has ended.
    pub async fn stdin(&mut self) -> Result<Option<OwnedFd>, Disconnected> {
        self.ask(&JobRequest::Stdin)?;
        self.answer(|answer, fds| match answer {
            JobAnswer::Stdin => Some(fds.into_iter().next()),
            JobAnswer::NoStdin => Some(None),
            _ => None,
        })
        .await
    }

    /// Closes the job's stdin. Returns false if the job has no stdin, or it was closed.
    ///
    /// # Errors
    /// The supervisor has ended.
    pub async fn close_stdin(&mut self) -> Result<bool, Disconnected> {
        self.ask(&JobRequest::CloseStdin)?;
        self.answer(|answer, _| match answer {
            JobAnswer::StdinClosed => Some(true),
            JobAnswer::NoStdin => Some(false),
            _ => None,
        })
        .await
    }

    fn ask(&self, request: &JobRequest) -> Result<(), Disconnected> {
        send(self.socket.as_fd(), request, &[], SendMode::NonBlocking).map_err(|_| Disconnected)
    }

    /// Waits for the first answer for which `read` returns a value. Cancel safe.
    async fn answer<T>(
        &mut self,
        read: impl Fn(JobAnswer, Vec<OwnedFd>) -> Option<T>,
    ) -> Result<T, Disconnected> {
        loop {
            let (answer, fds) = receive::next(&self.socket, &mut self.inbox).await?;
            if let Some(answer) = read(answer, fds) {
                return Ok(answer);
            }
        }
    }
}
