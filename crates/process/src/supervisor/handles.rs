//! Processes that are held on to: by pid, start time and a handle that tells of the end, so that a number that somebody else
//! has by now is never taken for one of them.

use crate::platform::{open_handle, signal_handle};
use crate::proc_fs::ProcessInfo;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

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

    /// Forgets whoever is not among these, and is gone therefore.
    pub(super) fn keep(&mut self, living: &[ProcessInfo]) {
        self.all.retain(|pid, handle| {
            let is_it = |process: &ProcessInfo| {
                process.pid == *pid && process.start_time == handle.start_time && !process.zombie
            };
            living.iter().any(is_it)
        });
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
        let handles = self.all.values();
        let mut fds: Vec<_> = handles
            .map(|handle| PollFd::new(&handle.fd, PollFlags::IN))
            .collect();
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        !fds.is_empty() && poll(&mut fds, Some(&at_once)).is_ok_and(|count| count > 0)
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
