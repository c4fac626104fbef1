//! A handle to a process (a pidfd): a pid may be reused, but the handle keeps referring to the process it was
//! opened for.

use rustix::process::{Pid, Signal};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A process that can be signalled and waited for even if its pid has been reused. Linux only; elsewhere, opening
/// fails.
#[derive(Debug)]
pub struct ProcessHandle(OwnedFd);

impl ProcessHandle {
    /// Opens the process that has this pid at the moment.
    ///
    /// # Errors
    /// There is no such process, or the system does not support such handles.
    pub fn open(pid: i32) -> io::Result<Self> {
        let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::NotFound)?;
        Ok(Self(system::open(pid)?))
    }

    /// Sends a signal, given by number.
    ///
    /// # Errors
    /// The process has ended, we lack permission, or there is no such signal.
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

/// As [`AsFd`], for an event loop to own.
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
