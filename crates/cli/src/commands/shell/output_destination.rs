//! Passes captured output on to this process's stdout and stderr, unchanged.

use super::signals::ShellSignals;
use agent_bash::core::{ConsumerFlow, OutputConsumer, StreamId};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};

/// The destination of captured output.
pub(super) struct OutputDestination {
    stdout: io::Stdout,
    stderr: io::Stderr,
    signals: ShellSignals,
    ends_within_line: bool,
}

impl OutputDestination {
    /// Returns the destination, and adds the streams that must be captured to `captured`.
    pub(super) fn choose(captured: &mut Vec<StreamId>, signals: &ShellSignals) -> Self {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let is_same_file =
            |one: &Metadata, other: &Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
        match (
            metadata(stdout.as_fd()).filter(is_awaited),
            metadata(stderr.as_fd()).filter(is_awaited),
        ) {
            // Both streams are the same pipe: one capture keeps their order.
            (Some(one), Some(other)) if is_same_file(&one, &other) => {
                captured.push(StreamId::Merged);
            }
            (one, other) => {
                captured.extend(one.map(|_| StreamId::Stdout));
                captured.extend(other.map(|_| StreamId::Stderr));
            }
        }
        Self {
            stdout,
            stderr,
            signals: signals.clone(),
            ends_within_line: false,
        }
    }

    /// True if the last byte that was passed on does not end a line.
    pub(super) fn ends_within_line(&self) -> bool {
        self.ends_within_line
    }

    fn descriptor(&self, stream: StreamId) -> BorrowedFd<'_> {
        match stream {
            StreamId::Merged | StreamId::Stdout => self.stdout.as_fd(),
            StreamId::Stderr => self.stderr.as_fd(),
        }
    }
}

impl OutputConsumer for OutputDestination {
    fn chunk(&mut self, stream: StreamId, bytes: &[u8]) -> ConsumerFlow {
        if let Some(last) = bytes.last() {
            self.ends_within_line = *last != b'\n';
        }
        match write_all(self.descriptor(stream), bytes) {
            Ok(()) => ConsumerFlow::Continue,
            // The reader has closed the pipe; the command gets SIGPIPE.
            Err(_) => ConsumerFlow::Stop,
        }
    }

    fn destination(&self, stream: StreamId) -> Option<BorrowedFd<'_>> {
        Some(self.descriptor(stream))
    }

    fn started(&mut self, pid: u32, _: u32) {
        self.signals.shell_started(pid.cast_signed());
    }
}

/// True for a pipe or a socket. Its reader waits until every process has closed the file, so
/// survivors must not hold it open.
fn is_awaited(file: &Metadata) -> bool {
    file.file_type().is_fifo() || file.file_type().is_socket()
}

fn metadata(descriptor: BorrowedFd<'_>) -> Option<Metadata> {
    let file = File::from(descriptor.try_clone_to_owned().ok()?);
    file.metadata().ok()
}

fn write_all(to: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match rustix::io::write(to, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            // The agent has made the pipe non-blocking.
            Err(Errno::AGAIN) => {
                let mut ready = [PollFd::from_borrowed_fd(to, PollFlags::OUT)];
                match poll(&mut ready, None) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(error) => return Err(error),
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
