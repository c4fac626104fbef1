//! Receiving messages from a supervisor.

use crate::supervisor::channel::{Inbox, ReceiveOutcome};
use serde::de::DeserializeOwned;
use std::io;
use std::os::fd::OwnedFd;
use tokio::io::Interest;
use tokio::net::UnixStream;

/// The supervisor has ended: it was killed, or failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disconnected;

/// Waits for the next message and its descriptors. Cancel safe.
pub(super) async fn next<M: DeserializeOwned>(
    socket: &UnixStream,
    inbox: &mut Inbox,
) -> Result<(M, Vec<OwnedFd>), Disconnected> {
    loop {
        if let Some(message) = try_next(socket, inbox)? {
            return Ok(message);
        }
        socket.readable().await.map_err(|_| Disconnected)?;
    }
}

/// Returns the next message without waiting; `None` if none has arrived yet.
pub(super) fn try_next<M: DeserializeOwned>(
    socket: &UnixStream,
    inbox: &mut Inbox,
) -> Result<Option<(M, Vec<OwnedFd>)>, Disconnected> {
    loop {
        let message = inbox.next().map_err(|error| {
            tracing::error!(%error, "the supervisor sent an invalid message");
            Disconnected
        })?;
        if message.is_some() {
            return Ok(message);
        }
        let received = socket.try_io(Interest::READABLE, || match inbox.receive(socket)? {
            // Tells tokio that the socket is not readable any more.
            ReceiveOutcome::Nothing => Err(io::ErrorKind::WouldBlock.into()),
            received => Ok(received),
        });
        match received {
            Ok(ReceiveOutcome::Received | ReceiveOutcome::Nothing) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Ok(ReceiveOutcome::Closed) | Err(_) => return Err(Disconnected),
        }
    }
}
