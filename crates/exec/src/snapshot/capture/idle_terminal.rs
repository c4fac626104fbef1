//! A terminal without a user, for configurations that do nothing without a terminal.
//!
//! Only files that test for a terminal get this terminal. With a terminal, other files would set
//! variables to its path, or start line editors. The terminal is no process's controlling terminal.

use agent_bash_core::Clock;
use rustix::fs::{Mode, OFlags};
use rustix::io::FdFlags;
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;
use std::convert::Infallible;
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;
use tokio::net::unix::pipe::Receiver;

/// The key Ctrl-D: a program that reads a line gets an end of input.
const END_OF_INPUT: u8 = 4;

/// The command, followed by `; `, that makes the terminal that a shell has inherited its stdin,
/// stdout and stderr.
pub(super) const REDIRECTION: &str = r"\command exec <&{stdin_fd}- >&0 2>&0; ";

/// The presses of Ctrl-D that are sent at the start.
const FIRST_ENDS: [u8; 16] = [END_OF_INPUT; 16];

/// The time between further presses, for programs that discard earlier input.
const PRESS_INTERVAL: Duration = Duration::from_millis(20);

/// The usual size of a terminal.
const SIZE: Winsize = Winsize {
    ws_row: 24,
    ws_col: 80,
    ws_xpixel: 0,
    ws_ypixel: 0,
};

/// Returns true if the text tests for a terminal: `-t 0`, `-t 1`, `-t 2` or `tty -s`.
pub(super) fn is_wanted(configuration: &[u8]) -> bool {
    let mut words = configuration
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let mut previous: &[u8] = b"";
    words.any(|word| {
        let found = match previous {
            b"-t" => matches!(word.trim_ascii_end(), [b'0'..=b'2', ..]),
            b"tty" | b"!tty" => word.starts_with(b"-s"),
            _ => false,
        };
        previous = word;
        found
    })
}

/// The terminal. Dropping it hangs up.
#[derive(Debug)]
pub(super) struct IdleTerminal {
    host_side: Receiver,
    /// Stays open, because the host's side reports an error while no descriptor of the program's
    /// side is open.
    program_side: OwnedFd,
    path: CString,
}

impl IdleTerminal {
    /// Opens a terminal, and sends the first presses of Ctrl-D.
    pub(super) fn open() -> io::Result<Self> {
        let host_side = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::io::fcntl_setfd(&host_side, FdFlags::CLOEXEC)?;
        rustix::pty::grantpt(&host_side)?;
        rustix::pty::unlockpt(&host_side)?;
        let path = rustix::pty::ptsname(&host_side, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let program_side = rustix::fs::open(&path, flags, Mode::empty())?;
        rustix::termios::tcsetwinsize(&program_side, SIZE)?;
        rustix::fs::fcntl_setfl(&host_side, OFlags::RDWR | OFlags::NONBLOCK)?;
        rustix::io::write(&host_side, &FIRST_ENDS)?;
        Ok(Self {
            host_side: Receiver::from_file_unchecked(File::from(host_side))?,
            program_side,
            path,
        })
    }

    /// Returns the terminal's path.
    pub(super) fn path(&self) -> &OsStr {
        OsStr::from_bytes(self.path.as_bytes())
    }

    /// Returns the program's side. Shells inherit this descriptor, because a sandbox has no path to
    /// the terminal.
    pub(super) fn program_side(&self) -> BorrowedFd<'_> {
        self.program_side.as_fd()
    }

    /// Discards the output of programs, and ends their input.
    pub(super) async fn serve(&self, clock: &dyn Clock) -> Infallible {
        loop {
            let mut pause = clock.sleep(PRESS_INTERVAL);
            loop {
                tokio::select! {
                    () = &mut pause => break,
                    () = self.discard_output() => {}
                }
            }
            // If the terminal is full of unread input, the write fails, and the program reads the
            // earlier presses.
            let _ = rustix::io::write(&self.host_side, &[END_OF_INPUT]);
        }
    }

    /// Waits for output and discards a part of it. Never returns if the terminal has an error.
    async fn discard_output(&self) {
        let ready = self.host_side.readable().await;
        let read = ready.and_then(|()| self.host_side.try_read(&mut [0; 4096]));
        if read.is_err_and(|error| error.kind() != io::ErrorKind::WouldBlock) {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_wanted_finds_tests_for_a_terminal() {
        for text in [
            "[ -t 0 ] || return", "[[ -t 1 && -n $x ]]", "if test -t 2; then", "[ -t\t0 ]",
            "tty -s || return", "if ! tty -s; then",
        ] {
            assert!(is_wanted(text.as_bytes()), "{text}");
        }
        for text in [
            "", "[ -t", "export GPG_TTY=$(tty)", "read -t 5 x", "stty -ixon", "sort -t , -k 2",
            "tty",
        ] {
            assert!(!is_wanted(text.as_bytes()), "{text}");
        }
    }
}
