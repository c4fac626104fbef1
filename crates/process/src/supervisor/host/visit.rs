//! Connects a later host to a job's supervisor, through a socket in the job's private directory. Only that
//! supervisor listens there, and nobody does once it has ended, so a reused pid cannot be mistaken for it.

use super::client::Gone;
use crate::supervisor::channel::{Inbox, Received, Wait, send};
use crate::supervisor::job_directory::{JobDirectory, JobEnd};
use crate::supervisor::protocol::{VisitAnswer, VisitRequest};
use agent_bash_core::Survivor;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;
use tokio::io::Interest;
use tokio::net::UnixStream;

/// A connection to a job's supervisor. Dropping it changes nothing.
#[derive(Debug)]
pub struct JobVisit {
    socket: UnixStream,
    inbox: Inbox,
}

/// The result of ending a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobKilled {
    /// All processes have ended, and so has the supervisor.
    AllGone,
    /// These withstood SIGKILL: they are in uninterruptible sleep.
    Stuck(Vec<Survivor>),
}

impl JobVisit {
    /// Connects to the supervisor of the job in `directory`.
    ///
    /// # Errors
    /// `NotFound` or `ConnectionRefused`: it has ended. Others: it cannot be reached.
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

    /// Ends the whole tree: SIGTERM, SIGCONT, `grace`, SIGKILL. Does not wait for it.
    ///
    /// # Errors
    /// The supervisor has ended.
    pub fn end(&self, grace: Duration) -> Result<(), Gone> {
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        self.ask(&VisitRequest::End { grace_ms })
    }

    /// Waits until the job has ended. Processes that have released its output may still be alive. Cancel safe.
    ///
    /// # Errors
    /// The supervisor has ended: what it knew is in its files, if anywhere.
    pub async fn ended(&mut self) -> Result<JobEnd, Gone> {
        loop {
            if let (VisitAnswer::Ended { end }, _) = self.answer().await? {
                return Ok(end);
            }
        }
    }

    /// Waits until all processes of the job have ended, or some withstand SIGKILL. Call after [`Self::end`]. Cancel
    /// safe.
    pub async fn killed(&mut self) -> JobKilled {
        loop {
            match self.answer().await {
                Ok((VisitAnswer::Stuck { survivors }, _)) => return JobKilled::Stuck(survivors),
                Ok(_) => {}
                Err(Gone) => return JobKilled::AllGone,
            }
        }
    }

    /// The living processes of the job.
    ///
    /// # Errors
    /// The supervisor has ended.
    pub async fn survivors(&mut self) -> Result<Vec<Survivor>, Gone> {
        self.ask(&VisitRequest::Survivors)?;
        loop {
            if let (VisitAnswer::Survivors { survivors }, _) = self.answer().await? {
                return Ok(survivors);
            }
        }
    }

    /// The write end of the job's stdin; `None` if it has no stdin, or it is closed.
    ///
    /// # Errors
    /// The supervisor has ended.
    pub async fn stdin(&mut self) -> Result<Option<OwnedFd>, Gone> {
        self.ask(&VisitRequest::Stdin)?;
        loop {
            match self.answer().await? {
                (VisitAnswer::Stdin, fds) => return Ok(fds.into_iter().next()),
                (VisitAnswer::NoStdin, _) => return Ok(None),
                _ => {}
            }
        }
    }

    /// Closes the job's stdin. False if it had none, or it was closed already.
    ///
    /// # Errors
    /// The supervisor has ended.
    pub async fn close_stdin(&mut self) -> Result<bool, Gone> {
        self.ask(&VisitRequest::CloseStdin)?;
        loop {
            match self.answer().await? {
                (VisitAnswer::StdinClosed, _) => return Ok(true),
                (VisitAnswer::NoStdin, _) => return Ok(false),
                _ => {}
            }
        }
    }

    fn ask(&self, request: &VisitRequest) -> Result<(), Gone> {
        send(self.socket.as_fd(), request, &[], Wait::No).map_err(|_| Gone)
    }

    async fn answer(&mut self) -> Result<(VisitAnswer, Vec<OwnedFd>), Gone> {
        loop {
            match self.inbox.next() {
                Ok(Some(message)) => return Ok(message),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, "a job's supervisor speaks nonsense");
                    return Err(Gone);
                }
            }
            self.socket.readable().await.map_err(|_| Gone)?;
            let (socket, inbox) = (&self.socket, &mut self.inbox);
            let received = socket.try_io(Interest::READABLE, || match inbox.receive(socket)? {
                Received::Nothing => Err(io::ErrorKind::WouldBlock.into()),
                received => Ok(received),
            });
            match received {
                Ok(Received::Some | Received::Nothing) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(Received::Closed) | Err(_) => return Err(Gone),
            }
        }
    }
}
