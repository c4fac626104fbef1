//! Processes that are held on to: by pid, start time and a handle that tells of the end, so that a number that somebody else
//! has by now is never taken for one of them.

use crate::platform::{open_handle, signal_handle};
use crate::proc_fs::ProcessInfo;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// For a look without a wait.
const AT_ONCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// Some processes, by pid.
#[derive(Debug, Default)]
pub(super) struct Handles {
    all: BTreeMap<i32, Handle>,
}

#[derive(Debug)]
struct Handle {
    start_time: u64,
    fd: OwnedFd,
}

/// A handle of whoever has this pid at the moment; `None` where nobody has.
pub(super) fn open(pid: i32) -> Option<OwnedFd> {
    open_handle(Pid::from_raw(pid)?).ok()
}

impl Handles {
    /// Whether it is among them.
    pub(super) fn has(&self, process: &ProcessInfo) -> bool {
        let known = self.all.get(&process.pid);
        known.is_some_and(|handle| handle.start_time == process.start_time)
    }

    /// Whether one of them has this pid, or had it.
    pub(super) fn has_pid(&self, pid: i32) -> bool {
        self.all.contains_key(&pid)
    }

    /// Adds one. False if it has just gone, or was there already.
    pub(super) fn add(&mut self, process: &ProcessInfo) -> bool {
        if self.has(process) {
            return false;
        }
        let Some(fd) = open(process.pid) else {
            return false;
        };
        let start_time = process.start_time;
        self.all.insert(process.pid, Handle { start_time, fd });
        true
    }

    /// Forgets whoever has ended. That is known by their handles alone: a list of who lives may lack somebody whose parent ends
    /// while it is read.
    pub(super) fn forget_ended(&mut self) {
        let mut fds = self.polled();
        if !poll(&mut fds, Some(&AT_ONCE)).is_ok_and(|count| count > 0) {
            return;
        }
        let ended: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        let mut ended = ended.into_iter();
        self.all.retain(|_, _| !ended.next().unwrap_or_default());
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.all.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn pids(&self) -> impl Iterator<Item = i32> {
        self.all.keys().copied()
    }

    /// What becomes readable when one of them ends.
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.all.values().map(|handle| handle.fd.as_fd())
    }

    /// Whether one of them has ended and was not forgotten.
    pub(super) fn somebody_has_ended(&self) -> bool {
        let mut fds = self.polled();
        !fds.is_empty() && poll(&mut fds, Some(&AT_ONCE)).is_ok_and(|count| count > 0)
    }

    /// In the order of the pids.
    fn polled(&self) -> Vec<PollFd<'_>> {
        let handles = self.all.values();
        handles
            .map(|handle| PollFd::new(&handle.fd, PollFlags::IN))
            .collect()
    }

    /// Sends each of them these signals, one after another.
    pub(super) fn signal(&self, signals: &[Signal]) {
        for handle in self.all.values() {
            for signal in signals {
                let _ = signal_handle(&handle.fd, *signal);
            }
        }
    }
}
