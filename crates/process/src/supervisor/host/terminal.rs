//! The host's side of a shell on a terminal.

use super::client::Supervised;
use super::start_error::StartError;
use crate::supervisor::protocol::{Event, Order, TerminalStart};
use std::os::fd::{AsFd, BorrowedFd};

impl Supervised {
    /// Starts a shell on a terminal and lets it run. `script` is the file with its script; the shell shares its
    /// file offset. Returns its pid. Only for a supervisor that has not had a shell yet, nor will have another.
    ///
    /// # Errors
    /// [`StartError::Shell`] with the system's reason; [`StartError::Gone`].
    pub async fn start_on_terminal(
        &mut self,
        start: TerminalStart,
        script: BorrowedFd<'_>,
    ) -> Result<u32, StartError> {
        let (shell, network) = self.completed(start.start)?;
        let start = TerminalStart {
            start: shell,
            ..start
        };
        let fds: Vec<BorrowedFd<'_>> = [script]
            .into_iter()
            .chain(network.iter().map(AsFd::as_fd))
            .collect();
        let order = Order::StartOnTerminal(start);
        let started = self.ask(&order, &fds, |event| match event {
            Event::Started { pid, sandbox, .. } => Some(Ok((pid, sandbox))),
            Event::BoxLacks { what } => Some(Err(StartError::SandboxLacks(what))),
            Event::BoxFailed { reason } => Some(Err(StartError::Sandbox(reason))),
            Event::NoTrial { reason } => Some(Err(StartError::NoTrial(reason))),
            Event::StartFailed { reason } => Some(Err(StartError::Shell(reason))),
            _ => None,
        });
        let (pid, enforced) = started.await??;
        self.enforced = enforced;
        Ok(pid)
    }
}
