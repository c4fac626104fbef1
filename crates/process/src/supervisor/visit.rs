//! How a later host reaches the supervisor of a job: over a socket in the job's private directory. Only that supervisor
//! listens there, and nobody does once it is gone, so no reused pid can be taken for it.

use super::channel::{Inbox, Received, Wait, send};
use super::client::Gone;
use super::job_directory::{JobDirectory, JobEnd};
use agent_bash_core::Survivor;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;
use tokio::io::Interest;
use tokio::net::UnixStream;

/// From a later host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Wish {
    /// End the tree: SIGTERM, SIGCONT, grace, SIGKILL. No answer; in time `Ended`, or `Stuck`, and the socket's end when
    /// nobody is left.
    End {
        /// Milliseconds between SIGTERM and SIGKILL.
        grace_ms: u64,
    },
    /// Who lives? Answer: `Survivors`.
    Survivors,
    /// The writing end of the job's stdin. Answer: `Stdin` with it, or `NoStdin`.
    Stdin,
    /// Let the job's stdin end. Answer: `StdinClosed`, or `NoStdin`.
    CloseStdin,
}

/// To a later host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Answer {
    /// The job has ended. Said once: when it ends, or at once where it has.
    Ended {
        /// How.
        end: JobEnd,
    },
    /// Who lives.
    Survivors {
        /// Named, at most a hundred.
        survivors: Vec<Survivor>,
    },
    /// Some withstand SIGKILL.
    Stuck {
        /// Who.
        survivors: Vec<Survivor>,
    },
    /// With it comes the writing end of the job's stdin.
    Stdin,
    /// The job's stdin is empty, or was closed.
    NoStdin,
    /// It is closed.
    StdinClosed,
}

/// A visit to the supervisor of a job. Dropping it changes nothing.
#[derive(Debug)]
pub struct JobVisit {
    socket: UnixStream,
    inbox: Inbox,
}

/// What became of a job that was to be ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobKilled {
    /// Nobody is left, nor is the supervisor.
    AllGone,
    /// These withstand SIGKILL: they are in an uninterruptible sleep.
    Stuck(Vec<Survivor>),
}

impl JobVisit {
    /// Reaches the supervisor of the job in `directory`.
    ///
    /// # Errors
    /// `NotFound` or `ConnectionRefused`: it is gone. Any other: it cannot be reached.
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
    /// The supervisor is gone.
    pub fn end(&self, grace: Duration) -> Result<(), Gone> {
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        self.wish(&Wish::End { grace_ms })
    }

    /// Waits until the job has ended. Processes that let go of its output may live on. Cancel safe.
    ///
    /// # Errors
    /// The supervisor is gone: what it knew is in its files, or nobody knows it.
    pub async fn ended(&mut self) -> Result<JobEnd, Gone> {
        loop {
            if let (Answer::Ended { end }, _) = self.answer().await? {
                return Ok(end);
            }
        }
    }

    /// Waits until nobody of the job is left, or some withstand. For after [`Self::end`]. Cancel safe.
    pub async fn killed(&mut self) -> JobKilled {
        loop {
            match self.answer().await {
                Ok((Answer::Stuck { survivors }, _)) => return JobKilled::Stuck(survivors),
                Ok(_) => {}
                Err(Gone) => return JobKilled::AllGone,
            }
        }
    }

    /// Who of the job lives.
    ///
    /// # Errors
    /// The supervisor is gone.
    pub async fn survivors(&mut self) -> Result<Vec<Survivor>, Gone> {
        self.wish(&Wish::Survivors)?;
        loop {
            if let (Answer::Survivors { survivors }, _) = self.answer().await? {
                return Ok(survivors);
            }
        }
    }

    /// A descriptor that writes into what the job reads; `None` where it reads nothing, or no more.
    ///
    /// # Errors
    /// The supervisor is gone.
    pub async fn stdin(&mut self) -> Result<Option<OwnedFd>, Gone> {
        self.wish(&Wish::Stdin)?;
        loop {
            match self.answer().await? {
                (Answer::Stdin, fds) => return Ok(fds.into_iter().next()),
                (Answer::NoStdin, _) => return Ok(None),
                _ => {}
            }
        }
    }

    /// Lets what the job reads end. False where it read nothing, or no more.
    ///
    /// # Errors
    /// The supervisor is gone.
    pub async fn close_stdin(&mut self) -> Result<bool, Gone> {
        self.wish(&Wish::CloseStdin)?;
        loop {
            match self.answer().await? {
                (Answer::StdinClosed, _) => return Ok(true),
                (Answer::NoStdin, _) => return Ok(false),
                _ => {}
            }
        }
    }

    fn wish(&self, wish: &Wish) -> Result<(), Gone> {
        send(self.socket.as_fd(), wish, &[], Wait::No).map_err(|_| Gone)
    }

    async fn answer(&mut self) -> Result<(Answer, Vec<OwnedFd>), Gone> {
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
