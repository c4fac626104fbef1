//! The pseudo-terminal itself: opened here, read and written without ever blocking, asked for its modes.
//!
//! portable-pty opens the pair, and nothing more: its readers and writers block, its writer types an end of file when it is
//! dropped, and its way to start a command forks the host. What is kept is a descriptor of the master.

use crate::PtySize;
use filedescriptor::FileDescriptor;
use portable_pty::{PtySystem, SlavePty};
use rustix::io::Errno;
use rustix::termios::{InputModes, LocalModes, OptionalActions, Winsize};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tokio::net::unix::pipe::{Receiver, Sender};

/// So Linux says that nobody has the programs' side open, once everything was read.
const OTHER_SIDE_CLOSED: Errno = Errno::IO;

/// A terminal, from the side of its emulator.
#[derive(Debug)]
pub(crate) struct Terminal {
    /// Two descriptors of the master. tokio's types are made for pipes, and are as good for anything that is ready now
    /// and then.
    output: Receiver,
    input: Sender,
    path: PathBuf,
}

/// The side of the programs. While it is held the terminal does not end, whoever closes it; programs may open it again.
pub(crate) struct ProgramSide(
    #[expect(dead_code, reason = "held, never used")] Box<dyn SlavePty + Send>,
);

/// How the line discipline treats what is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineModes {
    /// By lines (ICANON).
    pub(crate) canonical: bool,
    /// It is shown (ECHO).
    pub(crate) echo: bool,
}

impl Terminal {
    /// Opens one.
    ///
    /// # Errors
    /// The system has no more, or none.
    ///
    /// # Panics
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
        let missing = || io::Error::other("the system did not say which terminal it opened");
        let path = pair.master.tty_name().ok_or_else(missing)?;
        let number = pair.master.as_raw_fd().ok_or_else(missing)?;
        // The only way to a descriptor of one's own without unsafe code; it is close-on-exec.
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

    /// Its name for programs, such as `/dev/pts/3`.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The master, for somebody else to read on.
    pub(crate) fn master(&self) -> BorrowedFd<'_> {
        self.output.as_fd()
    }

    /// Waits for output; 0 is the end: nobody has the programs' side open. Cancel safe.
    pub(crate) async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.output.readable().await?;
            match self.output.try_read(buffer) {
                Err(error) if is_to_be_repeated(&error) => {}
                Err(error) if error.raw_os_error() == Some(OTHER_SIDE_CLOSED.raw_os_error()) => {
                    return Ok(0);
                }
                result => return result,
            }
        }
    }

    /// Reads what is there now: as [`Terminal::read`], or `None` if that is nothing. It asks the system itself, which first
    /// moves on what was written a moment ago; the runtime may not have heard of that yet.
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

    /// Waits until the terminal takes input, and writes what it takes of the queue. Cancel safe.
    pub(crate) async fn write_from(&self, queue: &Mutex<VecDeque<u8>>) -> io::Result<()> {
        loop {
            self.input.writable().await?;
            let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            let (first, _) = queue.as_slices();
            if first.is_empty() {
                return Ok(());
            }
            match self.input.try_write(first) {
                Err(error) if is_to_be_repeated(&error) => {}
                result => {
                    queue.drain(..result?);
                    return Ok(());
                }
            }
        }
    }

    /// Changes its size; the programs in the foreground get SIGWINCH.
    pub(crate) fn resize(&self, size: PtySize) -> io::Result<()> {
        let size = Winsize {
            ws_row: size.rows(),
            ws_col: size.cols(),
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        Ok(rustix::termios::tcsetwinsize(self.master(), size)?)
    }

    /// `None` where the system does not say.
    pub(crate) fn line_modes(&self) -> Option<LineModes> {
        let local = rustix::termios::tcgetattr(self.master()).ok()?.local_modes;
        Some(LineModes {
            canonical: local.contains(LocalModes::ICANON),
            echo: local.contains(LocalModes::ECHO),
        })
    }

    /// The process group in the foreground.
    pub(crate) fn foreground(&self) -> Option<i32> {
        let group = rustix::termios::tcgetpgrp(self.master()).ok()?;
        Some(group.as_raw_pid())
    }
}

fn is_to_be_repeated(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

/// Lets Backspace erase a whole character of UTF-8, not a byte of it, where a program reads lines.
fn erase_whole_characters(master: &OwnedFd) -> io::Result<()> {
    let mut modes = rustix::termios::tcgetattr(master)?;
    modes.input_modes |= InputModes::IUTF8;
    rustix::termios::tcsetattr(master, OptionalActions::Now, &modes)?;
    Ok(())
}
