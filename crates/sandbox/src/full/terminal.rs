//! The terminal that the standard descriptors are on. In the box, other terminals are where it was found by its name.

use rustix::fs::{Mode, OFlags, fstat, open, stat};
use rustix::mount::mount_bind;
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

/// Its name in the box: where programs look that ask for the name of a terminal, besides its own directory.
const NAME: &str = "/dev/console";

/// Gives it a name, and opens the standard descriptors anew by that, as some programs believe only what their
/// descriptors are said to be. Must come before the box has terminals of its own.
pub(super) fn keep_name() {
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    let standard = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
    let Some(own) = standard.iter().find_map(|fd| Terminal::at(*fd)) else {
        return;
    };
    // Some systems have no such device that it could cover. Then it has no name, which is all that is amiss.
    if mount_bind(&own.path, NAME).is_err() {
        return;
    }
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let Ok(opened) = open(NAME, flags, Mode::empty()) else {
        return;
    };
    let replace = [dup2_stdin, dup2_stdout, dup2_stderr];
    for (fd, replace) in standard.into_iter().zip(replace) {
        if Terminal::at(fd).is_some_and(|other| other.id == own.id) {
            // If it fails, the descriptor is what it was.
            let _ = replace(&opened);
        }
    }
}

/// A terminal, as it was before the box.
struct Terminal {
    path: PathBuf,
    id: (u64, u64),
}

impl Terminal {
    /// The terminal of this descriptor; `None` if it is something else, or cannot be found by its name.
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
