//! System calls that exist on some systems only, with substitutes for the others. (Differences that matter in a
//! single place are handled there, with `cfg`.)

use crate::refused::{UNNAMED_FILE, refused};
use agent_bash_os::open_known;
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Creates a FIFO that only its owner can open.
///
/// # Errors
/// The name exists, or the system fails.
pub fn make_fifo(path: &Path) -> io::Result<()> {
    use nix::sys::stat::Mode;
    Ok(nix::unistd::mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR)?)
}

/// Whether the kernel knows from its caches, without asking a file system, that this is a directory. If false, it
/// has to be looked up, which may block for as long as the file system does.
pub fn is_known_directory(path: &Path) -> bool {
    open_known(path, OFlags::DIRECTORY).is_ok()
}

/// Where a path leads without links, as far as the kernel knows that from its caches: no file system is asked, and no
/// automounter.
///
/// # Errors
/// `NotFound` if the kernel knows that nothing is there; another one if it would have to look it up.
pub fn known_path(path: &Path) -> io::Result<PathBuf> {
    let opened = open_known(path, OFlags::empty())?;
    std::fs::read_link(format!("/proc/self/fd/{}", opened.as_raw_fd()))
}

/// The target of a symbolic link, as far as the kernel knows the link from its caches: as [`known_path`], without what
/// the link leads to.
///
/// # Errors
/// Nothing is there, it is no link, or the kernel would have to look it up.
pub fn known_link(path: &Path) -> io::Result<PathBuf> {
    let opened = open_known(path, OFlags::NOFOLLOW)?;
    let target = rustix::fs::readlinkat(&opened, c"", Vec::new())?;
    Ok(OsString::from_vec(target.into_bytes()).into())
}

/// Whether to look up a name in this directory mounts something.
pub fn is_automounter(directory: &Path) -> bool {
    system::is_automounter(directory)
}

#[cfg(target_os = "linux")]
mod system {
    use super::{AsFd, Errno, OwnedFd, Path};
    use rustix::fs::{MemfdFlags, memfd_create};
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

    pub(crate) fn is_automounter(directory: &Path) -> bool {
        // As in linux/magic.h.
        const AUTOFS: i64 = 0x187;
        rustix::fs::statfs(directory).is_ok_and(|found| found.f_type == AUTOFS)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{AsFd, Errno, OwnedFd, Path};
    use rustix::fs::{Mode, OFlags, open, unlink};
    use rustix::io::{FdFlags, fcntl_setfd};
    use rustix::net::{RecvFlags, SendFlags};

    pub(crate) const RECEIVE: RecvFlags = RecvFlags::empty();
    /// Rust's runtime ignores SIGPIPE.
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

    pub(crate) fn is_automounter(_: &Path) -> bool {
        false
    }
}

/// Flags for receiving and sending messages with descriptors.
pub(crate) use system::{RECEIVE, SEND};

/// A close-on-exec pipe, read end first.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    system::pipe().map_err(|error| refused("a pipe", error))
}

/// An empty anonymous file; the label is only visible in lists of open files.
///
/// # Errors
/// System errors.
pub fn unnamed_file(label: &str) -> io::Result<OwnedFd> {
    system::unnamed_file(label).map_err(|error| refused(UNNAMED_FILE, error))
}

/// Shrinks a pipe so that a single byte fills it: when it is writable again, the byte was read. Linux only;
/// elsewhere a no-op.
pub fn shrink_pipe(pipe: impl AsFd) {
    system::shrink_pipe(pipe);
}
