//! Keeps the terminal of the standard descriptors reachable by name. In the sandbox, its former
//! name belongs to another terminal.

use rustix::fs::{Mode, OFlags, fstat, open, stat};
use rustix::mount::mount_bind;
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

/// The terminal's name in the sandbox: programs also search here, not only in the private
/// `/dev/pts`.
const CONSOLE_PATH: &str = "/dev/console";

/// Gives the terminal this name and reopens the standard descriptors by it, because some programs
/// check the name. Must run before private terminals are mounted.
pub(super) fn keep_name() {
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    let standard = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
    let Some(host_terminal) = standard.iter().find_map(|fd| Terminal::at(*fd)) else {
        return;
    };
    // On systems without this device, the terminal has no name; everything else works.
    if mount_bind(&host_terminal.path, CONSOLE_PATH).is_err() {
        return;
    }
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let Ok(opened) = open(CONSOLE_PATH, flags, Mode::empty()) else {
        return;
    };
    let replace = [dup2_stdin, dup2_stdout, dup2_stderr];
    for (fd, replace) in standard.into_iter().zip(replace) {
        if Terminal::at(fd).is_some_and(|other| other.id == host_terminal.id) {
            // After a failure the descriptor is unchanged.
            let _ = replace(&opened);
        }
    }
}

/// A terminal of the host.
struct Terminal {
    path: PathBuf,
    id: (u64, u64),
}

impl Terminal {
    /// Returns the terminal of a descriptor; `None` for another file, or if its name is unknown.
    fn at(fd: BorrowedFd<'_>) -> Option<Self> {
        if !rustix::termios::isatty(fd) {
            return None;
        }
        let number = std::os::fd::AsRawFd::as_raw_fd(&fd);
        let path = fs::read_link(format!("/proc/self/fd/{number}")).ok()?;
        let (opened, named) = (fstat(fd).ok()?, stat(&path).ok()?);
        let id = (opened.st_dev, opened.st_ino);
        (id == (named.st_dev, named.st_ino)).then_some(Self { path, id })
    }
}
