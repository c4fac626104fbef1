//! The host's side of turning a call into a job.

use super::client::SupervisorClient;
use super::receive::Disconnected;
use crate::supervisor::job_directory::JobEnd;
use crate::supervisor::protocol::{DetachOptions, Event, Order};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The reason why a supervisor did not take over a job or survivors. The script of such a job has
/// not run and will not run.
#[derive(Debug, thiserror::Error)]
pub enum NotDetached {
    /// The supervisor failed with this system error.
    #[error("the job could not be taken over by its supervisor: {0}")]
    Refused(String),
    /// The supervisor has ended, or does not answer.
    #[error("the supervisor ended before it had taken the job")]
    Disconnected,
}

impl From<Disconnected> for NotDetached {
    fn from(_: Disconnected) -> Self {
        Self::Disconnected
    }
}

/// The host's descriptors that a job takes over.
#[derive(Debug)]
pub struct JobFds {
    /// Read end of the job's output (stdout and stderr).
    pub output: OwnedFd,
    /// The pipe through which the job's script is committed.
    pub control: OwnedFd,
    /// Write end of the job's stdin, if there is one.
    pub stdin: Option<OwnedFd>,
}

impl SupervisorClient {
    /// Turns the shell that waits for its script into a job, which outlives the host, and runs the
    /// script. The script must be in the script file, and the job's files in its directory (see
    /// [`crate::supervisor::job_directory`]).
    ///
    /// # Errors
    /// The shell did not become a job.
    pub async fn detach(&mut self, detach: DetachOptions, fds: JobFds) -> Result<(), NotDetached> {
        let sent: Vec<BorrowedFd<'_>> = [&fds.output, &fds.control]
            .into_iter()
            .chain(&fds.stdin)
            .map(AsFd::as_fd)
            .collect();
        self.set_outlives_host();
        self.ask(&Order::Detach(detach), &sent, |event| match event {
            Event::Detached => Some(Ok(())),
            Event::DetachFailed { reason } => Some(Err(NotDetached::Refused(reason))),
            _ => None,
        })
        .await?
    }

    /// Waits until the job has ended. Cancel safe.
    ///
    /// # Errors
    /// The supervisor has ended.
    pub async fn job_ended(&mut self) -> Result<JobEnd, Disconnected> {
        loop {
            if let (Event::JobEnded { end }, _) = self.event().await? {
                return Ok(end);
            }
        }
    }
}
