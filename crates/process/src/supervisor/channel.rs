//! Sends and receives messages with descriptors over a Unix stream socket: length and number of
//! descriptors, then JSON. Reads never block. If the socket is full, writes of the supervisor wait,
//! and writes of the host fail.

use crate::platform::{RECEIVE_FLAGS, SEND_FLAGS};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, SendAncillaryBuffer, SendAncillaryMessage, recvmsg,
    sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Maximum number of descriptors in one message: script, control pipe, and two sockets or two
/// streams; or two pipes and two files.
pub(super) const MAX_FDS: usize = 4;

/// Maximum length of a message in bytes. The longest messages list survivors, of bounded number and
/// length, or start a shell with changes to its environment.
const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// Length (4 bytes, little-endian) and number of descriptors (1 byte).
const HEADER_BYTES: usize = 5;

/// The receiving end of the socket, with bytes received but not yet parsed.
#[derive(Debug)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    fds: VecDeque<OwnedFd>,
}

/// The result of receiving.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReceiveOutcome {
    /// New bytes have arrived; check for messages.
    Received,
    /// No message has arrived yet.
    Nothing,
    /// The other side has closed.
    Closed,
}

impl Inbox {
    pub(super) fn new() -> Self {
        Self {
            bytes: Vec::new(),
            fds: VecDeque::new(),
        }
    }

    /// Receives up to 4 KiB of the available bytes without waiting. The socket must be
    /// non-blocking.
    pub(super) fn receive(&mut self, socket: impl AsFd) -> io::Result<ReceiveOutcome> {
        let mut buffer = [0u8; 4096];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let parts = &mut [IoSliceMut::new(&mut buffer)];
        let message = match recvmsg(socket, parts, &mut ancillary, RECEIVE_FLAGS) {
            Ok(message) => message,
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(ReceiveOutcome::Nothing),
            Err(rustix::io::Errno::INTR) => return Ok(ReceiveOutcome::Received),
            Err(rustix::io::Errno::CONNRESET) => return Ok(ReceiveOutcome::Closed),
            Err(error) => return Err(error.into()),
        };
        for part in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = part {
                self.fds.extend(fds);
            }
        }
        if message.bytes == 0 {
            return Ok(ReceiveOutcome::Closed);
        }
        self.bytes.extend_from_slice(&buffer[..message.bytes]);
        Ok(ReceiveOutcome::Received)
    }

    /// Returns the next complete message with its descriptors; `None` if there is none yet.
    ///
    /// # Errors
    /// The other side violates the protocol.
    pub(super) fn next<M: DeserializeOwned>(&mut self) -> io::Result<Option<(M, Vec<OwnedFd>)>> {
        let Some((header, rest)) = self.bytes.split_first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let [a, b, c, d, fds] = *header;
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        let fds = usize::from(fds);
        if length > MAX_MESSAGE_BYTES || fds > MAX_FDS {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the message is too long",
            ));
        }
        let Some(body) = rest.get(..length) else {
            return Ok(None);
        };
        if self.fds.len() < fds {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a descriptor of the message is missing",
            ));
        }
        let message = serde_json::from_slice(body)?;
        self.bytes.drain(..HEADER_BYTES + length);
        Ok(Some((message, self.fds.drain(..fds).collect())))
    }
}

/// The behaviour of a sender if the socket is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SendMode {
    /// Waits until there is room, or the other side has closed.
    Blocking,
    /// Fails with `WouldBlock`. Orders are few and short, so a full socket means that the
    /// supervisor is stopped.
    NonBlocking,
}

/// Sends one message.
///
/// # Errors
/// The other side has closed, or (with [`SendMode::NonBlocking`]) does not read.
pub(super) fn send<M: Serialize>(
    socket: BorrowedFd<'_>,
    message: &M,
    fds: &[BorrowedFd<'_>],
    mode: SendMode,
) -> io::Result<()> {
    let mut frame = vec![0; HEADER_BYTES];
    serde_json::to_writer(&mut frame, message)?;
    let length = u32::try_from(frame.len() - HEADER_BYTES).unwrap_or(u32::MAX);
    frame[..4].copy_from_slice(&length.to_le_bytes());
    frame[4] = u8::try_from(fds.len()).unwrap_or(u8::MAX);

    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut sent = 0;
    while sent < frame.len() {
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        // Descriptors are attached to the first byte.
        if sent == 0 && !fds.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(fds)) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "too many descriptors",
            ));
        }
        let parts = &[IoSlice::new(&frame[sent..])];
        match sendmsg(socket, parts, &mut ancillary, SEND_FLAGS) {
            Ok(count) => sent += count,
            Err(rustix::io::Errno::INTR) => {}
            // Once part of a message has been sent, the rest must follow.
            Err(rustix::io::Errno::WOULDBLOCK) if mode == SendMode::Blocking || sent > 0 => {
                match poll(&mut [PollFd::new(&socket, PollFlags::OUT)], None) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervisor::protocol::{Event, Order};
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    fn pair() -> (UnixStream, UnixStream) {
        let (a, b) = UnixStream::pair().unwrap();
        a.set_nonblocking(true).unwrap();
        b.set_nonblocking(true).unwrap();
        (a, b)
    }

    fn send_event(to: &UnixStream, event: &Event, fds: &[BorrowedFd<'_>]) {
        send(to.as_fd(), event, fds, SendMode::NonBlocking).unwrap();
    }

    #[test]
    fn messages_arrive_in_order_with_their_descriptors() {
        let (a, b) = pair();
        let (mut read, write) = io::pipe().unwrap();
        send_event(&a, &Event::Empty, &[]);
        send_event(&a, &Event::Adopted, &[write.as_fd()]);
        send_event(&a, &Event::Hello { version: 7 }, &[]);
        drop(write);
        let mut inbox = Inbox::new();
        let mut got = Vec::new();
        while inbox.receive(&b).unwrap() == ReceiveOutcome::Received {
            while let Some((event, fds)) = inbox.next::<Event>().unwrap() {
                got.push((event, fds));
            }
        }
        let events: Vec<_> = got
            .iter()
            .map(|(event, fds)| (event.clone(), fds.len()))
            .collect();
        assert_eq!(
            events,
            [
                (Event::Empty, 0),
                (Event::Adopted, 1),
                (Event::Hello { version: 7 }, 0)
            ]
        );
        // The write end had arrived, and it was the last one.
        drop(got);
        assert_eq!(read.read(&mut [0]).unwrap(), 0);
    }

    #[test]
    fn long_message_is_returned_once_complete() {
        let (a, b) = pair();
        let reason = "x".repeat(100_000);
        let event = Event::StartFailed { reason };
        send_event(&a, &event, &[]);
        let mut inbox = Inbox::new();
        assert_eq!(inbox.receive(&b).unwrap(), ReceiveOutcome::Received);
        assert!(inbox.next::<Event>().unwrap().is_none());
        while inbox.receive(&b).unwrap() == ReceiveOutcome::Received {}
        let (received, _) = inbox.next::<Event>().unwrap().unwrap();
        assert_eq!(received, event);
    }

    #[test]
    fn receive_distinguishes_empty_invalid_and_closed() {
        let (a, b) = pair();
        let mut inbox = Inbox::new();
        assert_eq!(inbox.receive(&b).unwrap(), ReceiveOutcome::Nothing);
        rustix::io::write(&a, b"\xff\xff\xff\xff\x00").unwrap();
        assert_eq!(inbox.receive(&b).unwrap(), ReceiveOutcome::Received);
        assert!(inbox.next::<Order>().is_err());
        drop(a);
        // A child that another test has forked has the socket open until it executes its program.
        let is_closed = (0..1_000_000).any(|_| {
            std::thread::yield_now();
            inbox.receive(&b).unwrap() == ReceiveOutcome::Closed
        });
        assert!(is_closed);
    }

    #[test]
    fn non_blocking_send_fails_when_socket_is_full() {
        let (a, _b) = pair();
        let error = loop {
            if let Err(error) = send(a.as_fd(), &Order::Survivors, &[], SendMode::NonBlocking) {
                break error;
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }
}
