//! The host's side of turning a call into a job.

use super::client::{Gone, Supervised};
use crate::supervisor::job_directory::JobEnd;
use crate::supervisor::protocol::{Detach, Event, Order};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Why a supervisor did not take over what was to outlive its host: a job, of whose script nothing has run then, and nothing will;
/// or survivors.
#[derive(Debug, thiserror::Error)]
pub enum NotTaken {
    /// It could not, for this reason of the system's.
    #[error("the job could not be taken over by its supervisor: {0}")]
    Refused(String),
    /// It is gone, or does not answer.
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
    /// script is in its file, and the job's files are in its directory (see [`crate::supervisor::job_directory`]).
    ///
    /// # Errors
    /// It did not become one.
    pub async fn detach(&mut self, detach: Detach, fds: JobFds) -> Result<(), NotTaken> {
        let sent: Vec<BorrowedFd<'_>> = [&fds.output, &fds.control]
            .into_iter()
            .chain(&fds.stdin)
            .map(AsFd::as_fd)
            .collect();
        self.keep();
        self.order(&Order::Detach(detach), &sent)
            .map_err(|_| NotTaken::Gone)?;
        drop(fds);
        let answer = self.answer(|event, _| match event {
            Event::Detached => Some(Ok(())),
            Event::DetachFailed { reason } => Some(Err(NotTaken::Refused(reason))),
            _ => None,
        });
        answer.await.map_err(|Gone| NotTaken::Gone)?
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
