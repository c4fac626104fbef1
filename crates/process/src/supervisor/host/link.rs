//! Orders to a supervisor, from whoever has a hold of it.

use crate::supervisor::channel::{Wait, send};
use crate::supervisor::protocol::Order;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixStream as TokioStream;

/// Gives orders to a supervisor.
#[derive(Debug, Clone)]
pub struct Link {
    socket: Arc<TokioStream>,
}

impl Link {
    pub(super) fn over(socket: TokioStream) -> Self {
        let socket = Arc::new(socket);
        Self { socket }
    }

    pub(super) fn socket(&self) -> &Arc<TokioStream> {
        &self.socket
    }

    /// Whether the supervisor has said something that was not listened to yet.
    pub fn has_word(&self) -> bool {
        rustix::io::ioctl_fionread(&*self.socket).is_ok_and(|bytes| bytes > 0)
    }

    /// Ends the whole tree: SIGTERM, SIGCONT, `grace`, SIGKILL.
    ///
    /// # Errors
    /// It is gone, or does not read.
    pub fn terminate(&self, grace: Duration) -> io::Result<()> {
        self.end(grace, false)
    }

    /// As [`Self::terminate`], but the shell is stopped first: ended from outside, the command it waits for is its last.
    ///
    /// # Errors
    /// It is gone, or does not read.
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
        send(self.socket.as_fd(), order, fds, Wait::No)
    }
}

/// Milliseconds, as an order says them.
pub(super) fn in_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
