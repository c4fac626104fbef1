//! Survivors of a session's call: a job whose processes run beside the session's shell, below the same supervisor. They are
//! who lived when the call ended, and every child that was seen of them since. A process that was started later, whose
//! parents have ended before anybody looked, belongs to the session again.
//!
//! What is *not* here: the job's files and visitors (`job`), ending the shell and what else it has (`ladder`, `tree`).

use super::job::{Job, Seen, Wanted};
use super::relay::Relay;
use super::tree::named;
use crate::proc_fs::ProcessInfo;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Between two rounds of SIGKILL.
const ROUND: Duration = Duration::from_millis(10);

/// Whoever lives this long after the first is in an uninterruptible sleep.
const PATIENCE: Duration = Duration::from_millis(700);

/// Such a job.
#[derive(Debug)]
pub(super) struct Beside {
    job: Job,
    relay: Relay,
    /// By process id: start time, and a handle that tells of the end.
    members: BTreeMap<i32, (u64, OwnedFd)>,
    ending: Option<Ending>,
}

/// SIGTERM was sent.
#[derive(Debug)]
struct Ending {
    kill_at: Instant,
    /// The next round of SIGKILL.
    next: Instant,
    /// Whether it was said that somebody withstands.
    told: bool,
}

impl Beside {
    pub(super) fn new(job: Job, relay: Relay, members: &[ProcessInfo]) -> Self {
        let mut beside = Self {
            job,
            relay,
            members: BTreeMap::new(),
            ending: None,
        };
        for process in members {
            beside.add(process);
        }
        beside
    }

    /// Without a handle it has just gone.
    fn add(&mut self, process: &ProcessInfo) {
        let pid = Pid::from_raw(process.pid);
        if let Some(Ok(handle)) = pid.map(|pid| pidfd_open(pid, PidfdFlags::empty())) {
            let member = (process.start_time, handle);
            self.members.insert(process.pid, member);
        }
    }

    /// What is to be polled for reading.
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let handles = self.members.values().map(|(_, handle)| handle.as_fd());
        handles.chain(self.job.sockets()).chain(self.relay.pipes())
    }

    /// When [`Self::look_after`] has something to do although nothing happens.
    pub(super) fn next(&self) -> Option<Instant> {
        let ending = self.ending.as_ref().map(|ending| ending.next);
        ending.into_iter().chain(self.job.next()).min()
    }

    /// Its processes.
    pub(super) fn pids(&self) -> impl Iterator<Item = i32> {
        self.members.keys().copied()
    }

    /// Whether one of its processes has ended since the last look.
    pub(super) fn is_stale(&self) -> bool {
        let handles = self.members.values();
        let mut fds: Vec<_> = handles
            .map(|(_, handle)| PollFd::new(handle, PollFlags::IN))
            .collect();
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        !fds.is_empty() && poll(&mut fds, Some(&at_once)).is_ok_and(|count| count > 0)
    }

    /// Finds the children of its processes among `living`, then forgets who has ended.
    pub(super) fn look(&mut self, living: &[ProcessInfo]) {
        let is_member = |members: &BTreeMap<i32, (u64, OwnedFd)>, process: &ProcessInfo| {
            let known = members.get(&process.pid);
            known.is_some_and(|(start_time, _)| *start_time == process.start_time)
        };
        loop {
            let is_child = |process: &&ProcessInfo| {
                !is_member(&self.members, process) && self.members.contains_key(&process.parent)
            };
            let Some(child) = living.iter().find(is_child) else {
                break;
            };
            self.add(child);
            if !self.members.contains_key(&child.pid) {
                break;
            }
        }
        self.members.retain(|pid, (start_time, _)| {
            let is_it = |process: &ProcessInfo| {
                process.pid == *pid && process.start_time == *start_time && !process.zombie
            };
            living.iter().any(is_it)
        });
    }

    fn signal(&self, signals: &[Signal]) {
        for (_, handle) in self.members.values() {
            for signal in signals {
                let _ = pidfd_send_signal(handle, *signal);
            }
        }
    }

    /// Does what its visitors wish, ends it where that is due, and reads on for it. True in the moment in which it ends.
    /// `boot` is the argument by which a shell of ours is known.
    pub(super) fn look_after(&mut self, boot: &[u8], now: Instant) -> bool {
        self.relay.pump();
        let members: Vec<ProcessInfo> = self.pids().filter_map(ProcessInfo::read).collect();
        for Wanted::End(grace) in self.job.receive(|| named(&members, &[], boot)) {
            self.signal(&[Signal::TERM, Signal::CONT]);
            let kill_at = now + grace;
            self.ending = Some(Ending {
                kill_at,
                next: kill_at,
                told: false,
            });
        }
        if let Some(ending) = &mut self.ending
            && now >= ending.next
        {
            ending.next = now + ROUND;
            let late = now.duration_since(ending.kill_at) >= PATIENCE;
            if late && !std::mem::replace(&mut ending.told, true) {
                self.job.tell_stuck(&named(&members, &[], boot));
            }
            self.signal(&[Signal::KILL]);
        }
        let seen = Seen {
            shell: None,
            empty: self.members.is_empty(),
            all_read: self.relay.is_done(),
            dropped: self.relay.dropped(),
        };
        self.job.conclude(seen, now)
    }

    /// What is still to be read on for: the session's shell may hold it.
    pub(super) fn into_relay(self) -> Relay {
        self.relay
    }
}
