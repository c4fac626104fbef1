//! Continues the programs on a shell's terminal that were stopped.

use crate::process_group::process_group_of;
use agent_bash_os::ProcessInfo;
use rustix::process::{Pid, Signal, WaitStatus};
use std::time::{Duration, Instant};

/// Intervals between checks of a continued group. A preempted member may stop late, when it gets a
/// CPU of a busy machine again.
const CHECK_INTERVALS: [Duration; 6] = [
    Duration::from_millis(2),
    Duration::from_millis(8),
    Duration::from_millis(30),
    Duration::from_millis(120),
    Duration::from_millis(500),
    Duration::from_secs(2),
];

/// Continues a process group that was stopped by Ctrl-Z or by a program's own "suspend".
///
/// The user could not continue the group later. The kernel also ignores such stops in an orphaned
/// process group. One SIGCONT is not enough: a program that suspends itself signals its group,
/// itself last. The shell may be continued before the rest of the group has stopped.
#[derive(Debug)]
pub(super) struct ContinuedGroup {
    group: Pid,
    intervals: std::slice::Iter<'static, Duration>,
    next: Instant,
}

impl ContinuedGroup {
    /// Continues this child's process group if SIGTSTP stopped it. A stop by another signal was
    /// intended.
    pub(super) fn stopped(child: Pid, status: WaitStatus, now: Instant) -> Option<Self> {
        if status.stopping_signal() != Some(Signal::TSTP.as_raw()) {
            return None;
        }
        // The child has not been reaped, so its pid and process group are its own.
        let group = process_group_of(child)?;
        send_continue(group);
        let mut intervals = CHECK_INTERVALS.iter();
        let next = now + *intervals.next()?;
        Some(Self {
            group,
            intervals,
            next,
        })
    }

    /// Time of the next check.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Continues the group again if one of `members`, all running processes, is a stopped member of
    /// the group. `None` after the last check.
    pub(super) fn check(mut self, members: &[ProcessInfo], now: Instant) -> Option<Self> {
        let group = self.group.as_raw_pid();
        if members
            .iter()
            .any(|member| member.group == group && member.stopped)
        {
            send_continue(self.group);
        }
        self.next = now + *self.intervals.next()?;
        Some(self)
    }
}

fn send_continue(group: Pid) {
    // Its members may have ended meanwhile.
    let _ = rustix::process::kill_process_group(group, Signal::CONT);
}
