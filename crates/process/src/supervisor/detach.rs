//! The host's side of turning a call into a job.

use super::client::{Gone, Supervised};
use super::job_directory::JobEnd;
use super::protocol::{Detach, Event, Order};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Why a call did not become a job. Nothing of its script has run, and nothing will.
#[derive(Debug, thiserror::Error)]
pub enum DetachError {
    /// The supervisor could not take it.
    #[error("the job could not be taken over by its supervisor: {0}")]
    Refused(String),
    /// The supervisor is gone.
    #[error("the supervisor ended before it had taken the job")]
    Gone,
}

/// What a job takes with it from the host.
#[derive(Debug)]
pub struct JobFds {
    /// Read end of its stdout, which is its stderr too.
    pub output: OwnedFd,
    /// The pipe that commits its script.
    pub control: OwnedFd,
    /// Writing end of what it reads, where it reads anything.
    pub stdin: Option<OwnedFd>,
}

impl Supervised {
    /// Turns the shell that waits for its script into a job, and lets it run: from then on it outlives the host. The
    /// script is in its file, and the job's files are in its directory (see [`super::job_directory`]).
    ///
    /// # Errors
    /// It did not become one.
    pub async fn detach(&mut self, detach: Detach, fds: JobFds) -> Result<(), DetachError> {
        let sent: Vec<BorrowedFd<'_>> = [&fds.output, &fds.control]
            .into_iter()
            .chain(&fds.stdin)
            .map(AsFd::as_fd)
            .collect();
        self.keeps = true;
        self.order(&Order::Detach(detach), &sent)
            .map_err(|_| DetachError::Gone)?;
        drop(fds);
        loop {
            match self.event().await {
                Ok((Event::Detached, _)) => return Ok(()),
                Ok((Event::DetachFailed { reason }, _)) => {
                    return Err(DetachError::Refused(reason));
                }
                Ok(_) => {}
                Err(Gone) => return Err(DetachError::Gone),
            }
        }
    }

    /// Waits until the job has ended that this became. Cancel safe.
    ///
    /// # Errors
    /// The supervisor is gone.
    pub async fn job_ended(&mut self) -> Result<JobEnd, Gone> {
        loop {
            if let (Event::JobEnded { end }, _) = self.event().await? {
                return Ok(end);
            }
        }
    }
}
