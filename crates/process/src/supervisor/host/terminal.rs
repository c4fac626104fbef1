//! The host's side of a shell on a terminal.

use super::client::SupervisorClient;
use super::start_error::StartError;
use crate::supervisor::protocol::{Event, Order, TerminalStart};
use std::os::fd::{AsFd, BorrowedFd};

/// A shell that runs on a terminal.
#[derive(Debug)]
pub struct StartedOnTerminal {
    /// The shell's process id.
    pub pid: u32,
    /// The reason why the shell's changes cannot be recorded, if recording was requested.
    pub untraced_reason: Option<String>,
}

impl SupervisorClient {
    /// Starts a shell on a terminal and lets the shell run. `script` is the open file with the
    /// script; its file offset is shared with the shell. The supervisor must not start another
    /// shell, before or after.
    ///
    /// # Errors
    /// [`StartError::Shell`] with the system's reason; [`StartError::Disconnected`].
    pub async fn start_on_terminal(
        &mut self,
        start: TerminalStart,
        script: BorrowedFd<'_>,
    ) -> Result<StartedOnTerminal, StartError> {
        let (shell_start, network) = self.complete_start(start.start)?;
        let start = TerminalStart {
            start: shell_start,
            ..start
        };
        let fds: Vec<BorrowedFd<'_>> = [script]
            .into_iter()
            .chain(network.iter().map(AsFd::as_fd))
            .collect();
        let order = Order::StartOnTerminal(start);
        let started = self.ask(&order, &fds, |event| match event {
            Event::Started {
                pid,
                sandbox,
                untraced_reason,
                tree_limits,
                ..
            } => {
                let shell = StartedOnTerminal {
                    pid,
                    untraced_reason,
                };
                Some(Ok((shell, sandbox, tree_limits)))
            }
            other => StartError::in_event(other).map(Err),
        });
        let (started, enforced, tree_limits) = started.await??;
        self.sandbox_report = enforced;
        self.set_tree_limits(tree_limits);
        Ok(started)
    }
}
