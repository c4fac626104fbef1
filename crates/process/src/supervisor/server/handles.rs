//! A set of processes, tracked by pid, start time and a handle that reports their end. A reused pid
//! is never mistaken for a member.

use agent_bash_os::{ProcessHandle, ProcessInfo};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// Interval between checks of members without a pidfd.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A set of processes, by pid.
#[derive(Debug, Default)]
pub(super) struct ProcessHandles {
    all: BTreeMap<i32, MemberHandle>,
}

#[derive(Debug)]
struct MemberHandle {
    start_time: u64,
    handle: ProcessHandle,
}

impl ProcessHandles {
    /// True if the process is in the set.
    pub(super) fn has(&self, process: &ProcessInfo) -> bool {
        let known = self.all.get(&process.pid);
        known.is_some_and(|handle| handle.start_time == process.start_time)
    }

    /// True if a member has, or had, this pid.
    pub(super) fn has_pid(&self, pid: i32) -> bool {
        self.all.contains_key(&pid)
    }

    /// Adds a process. False if it has just ended, or was a member already.
    pub(super) fn add(&mut self, process: &ProcessInfo) -> bool {
        if self.has(process) {
            return false;
        }
        let Ok(handle) = ProcessHandle::open(process.pid) else {
            return false;
        };
        let start_time = process.start_time;
        self.all
            .insert(process.pid, MemberHandle { start_time, handle });
        true
    }

    /// Removes members that have ended, by their handles only: a process listing may miss a process
    /// if its parent ends during the read.
    pub(super) fn forget_ended(&mut self) {
        if self.any_has_ended() {
            self.all.retain(|_, member| !member.handle.has_ended());
        }
    }

    /// Removes all members.
    pub(super) fn clear(&mut self) {
        self.all.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn pids(&self) -> impl Iterator<Item = i32> {
        self.all.keys().copied()
    }

    /// Descriptors that become readable when a member ends.
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.all.values().filter_map(|member| member.handle.pidfd())
    }

    /// Returns the time of the next check of members without a pidfd; `None` if all have one.
    pub(super) fn next_check(&self, now: Instant) -> Option<Instant> {
        self.without_pidfd().next().map(|_| now + POLL_INTERVAL)
    }

    fn without_pidfd(&self) -> impl Iterator<Item = &ProcessHandle> {
        let handles = self.all.values().map(|member| &member.handle);
        handles.filter(|handle| handle.pidfd().is_none())
    }

    /// True if a member has ended that was not removed yet.
    pub(super) fn any_has_ended(&self) -> bool {
        let mut fds: Vec<PollFd<'_>> = self
            .fds()
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        let at_once = Timespec::default();
        let is_reported = !fds.is_empty() && poll(&mut fds, Some(&at_once)).is_ok_and(|n| n > 0);
        is_reported || self.without_pidfd().any(ProcessHandle::has_ended)
    }

    /// Sends each member these signals, in order.
    pub(super) fn signal(&self, signals: &[Signal]) {
        for handle in self.all.values() {
            for signal in signals {
                let _ = handle.handle.signal(signal.as_raw());
            }
        }
    }
}
