//! The host's side of a shell on a terminal.

use super::client::{Gone, Supervised};
use super::start_error::StartError;
use crate::supervisor::protocol::{Event, Order, TerminalStart};
use std::os::fd::BorrowedFd;

impl Supervised {
    /// Starts a shell on a terminal and lets it run. `script` is the file with its script; the shell shares its
    /// file offset. Only for a supervisor that has not had a shell yet, nor will have another.
    ///
    /// # Errors
    /// [`StartError::Shell`] with the system's reason; [`StartError::Gone`].
    pub async fn start_on_terminal(
        &mut self,
        start: TerminalStart,
        script: BorrowedFd<'_>,
    ) -> Result<(), StartError> {
        let start = TerminalStart {
            start: self.in_environment(start.start),
            ..start
        };
        self.order(&Order::StartOnTerminal(start), &[script])
            .map_err(|_| StartError::Gone)?;
        let answer = self.answer(|event, _| match event {
            Event::Started { .. } => Some(Ok(())),
            Event::StartFailed { reason } => Some(Err(StartError::Shell(reason))),
            _ => None,
        });
        answer.await.map_err(|Gone| StartError::Gone)?
    }
}
