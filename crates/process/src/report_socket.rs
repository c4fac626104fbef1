//! Sockets on which a shell reports to its host. Unlike a pipe or a FIFO, no process can open a
//! socket by path, and the kernel names the writing process.

use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::net::RecvFlags;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// Lowest descriptor number of the shell's end, so that the shell can move the descriptor without
/// overwriting another one.
const MIN_DESCRIPTOR: i32 = 100;

/// Bytes received by one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceivedReport {
    /// Number of bytes; 0 if no process has the other end open.
    pub length: usize,
    /// Pid of the process that wrote them; `None` if the system does not name it.
    pub writer: Option<u32>,
}

/// Creates a socket pair: the host's non-blocking end and the shell's end. Both are close-on-exec.
///
/// # Errors
/// System errors.
pub(crate) fn report_sockets() -> io::Result<(OwnedFd, OwnedFd)> {
    let (host, shell) = system::pair()?;
    rustix::io::ioctl_fionbio(&host, true)?;
    let shell = fcntl_dupfd_cloexec(&shell, MIN_DESCRIPTOR).unwrap_or(shell);
    Ok((host, shell))
}

/// Receives bytes that one process has written. The socket does not block.
///
/// # Errors
/// [`Errno::WOULDBLOCK`] if there are no bytes; system errors.
pub fn receive_report(socket: impl AsFd, buffer: &mut [u8]) -> Result<ReceivedReport, Errno> {
    system::receive(socket, buffer, RecvFlags::empty())
}

/// Returns the report as [`receive_report`] does, but leaves the bytes in the socket.
///
/// # Errors
/// As [`receive_report`].
pub fn peek_report(socket: impl AsFd, buffer: &mut [u8]) -> Result<ReceivedReport, Errno> {
    system::receive(socket, buffer, RecvFlags::PEEK)
}

#[cfg(target_os = "linux")]
mod system {
    use super::{AsFd, Errno, OwnedFd, ReceivedReport, RecvFlags};
    use rustix::net::sockopt::set_socket_passcred;
    use rustix::net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, SocketFlags, SocketType, recvmsg,
        socketpair,
    };
    use std::io::IoSliceMut;
    use std::mem::MaybeUninit;

    pub(super) fn pair() -> Result<(OwnedFd, OwnedFd), Errno> {
        let flags = SocketFlags::CLOEXEC;
        let (host, shell) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        // If this option cannot be set, the writer is unknown; the nonce still identifies a report.
        let _ = set_socket_passcred(&host, true);
        Ok((host, shell))
    }

    pub(super) fn receive(
        socket: impl AsFd,
        buffer: &mut [u8],
        flags: RecvFlags,
    ) -> Result<ReceivedReport, Errno> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = flags | RecvFlags::CMSG_CLOEXEC;
        let message = recvmsg(
            socket,
            &mut [IoSliceMut::new(buffer)],
            &mut ancillary,
            flags,
        )?;
        let writer = ancillary.drain().find_map(|part| match part {
            RecvAncillaryMessage::ScmCredentials(credentials) => {
                Some(credentials.pid.as_raw_nonzero().get().unsigned_abs())
            }
            _ => None,
        });
        Ok(ReceivedReport {
            length: message.bytes,
            writer,
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{AsFd, Errno, OwnedFd, ReceivedReport, RecvFlags};
    use rustix::io::{FdFlags, fcntl_setfd};
    use rustix::net::{AddressFamily, SocketFlags, SocketType, recv, socketpair};

    pub(super) fn pair() -> Result<(OwnedFd, OwnedFd), Errno> {
        let flags = SocketFlags::empty();
        let (host, shell) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        fcntl_setfd(&host, FdFlags::CLOEXEC)?;
        fcntl_setfd(&shell, FdFlags::CLOEXEC)?;
        Ok((host, shell))
    }

    pub(super) fn receive(
        socket: impl AsFd,
        buffer: &mut [u8],
        flags: RecvFlags,
    ) -> Result<ReceivedReport, Errno> {
        let (length, _) = recv(socket, buffer, flags)?;
        Ok(ReceivedReport {
            length,
            writer: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn receive_report_returns_one_writer_at_a_time() {
        let (host, shell) = report_sockets().unwrap();
        let mut buffer = [0; 64];
        assert_eq!(receive_report(&host, &mut buffer), Err(Errno::WOULDBLOCK));
        rustix::io::write(&shell, b"mine").unwrap();
        let child = write_from_child(&shell);
        let own = Some(std::process::id());
        for peeks in [true, false] {
            let received = if peeks {
                peek_report(&host, &mut buffer)
            } else {
                receive_report(&host, &mut buffer)
            };
            let received = received.unwrap();
            assert_eq!((received.length, received.writer), (4, own));
        }
        let received = receive_report(&host, &mut buffer).unwrap();
        assert_eq!(
            (&buffer[..received.length], received.writer),
            (&b"child"[..], Some(child))
        );
        drop(shell);
        assert_eq!(receive_report(&host, &mut buffer).unwrap().length, 0);
    }

    /// Writes from another process and returns its pid.
    #[cfg(target_os = "linux")]
    fn write_from_child(shell: &OwnedFd) -> u32 {
        #[expect(clippy::disallowed_methods, reason = "a process that is not the shell")]
        let mut child = std::process::Command::new("sh")
            .args(["-c", "printf child >&1"])
            .stdout(shell.try_clone().unwrap())
            .spawn()
            .unwrap();
        let pid = child.id();
        child.wait().unwrap();
        pid
    }
}
