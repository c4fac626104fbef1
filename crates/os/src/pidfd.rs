//! The system calls on pidfds. On other systems than Linux, they fail with `ENOSYS`.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use std::os::fd::OwnedFd;

/// True if the process has ended, reaped or not. Does not wait.
pub(crate) fn has_ended(pidfd: &OwnedFd) -> bool {
    let at_once = Timespec::default();
    let mut end = [PollFd::new(pidfd, PollFlags::IN)];
    poll(&mut end, Some(&at_once)).is_ok_and(|count| count > 0)
}

#[cfg(target_os = "linux")]
pub(crate) fn open(pid: Pid) -> Result<OwnedFd, Errno> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty())
}

#[cfg(target_os = "linux")]
pub(crate) fn signal(pidfd: &OwnedFd, signal: Signal) -> Result<(), Errno> {
    rustix::process::pidfd_send_signal(pidfd, signal)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn open(_: Pid) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn signal(_: &OwnedFd, _: Signal) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}
