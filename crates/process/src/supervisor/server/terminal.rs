//! The terminal of a shell: its foreground process group, and the handling of stopped programs.

use crate::proc_scan::has_terminal_open;
use agent_bash_core::Survivor;
use agent_bash_os::ProcessInfo;
use rustix::process::{Pid, Signal, WaitStatus};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The terminal of a shell: its foreground process group, and the handling of stopped programs.
#[derive(Debug)]
pub(super) struct Terminal {
    path: PathBuf,
}

impl Terminal {
    /// The one with this path.
    pub(super) fn at(path: &Path) -> Self {
        let path = path.to_owned();
        Self { path }
    }

    /// Determines for each survivor whether it can still write to the terminal.
    pub(super) fn mark_holders(&self, survivors: &mut [Survivor]) {
        for survivor in survivors {
            survivor.holds_output = has_terminal_open(survivor.pid.cast_signed(), &self.path);
        }
    }
}

/// Intervals at which a continued group is looked at again. Together they bridge the time for which
/// a member that has been preempted between two system calls may have to wait for a busy machine's
/// CPU.
const LOOK_INTERVALS: [Duration; 6] = [
    Duration::from_millis(2),
    Duration::from_millis(8),
    Duration::from_millis(30),
    Duration::from_millis(120),
    Duration::from_millis(500),
    Duration::from_secs(2),
];

/// Continues a process group that was stopped by Ctrl-Z or by a program's own "suspend".
///
/// The user could not continue it later, and in an orphaned process group the kernel ignores such
/// stops as well. Once is not enough: a program that suspends itself signals its whole group,
/// itself last, and the stop of the shell may be answered before the rest of the group has stopped.
#[derive(Debug)]
pub(super) struct ContinuedGroup {
    group: Pid,
    looks: std::slice::Iter<'static, Duration>,
    next: Instant,
}

impl ContinuedGroup {
    /// Continues this child's group, if it was stopped in that way. A stop by any other signal is
    /// left alone: it was intended.
    pub(super) fn stopped(child: Pid, status: WaitStatus, now: Instant) -> Option<Self> {
        if status.stopping_signal() != Some(Signal::TSTP.as_raw()) {
            return None;
        }
        // The child has not been reaped, so its pid and process group are its own.
        let group = rustix::process::getpgid(Some(child)).ok()?;
        send_continue(group);
        let mut looks = LOOK_INTERVALS.iter();
        let next = now + *looks.next()?;
        Some(Self { group, looks, next })
    }

    /// Time of the next look.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Continues the group again if one of these, which are all that live, is a stopped member of
    /// it. `None` after the last look.
    pub(super) fn look(mut self, members: &[ProcessInfo], now: Instant) -> Option<Self> {
        let group = self.group.as_raw_pid();
        if members
            .iter()
            .any(|member| member.group == group && member.stopped)
        {
            send_continue(self.group);
        }
        self.next = now + *self.looks.next()?;
        Some(self)
    }
}

fn send_continue(group: Pid) {
    // Its members may have ended meanwhile.
    let _ = rustix::process::kill_process_group(group, Signal::CONT);
}
