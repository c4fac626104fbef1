//! A pidfd: unlike a pid, it refers to the same process even if the pid is reused.

use rustix::process::{Pid, Signal};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A process that can be signalled and awaited even if its pid was reused. Linux only; elsewhere,
/// opening fails.
#[derive(Debug)]
pub struct ProcessHandle(OwnedFd);

impl ProcessHandle {
    /// Opens the process that has this pid at the moment.
    ///
    /// # Errors
    /// No process has this pid, or the system does not support pidfds.
    pub fn open(pid: i32) -> io::Result<Self> {
        let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::NotFound)?;
        Ok(Self(system::open(pid)?))
    }

    /// Sends a signal, given by number.
    ///
    /// # Errors
    /// The process has ended, the permission is missing, or the signal does not exist.
    pub fn signal(&self, signal: i32) -> io::Result<()> {
        let signal = Signal::from_named_raw(signal).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(system::signal(&self.0, signal)?)
    }
}

/// Becomes readable when the process has ended.
impl AsFd for ProcessHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Like [`AsFd`], for an event loop that owns the descriptor.
impl From<ProcessHandle> for OwnedFd {
    fn from(handle: ProcessHandle) -> Self {
        handle.0
    }
}

#[cfg(target_os = "linux")]
mod system {
    use super::{OwnedFd, Pid, Signal};
    use rustix::io::Errno;
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};

    pub(super) fn open(pid: Pid) -> Result<OwnedFd, Errno> {
        pidfd_open(pid, PidfdFlags::empty())
    }

    pub(super) fn signal(handle: &OwnedFd, signal: Signal) -> Result<(), Errno> {
        pidfd_send_signal(handle, signal)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{OwnedFd, Pid, Signal};
    use rustix::io::Errno;

    pub(super) fn open(_: Pid) -> Result<OwnedFd, Errno> {
        Err(Errno::NOSYS)
    }

    pub(super) fn signal(_: &OwnedFd, _: Signal) -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }
}
