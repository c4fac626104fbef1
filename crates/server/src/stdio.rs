//! Stdin and stdout of this process as streams of the runtime's reactor.
//!
//! Reading or writing on a separate thread costs two thread switches per message. Most clients
//! connect pipes, clients on Node sockets; both are polled asynchronously. The file status flags of
//! the open file description, which may be shared with other processes, are left unchanged.

mod thread;

use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_getfl, fcntl_setfl, fstat, openat};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use thread::{ThreadReader, ThreadWriter};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// EPIPE instead of SIGPIPE if the client has disconnected. Where the flag does not exist, Rust's
/// runtime ignores SIGPIPE.
#[cfg(target_os = "linux")]
const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;
#[cfg(not(target_os = "linux"))]
const NO_SIGNAL: SendFlags = SendFlags::empty();

/// Returns stdin and stdout as asynchronous streams. Some streams can be neither reopened nor used
/// with per-call non-blocking flags: a terminal, a file, a pipe of another user. Such a stream is
/// read or written on a separate thread.
///
/// # Errors
/// The thread for such a stream cannot be started.
///
/// # Panics
/// Outside of a tokio runtime with I/O enabled.
pub fn stdio() -> io::Result<(
    impl AsyncRead + Send + Unpin + 'static,
    impl AsyncWrite + Send + Unpin + 'static,
)> {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    let (stdin, stdout) = (stdin.as_fd(), stdout.as_fd());
    let input = polled_input(stdin).or_else(|reason| {
        tracing::debug!(%reason, "a thread reads stdin");
        io::Result::Ok(Box::new(ThreadReader::start(duplicate(stdin)?)?))
    })?;
    let output = polled_output(stdout).or_else(|reason| {
        tracing::debug!(%reason, "a thread writes stdout");
        io::Result::Ok(Box::new(ThreadWriter::start(duplicate(stdout)?)?))
    })?;
    Ok((input, output))
}

type BoxedInput = Box<dyn AsyncRead + Send + Unpin>;

type BoxedOutput = Box<dyn AsyncWrite + Send + Unpin>;

fn duplicate(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    Ok(fcntl_dupfd_cloexec(fd, 0)?)
}

/// Returns an input that the reactor polls. An error means that the stream needs a thread.
fn polled_input(fd: BorrowedFd<'_>) -> io::Result<BoxedInput> {
    Ok(match file_type(fd)? {
        FileType::Fifo => {
            let pipe = reopen(fd, OFlags::RDONLY)?;
            Box::new(pipe::Receiver::from_owned_fd(pipe)?)
        }
        FileType::Socket => Box::new(NonblockingSocket::new(fd)?),
        _ => return Err(io::ErrorKind::Unsupported.into()),
    })
}

/// Returns an output that the reactor polls. An error means that the stream needs a thread.
fn polled_output(fd: BorrowedFd<'_>) -> io::Result<BoxedOutput> {
    Ok(match file_type(fd)? {
        FileType::Fifo => {
            let pipe = reopen(fd, OFlags::WRONLY)?;
            Box::new(pipe::Sender::from_owned_fd(pipe)?)
        }
        FileType::Socket => Box::new(NonblockingSocket::new(fd)?),
        _ => return Err(io::ErrorKind::Unsupported.into()),
    })
}

fn file_type(fd: BorrowedFd<'_>) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(fd)?.st_mode))
}

/// Reopens the pipe `fd`, which creates an open file description with separate flags.
fn reopen(fd: BorrowedFd<'_>, access: OFlags) -> io::Result<OwnedFd> {
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(openat(CWD, path, flags, Mode::empty())?)
}

/// A socket. A socket cannot be reopened, so each `recv` and `send` passes `MSG_DONTWAIT` instead.
#[derive(Debug)]
struct NonblockingSocket(UnixStream);

impl NonblockingSocket {
    fn new(fd: BorrowedFd<'_>) -> io::Result<Self> {
        let socket = duplicate(fd)?;
        let flags = fcntl_getfl(fd)?;
        // The flag is set only temporarily: tokio requires it when registering a socket, but not
        // afterwards.
        fcntl_setfl(fd, flags | OFlags::NONBLOCK)?;
        let registered = UnixStream::from_std(socket.into());
        fcntl_setfl(fd, flags)?;
        Ok(Self(registered?))
    }
}

impl AsyncRead for NonblockingSocket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.0.poll_read_ready(context))?;
            let room = buffer.initialize_unfilled();
            let length = self.0.try_io(Interest::READABLE, || {
                match recv(&self.0, &mut *room, RecvFlags::DONTWAIT) {
                    // The client disconnected without reading all data: treated as EOF, as for a
                    // pipe.
                    Err(Errno::CONNRESET) => Ok(0),
                    other => Ok(other?.0),
                }
            });
            match length {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
                Ok(length) => {
                    buffer.advance(length);
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }
}

impl AsyncWrite for NonblockingSocket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(context))?;
            let written = self.0.try_io(Interest::WRITABLE, || {
                let flags = SendFlags::DONTWAIT | NO_SIGNAL;
                Ok(send(&self.0, bytes, flags)?)
            });
            match written {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// More than a pipe or socket buffer holds, so that both sides have to wait.
    const LONG_BYTES: usize = 4 << 20;

    /// Checks that data written to `output` arrives at `input`, and that the flags of both are
    /// unchanged.
    async fn check_transfer(input_fd: OwnedFd, output_fd: OwnedFd) {
        let flags = || [&input_fd, &output_fd].map(|fd| fcntl_getfl(fd).unwrap());
        let before = flags();
        let (mut from, mut to) = (
            polled_input(input_fd.as_fd()).unwrap(),
            polled_output(output_fd.as_fd()).unwrap(),
        );
        assert_eq!(flags(), before);
        assert!(!before[0].contains(OFlags::NONBLOCK));
        drop(output_fd);
        let sent: Vec<u8> = (0..LONG_BYTES)
            .map(|at| u8::try_from(at % 251).unwrap())
            .collect();
        let writing = tokio::spawn({
            let sent = sent.clone();
            async move { to.write_all(&sent).await.map(|()| drop(to)) }
        });
        let mut read = Vec::new();
        from.read_to_end(&mut read).await.unwrap();
        writing.await.unwrap().unwrap();
        assert!(read == sent, "{} bytes of {LONG_BYTES}", read.len());
    }

    #[tokio::test]
    async fn pipes_and_sockets_transfer_data_with_unchanged_flags() {
        let (read, write) = io::pipe().unwrap();
        check_transfer(read.into(), write.into()).await;
        let (read, write) = net::UnixStream::pair().unwrap();
        check_transfer(read.into(), write.into()).await;
    }

    #[tokio::test]
    async fn disconnect_ends_the_input_and_breaks_the_output() {
        let (ours, theirs) = net::UnixStream::pair().unwrap();
        let (mut from, mut to) = (
            polled_input(ours.as_fd()).unwrap(),
            polled_output(ours.as_fd()).unwrap(),
        );
        to.write_all(b"unread").await.unwrap();
        drop(theirs);
        assert_eq!(from.read(&mut [0; 8]).await.unwrap(), 0);
        let error = to.write_all(b"more").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[tokio::test]
    async fn file_needs_a_thread() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(polled_input(file.as_fd()).is_err());
    }
}
