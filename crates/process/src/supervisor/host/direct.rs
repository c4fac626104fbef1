//! The host's side of a shell that runs its own command line.

use super::client::{ANSWER_TIMEOUT, SupervisorClient};
use super::start_error::StartError;
use crate::supervisor::protocol::{DirectStart, Event, Order};
use agent_bash_core::StreamId;
use agent_bash_core::sandbox::Report;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// A shell that runs its own command line.
#[derive(Debug)]
pub struct DirectShell {
    /// The shell's process id.
    pub pid: u32,
    /// Read ends of the captured streams, in the order of [`ShellStart::output`](
    /// crate::supervisor::ShellStart::output).
    pub output: Vec<(StreamId, OwnedFd)>,
    /// The report on the shell's sandbox.
    pub sandbox: Option<Report>,
    /// The reason why the shell's changes cannot be recorded, if recording was requested.
    pub untraced_reason: Option<String>,
}

impl SupervisorClient {
    /// Starts a shell that runs its own command line at once. The first change of a traced shell to
    /// a file waits for [`Self::record`]. `inherited` are the descriptors of
    /// [`DirectStart::inherited`]. The supervisor must be in this program's session (see
    /// [`Supervisor::in_session`](crate::supervisor::Supervisor::in_session)), and must not have
    /// started a shell yet.
    ///
    /// # Errors
    /// [`StartError::Shell`] with the system's reason; [`StartError::NoTrace`];
    /// [`StartError::Disconnected`].
    pub async fn start_directly(
        &mut self,
        start: DirectStart,
        inherited: &[BorrowedFd<'_>],
    ) -> Result<DirectShell, StartError> {
        let (shell, network) = self.complete_start(start.start)?;
        let streams = shell.output.clone();
        let start = DirectStart {
            start: shell,
            ..start
        };
        let network = network.iter().map(AsFd::as_fd);
        let fds: Vec<BorrowedFd<'_>> = inherited.iter().copied().chain(network).collect();
        self.order(&Order::StartDirectly(start), &fds)
            .map_err(|_| StartError::Disconnected)?;
        let clock = Arc::clone(&self.clock);
        let mut timeout = clock.sleep(ANSWER_TIMEOUT);
        loop {
            let (event, fds) = self.event_until(&mut timeout).await?;
            match event {
                Event::Running {
                    pid,
                    sandbox,
                    untraced_reason,
                    tree_limits,
                } => {
                    self.sandbox_report.clone_from(&sandbox);
                    self.set_tree_limits(tree_limits);
                    return Ok(DirectShell {
                        pid,
                        output: streams.into_iter().zip(fds).collect(),
                        sandbox,
                        untraced_reason,
                    });
                }
                Event::Hello { version } => self.check_version(version)?,
                other => {
                    if let Some(error) = StartError::in_event(other) {
                        return Err(error);
                    }
                }
            }
        }
    }
}
