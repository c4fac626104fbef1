//! A handle to a process (a pidfd). Unlike a pid, the handle always refers to the process for which
//! it was opened.
//!
//! If the system refuses pidfds (gVisor, kernels before 5.3, a filter of system calls), the handle
//! is the pid with the start time of the process. Such a handle has no descriptor to wait for. If
//! the pid is reused between the check of the start time and the signal, the signal reaches the
//! wrong process.

use crate::{ProcessInfo, pidfd};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A process that can be signalled even if its pid has been reused.
#[derive(Debug)]
pub struct ProcessHandle {
    pid: Pid,
    kind: HandleKind,
}

/// The data that identifies the process.
#[derive(Debug)]
enum HandleKind {
    /// The kernel's handle.
    Pidfd(OwnedFd),
    /// The start time, if `/proc` shows it.
    StartTime(Option<u64>),
}

impl ProcessHandle {
    /// Opens the process that has this pid now.
    ///
    /// # Errors
    /// There is no such process.
    pub fn open(pid: i32) -> io::Result<Self> {
        let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::NotFound)?;
        let kind = match pidfd::open(pid) {
            Ok(pidfd) => HandleKind::Pidfd(pidfd),
            Err(error @ (Errno::SRCH | Errno::MFILE | Errno::NFILE)) => return Err(error.into()),
            Err(_) => {
                if test_kill_process(pid) == Err(Errno::SRCH) {
                    return Err(Errno::SRCH.into());
                }
                let info = ProcessInfo::read(pid.as_raw_pid());
                HandleKind::StartTime(info.map(|info| info.start_time))
            }
        };
        Ok(Self { pid, kind })
    }

    /// Sends the signal with this number.
    ///
    /// # Errors
    /// The process has ended, the permission is missing, or the signal does not exist.
    pub fn signal(&self, signal: i32) -> io::Result<()> {
        let signal = Signal::from_named_raw(signal).ok_or(io::ErrorKind::InvalidInput)?;
        if let HandleKind::Pidfd(pidfd) = &self.kind {
            match pidfd::signal(pidfd, signal) {
                // A seccomp filter may have refused the call with the same error: `kill` tells the
                // two cases apart.
                Err(Errno::NOSYS | Errno::PERM | Errno::ACCESS) => {}
                sent => return Ok(sent?),
            }
        }
        if self.has_ended() {
            return Err(Errno::SRCH.into());
        }
        Ok(kill_process(self.pid, signal)?)
    }

    /// True if the process has ended, reaped or not. Does not wait.
    pub fn has_ended(&self) -> bool {
        match &self.kind {
            HandleKind::Pidfd(pidfd) => pidfd::has_ended(pidfd),
            HandleKind::StartTime(started) => match ProcessInfo::read(self.pid.as_raw_pid()) {
                Some(now) => now.zombie || Some(now.start_time) != *started,
                None => started.is_some() || test_kill_process(self.pid) == Err(Errno::SRCH),
            },
        }
    }

    /// Returns a descriptor that becomes readable when the process has ended. `None` if the system
    /// refuses pidfds: the caller then polls [`Self::has_ended`].
    pub fn pidfd(&self) -> Option<BorrowedFd<'_>> {
        match &self.kind {
            HandleKind::Pidfd(pidfd) => Some(pidfd.as_fd()),
            HandleKind::StartTime(_) => None,
        }
    }

    /// Returns the pidfd, which an event loop can own; `None` if the system refuses pidfds.
    pub fn into_pidfd(self) -> Option<OwnedFd> {
        match self.kind {
            HandleKind::Pidfd(pidfd) => Some(pidfd),
            HandleKind::StartTime(_) => None,
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "a test starts what it signals")]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    fn sleeping() -> Child {
        Command::new("sleep").arg("60").spawn().unwrap()
    }

    fn without_pidfd(pid: i32) -> ProcessHandle {
        ProcessHandle {
            pid: Pid::from_raw(pid).unwrap(),
            kind: HandleKind::StartTime(ProcessInfo::read(pid).map(|info| info.start_time)),
        }
    }

    #[test]
    fn handle_signals_its_process_with_and_without_a_pidfd() {
        for open in [|pid| ProcessHandle::open(pid).unwrap(), without_pidfd] {
            let mut child = sleeping();
            let handle = open(child.id().cast_signed());
            assert!(!handle.has_ended());
            handle.signal(Signal::KILL.as_raw()).unwrap();
            while !handle.has_ended() {
                std::thread::yield_now();
            }
            child.wait().unwrap();
            assert!(handle.has_ended());
            assert!(handle.signal(Signal::KILL.as_raw()).is_err());
        }
        assert!(ProcessHandle::open(i32::MAX).is_err());
    }

    #[test]
    fn handle_without_pidfd_does_not_signal_another_process_with_the_same_pid() {
        let mut child = sleeping();
        let mut handle = without_pidfd(child.id().cast_signed());
        handle.kind = HandleKind::StartTime(Some(1));
        assert!(handle.has_ended());
        assert!(handle.signal(Signal::KILL.as_raw()).is_err());
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
