//! System calls that exist on one system only, each with what takes its place elsewhere. (What differs in a single place and
//! nowhere else stands there, marked with `cfg`.)

use crate::refused::{UNNAMED_FILE, refused};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// Makes a FIFO that only its owner can open.
///
/// # Errors
/// There is something by that name, or the system refuses.
pub fn make_fifo(path: &Path) -> io::Result<()> {
    use nix::sys::stat::Mode;
    Ok(nix::unistd::mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR)?)
}

/// Whether the system knows at once, without asking any file system, that there is a directory. False says nothing: it may have to
/// be looked for, which may take as long as its file system likes.
pub fn is_known_directory(path: &Path) -> bool {
    system::is_known_directory(path)
}

#[cfg(target_os = "linux")]
mod system {
    use super::{AsFd, Errno, OwnedFd, Path};
    use rustix::fs::{CWD, MemfdFlags, Mode, OFlags, ResolveFlags, memfd_create, openat2};
    use rustix::net::{RecvFlags, SendFlags};
    use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

    pub(crate) const RECEIVE: RecvFlags = RecvFlags::CMSG_CLOEXEC;
    pub(crate) const SEND: SendFlags = SendFlags::NOSIGNAL;

    pub(crate) fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
        pipe_with(PipeFlags::CLOEXEC)
    }

    pub(crate) fn unnamed_file(label: &str) -> Result<OwnedFd, Errno> {
        memfd_create(label, MemfdFlags::CLOEXEC)
    }

    pub(crate) fn shrink_pipe(pipe: impl AsFd) {
        let _ = fcntl_setpipe_size(pipe, 1);
    }

    pub(crate) fn is_known_directory(path: &Path) -> bool {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // Fails where the kernel is older, too.
        openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED).is_ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{AsFd, Errno, OwnedFd, Path};
    use rustix::fs::{Mode, OFlags, open, unlink};
    use rustix::io::{FdFlags, fcntl_setfd};
    use rustix::net::{RecvFlags, SendFlags};

    pub(crate) const RECEIVE: RecvFlags = RecvFlags::empty();
    /// Rust's start-up ignores SIGPIPE.
    pub(crate) const SEND: SendFlags = SendFlags::empty();

    pub(crate) fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
        let (read, write) = rustix::pipe::pipe()?;
        fcntl_setfd(&read, FdFlags::CLOEXEC)?;
        fcntl_setfd(&write, FdFlags::CLOEXEC)?;
        Ok((read, write))
    }

    pub(crate) fn unnamed_file(label: &str) -> Result<OwnedFd, Errno> {
        let path = std::env::temp_dir().join(format!(".{label}-{}", std::process::id()));
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = open(&path, flags, Mode::RUSR | Mode::WUSR)?;
        unlink(&path)?;
        Ok(file)
    }

    pub(crate) fn shrink_pipe(_: impl AsFd) {}

    pub(crate) fn is_known_directory(_: &Path) -> bool {
        false
    }
}

/// How a message with descriptors is received, and how one is sent.
pub(crate) use system::{RECEIVE, SEND};

/// A pipe, read end first, that no child inherits.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    system::pipe().map_err(|error| refused("a pipe", error))
}

/// An empty file that has no name; the label is only for whoever lists open files.
///
/// # Errors
/// The system refuses.
pub fn unnamed_file(label: &str) -> io::Result<OwnedFd> {
    system::unnamed_file(label).map_err(|error| refused(UNNAMED_FILE, error))
}

/// Makes a pipe so small that a single byte makes it full: when there is room again, it was read. Linux only; elsewhere it does
/// nothing.
pub fn shrink_pipe(pipe: impl AsFd) {
    system::shrink_pipe(pipe);
}
