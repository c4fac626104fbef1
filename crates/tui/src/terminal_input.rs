//! Input from the host's terminal.

use crossterm::event::{Event, EventStream};
use futures_core::Stream;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;

/// Keys, mouse, paste and resize events. While a value exists, nothing else may read the terminal.
pub(crate) struct TerminalInput(EventStream);

impl TerminalInput {
    pub(crate) fn new() -> Self {
        Self(EventStream::new())
    }

    /// Waits for the next event. Cancel safe.
    ///
    /// # Errors
    ///
    /// The terminal has disconnected.
    pub(crate) async fn next(&mut self) -> io::Result<Event> {
        let event = poll_fn(|context| Pin::new(&mut self.0).poll_next(context)).await;
        event.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()))
    }
}
