//! Sends orders to a supervisor, from any task that holds an [`OrderSender`].

use crate::supervisor::channel::{SendMode, send};
use crate::supervisor::protocol::Order;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixStream as TokioStream;

/// Sends orders to a supervisor.
#[derive(Debug, Clone)]
pub struct OrderSender {
    socket: Arc<TokioStream>,
}

impl OrderSender {
    pub(super) fn new(socket: TokioStream) -> Self {
        let socket = Arc::new(socket);
        Self { socket }
    }

    pub(super) fn socket(&self) -> &Arc<TokioStream> {
        &self.socket
    }

    /// True if the supervisor has sent an event that was not read yet.
    pub fn has_unread_event(&self) -> bool {
        rustix::io::ioctl_fionread(&*self.socket).is_ok_and(|bytes| bytes > 0)
    }

    /// Ends the whole process tree: SIGTERM, SIGCONT, `grace`, SIGKILL.
    ///
    /// # Errors
    /// The supervisor has ended, or does not read.
    pub fn terminate(&self, grace: Duration) -> io::Result<()> {
        self.end(grace, false)
    }

    /// Stops the shell, then ends the tree as [`Self::terminate`] does. A running shell would start
    /// its next command when the current one is ended.
    ///
    /// # Errors
    /// The supervisor has ended, or does not read.
    pub fn stop_and_terminate(&self, grace: Duration) -> io::Result<()> {
        self.end(grace, true)
    }

    fn end(&self, grace: Duration, stop_shell: bool) -> io::Result<()> {
        let grace_ms = in_ms(grace);
        self.order(
            &Order::Terminate {
                grace_ms,
                stop_shell,
            },
            &[],
        )
    }

    pub(super) fn order(&self, order: &Order, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        send(self.socket.as_fd(), order, fds, SendMode::NonBlocking)
    }
}

/// Converts a duration to the milliseconds of an order.
pub(super) fn in_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
