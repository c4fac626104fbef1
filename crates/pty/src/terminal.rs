//! A pseudo-terminal: opens the terminal, reads and writes without blocking, and queries its modes.
//!
//! portable-pty only opens the pair: its readers and writers block, its writer sends EOF when
//! dropped, and its way to start a command forks the host. This module therefore uses a descriptor
//! of the master.

use crate::PtySize;
use agent_bash_core::lock;
use filedescriptor::FileDescriptor;
use portable_pty::{PtySystem, SlavePty};
use rustix::io::Errno;
use rustix::termios::{InputModes, LocalModes, OptionalActions, Winsize};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tokio::io::Interest;
use tokio::net::unix::pipe::{Receiver, Sender};

/// Linux's error for reading a master after everything was read, if no process has the slave open.
const OTHER_SIDE_CLOSED: Errno = Errno::IO;

/// The master side of a terminal.
#[derive(Debug)]
pub(crate) struct Terminal {
    /// Two descriptors of the master. Tokio's pipe types work for anything that can be polled.
    output: Receiver,
    input: Sender,
    path: PathBuf,
}

/// The slave side. While this value exists, the terminal does not hang up, even if all programs
/// close the terminal. Programs may open the terminal again.
pub(crate) struct ProgramSide(
    #[expect(dead_code, reason = "held, never used")] Box<dyn SlavePty + Send>,
);

/// The line discipline's modes for input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineModes {
    /// Canonical mode (ICANON).
    pub(crate) is_canonical: bool,
    /// Echo (ECHO).
    pub(crate) has_echo: bool,
}

impl Terminal {
    /// Opens a terminal.
    ///
    /// # Errors
    ///
    /// The system has no terminal available, or does not support terminals.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with I/O enabled.
    pub(crate) fn open(size: PtySize) -> io::Result<(Self, ProgramSide)> {
        let system = portable_pty::unix::UnixPtySystem::default();
        let pair = system
            .openpty(portable_pty::PtySize {
                rows: size.rows(),
                cols: size.cols(),
                pixel_width: 0,
                pixel_height: 0,
            })
            .map_err(io::Error::other)?;
        let missing =
            || io::Error::other("the system did not report the path of the opened terminal");
        let path = pair.master.tty_name().ok_or_else(missing)?;
        let number = pair.master.as_raw_fd().ok_or_else(missing)?;
        // The only way to get an owned descriptor without unsafe code; it is close-on-exec.
        let master = FileDescriptor::dup(&number)
            .map_err(io::Error::other)?
            .as_fd()
            .try_clone_to_owned()?;
        rustix::io::ioctl_fionbio(&master, true)?;
        erase_whole_characters(&master)?;
        let terminal = Self {
            output: Receiver::from_owned_fd_unchecked(master.try_clone()?)?,
            input: Sender::from_owned_fd_unchecked(master)?,
            path,
        };
        Ok((terminal, ProgramSide(pair.slave)))
    }

    /// Returns the slave's path, such as `/dev/pts/3`.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the master, for another reader.
    pub(crate) fn master(&self) -> BorrowedFd<'_> {
        self.output.as_fd()
    }

    /// Waits for output; 0 means hang-up: no process has the slave open. Cancel safe.
    pub(crate) async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.output.readable().await?;
            match self.output.try_read(buffer) {
                Err(error) if is_retryable(&error) => {}
                Err(error) if error.raw_os_error() == Some(OTHER_SIDE_CLOSED.raw_os_error()) => {
                    return Ok(0);
                }
                result => return result,
            }
        }
    }

    /// Reads available output like [`Terminal::read`]; returns `None` if there is no output. Reads
    /// without the runtime: the kernel first processes recent writes, which the runtime may not
    /// know yet.
    pub(crate) fn read_now(&self, buffer: &mut [u8]) -> Option<io::Result<usize>> {
        loop {
            return match rustix::io::read(&self.output, &mut *buffer) {
                Err(Errno::INTR) => continue,
                Err(Errno::WOULDBLOCK) => None,
                Err(OTHER_SIDE_CLOSED) => Some(Ok(0)),
                result => Some(result.map_err(io::Error::from)),
            };
        }
    }

    /// Waits until the terminal accepts input, and writes as much of the queue as it accepts.
    /// Cancel safe.
    ///
    /// # Errors
    ///
    /// For example, the terminal is full and has hung up, so that no process will read from it.
    pub(crate) async fn write_from(&self, queue: &Mutex<VecDeque<u8>>) -> io::Result<()> {
        loop {
            let ready = self.input.ready(Interest::WRITABLE).await?;
            let mut queue = lock(queue);
            let (first, _) = queue.as_slices();
            if first.is_empty() {
                return Ok(());
            }
            match self.input.try_write(first) {
                // After a hang-up there is nothing to wait for: the terminal is always ready.
                Err(error) if is_retryable(&error) && !ready.is_write_closed() => {}
                result => {
                    queue.drain(..result?);
                    return Ok(());
                }
            }
        }
    }

    /// Resizes the terminal; the foreground programs get SIGWINCH.
    pub(crate) fn resize(&self, size: PtySize) -> io::Result<()> {
        let size = Winsize {
            ws_row: size.rows(),
            ws_col: size.cols(),
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        Ok(rustix::termios::tcsetwinsize(self.master(), size)?)
    }

    /// Returns the modes; `None` if the system does not report them.
    pub(crate) fn line_modes(&self) -> Option<LineModes> {
        let local = rustix::termios::tcgetattr(self.master()).ok()?.local_modes;
        Some(LineModes {
            is_canonical: local.contains(LocalModes::ICANON),
            has_echo: local.contains(LocalModes::ECHO),
        })
    }

    /// Returns the foreground process group.
    pub(crate) fn foreground(&self) -> Option<i32> {
        let group = rustix::termios::tcgetpgrp(self.master()).ok()?;
        Some(group.as_raw_pid())
    }
}

fn is_retryable(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

/// Makes Backspace erase whole UTF-8 characters in canonical mode.
fn erase_whole_characters(master: &OwnedFd) -> io::Result<()> {
    let mut modes = rustix::termios::tcgetattr(master)?;
    modes.input_modes |= InputModes::IUTF8;
    rustix::termios::tcsetattr(master, OptionalActions::Now, &modes)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_test_kit::SOON;
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test]
    async fn full_terminal_that_has_hung_up_is_not_waited_for() {
        let (terminal, program_side) = Terminal::open(PtySize::default()).unwrap();
        let queue = Mutex::new(VecDeque::from(vec![b'\n'; 1 << 20]));
        let until_refused = async || while terminal.write_from(&queue).await.is_ok() {};
        let refused = timeout(Duration::from_millis(300), until_refused()).await;
        assert!(
            refused.is_err(),
            "control: the write waits while a process may read"
        );
        drop(program_side);
        timeout(SOON, until_refused()).await.unwrap();
    }
}
