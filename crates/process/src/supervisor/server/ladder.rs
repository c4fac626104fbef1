//! Ends a tree of processes: SIGTERM (on a terminal SIGHUP first), grace period, then SIGKILL until
//! all have ended. Ends as soon as the tree is empty, so a long grace period never causes a delay.
//!
//! The order to end a tree carries the grace period: `Profile::grace` for a call, a field of the
//! request for a job.

use super::tree::CallProcesses;
use std::time::{Duration, Instant};

/// Interval between rounds of SIGKILL. A round is too expensive to run for every SIGCHLD: it reads
/// `/proc` for every direct child.
const KILL_INTERVAL: Duration = Duration::from_millis(2);

/// Time without the end of a process after which the running ones are reported: they are in
/// uninterruptible sleep. While processes end, the rounds make progress: a fork storm on a busy
/// machine needs more time.
const KILL_TIMEOUT: Duration = Duration::from_millis(700);

/// Time after the first SIGKILL after which running processes are reported although others end.
const MAX_KILL_TIME: Duration = Duration::from_secs(10);

/// Interval between rounds of SIGKILL after [`KILL_TIMEOUT`].
const SLOW_KILL_INTERVAL: Duration = Duration::from_millis(200);

/// Polling interval for a stopped shell. The shell does not reap its children, so their end is not
/// signalled.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Rounds of SIGKILL until all processes have ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct KillRounds {
    /// Time of the first round.
    since: Instant,
    /// Time at which a process last ended, at first `since`.
    last_end: Instant,
    /// Time of the next round.
    next: Instant,
    /// True if survivors of SIGKILL have been reported.
    reported: bool,
}

impl KillRounds {
    /// Creates rounds that start at `since`.
    pub(super) fn starting_at(since: Instant) -> Self {
        Self {
            since,
            last_end: since,
            next: since,
            reported: false,
        }
    }

    /// Time of the next round.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Returns `self` or `other`, whichever starts first.
    pub(super) fn earlier(self, other: Self) -> Self {
        if other.since < self.since {
            other
        } else {
            self
        }
    }

    /// True if a round is due; if so, schedules the next one.
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        if now < self.next {
            return false;
        }
        self.next = now
            + if self.is_timed_out(now) {
                SLOW_KILL_INTERVAL
            } else {
                KILL_INTERVAL
            };
        true
    }

    /// True, once, if processes withstand SIGKILL.
    pub(super) fn newly_stuck(&mut self, now: Instant) -> bool {
        self.is_timed_out(now) && !std::mem::replace(&mut self.reported, true)
    }

    fn is_timed_out(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.last_end) >= KILL_TIMEOUT
            || now.saturating_duration_since(self.since) >= MAX_KILL_TIME
    }
}

/// A shell that is kept stopped until all its children have ended.
#[derive(Debug)]
pub(super) struct StoppedShell {
    pid: i32,
    next_check: Instant,
}

impl StoppedShell {
    fn is_alone(&mut self, now: Instant, tree: &mut CallProcesses) -> bool {
        if now < self.next_check {
            return false;
        }
        self.next_check = now + POLL_INTERVAL;
        tree.is_alone(self.pid)
    }
}

/// The state of ending a tree.
#[derive(Debug)]
pub(super) enum Ladder {
    /// SIGHUP was sent: the tree is on a terminal.
    HungUp {
        /// The time of SIGTERM.
        next: Instant,
        /// The time of SIGKILL.
        until: Instant,
    },
    /// SIGTERM was sent.
    Grace {
        /// The time of SIGKILL.
        until: Instant,
        /// The stopped shell: SIGKILL follows at once when its children have ended.
        stopped: Option<StoppedShell>,
    },
    /// SIGKILL is being sent.
    Killing(KillRounds),
}

impl Ladder {
    /// Begins with SIGTERM to all, or with SIGKILL if there is no grace period.
    pub(super) fn begin(
        tree: &mut CallProcesses,
        now: Instant,
        grace: Duration,
        shell: Option<i32>,
        stop_shell: bool,
    ) -> Self {
        if grace.is_zero() {
            return Self::Killing(KillRounds::starting_at(now));
        }
        if stop_shell && let Some(pid) = shell {
            tree.stop_and_terminate(pid);
            let next_check = now + POLL_INTERVAL;
            return Self::Grace {
                until: now + grace,
                stopped: Some(StoppedShell { pid, next_check }),
            };
        }
        tree.terminate(shell);
        Self::Grace {
            until: now + grace,
            stopped: None,
        }
    }

    /// Begins with SIGHUP, as the kernel does when a terminal disappears. SIGTERM follows in the
    /// first quarter of the grace period.
    pub(super) fn hang_up(
        tree: &mut CallProcesses,
        now: Instant,
        grace: Duration,
        shell: Option<i32>,
    ) -> Self {
        /// Maximum time between SIGHUP and SIGTERM.
        const MAX_HANGUP_TIME: Duration = Duration::from_millis(500);
        if grace.is_zero() {
            return Self::begin(tree, now, grace, shell, false);
        }
        tree.hang_up(shell);
        Self::HungUp {
            next: now + (grace / 4).min(MAX_HANGUP_TIME),
            until: now + grace,
        }
    }

    /// Combines this ladder with `before`, which began earlier. SIGKILL is sent at the earlier of
    /// both deadlines.
    pub(super) fn combined_with(mut self, before: Self) -> Self {
        let latest = match before {
            // The ladder continues from its current state.
            Self::Killing(_) => return before,
            Self::HungUp { until, .. } | Self::Grace { until, .. } => until,
        };
        match &mut self {
            Self::HungUp { until, .. } | Self::Grace { until, .. } => *until = latest.min(*until),
            Self::Killing(_) => {}
        }
        self
    }

    /// Records the end of a process: the rounds of SIGKILL make progress.
    pub(super) fn process_ended(&mut self, now: Instant) {
        if let Self::Killing(rounds) = self {
            rounds.last_end = now;
        }
    }

    /// True while SIGKILL is being sent.
    pub(super) fn is_killing(&self) -> bool {
        matches!(self, Self::Killing(_))
    }

    /// True if processes have withstood SIGKILL.
    pub(super) fn has_stuck_processes(&self) -> bool {
        matches!(self, Self::Killing(rounds) if rounds.reported)
    }

    /// The time of the next [`Ladder::step`].
    pub(super) fn next(&self) -> Instant {
        match self {
            Self::Grace { until, stopped } => match stopped {
                Some(stopped) => stopped.next_check.min(*until),
                None => *until,
            },
            Self::HungUp { next, .. } => *next,
            Self::Killing(rounds) => rounds.next(),
        }
    }

    /// Performs the step that is due; `shell` is the call's shell while it is running. True, once,
    /// if processes withstand SIGKILL.
    pub(super) fn step(
        &mut self,
        tree: &mut CallProcesses,
        shell: Option<i32>,
        now: Instant,
    ) -> bool {
        if let Self::HungUp { next, until } = *self {
            if now < next {
                return false;
            }
            tree.terminate(shell);
            *self = Self::Grace {
                until,
                stopped: None,
            };
        }
        if let Self::Grace { until, stopped } = self {
            let alone = stopped
                .as_mut()
                .is_some_and(|stopped| stopped.is_alone(now, tree));
            if now < *until && !alone {
                return false;
            }
            *self = Self::Killing(KillRounds::starting_at(now));
        }
        let Self::Killing(rounds) = self else {
            return false;
        };
        if !rounds.is_due(now) {
            return false;
        }
        tree.kill_round(shell);
        rounds.newly_stuck(now)
    }
}

#[cfg(test)]
mod tests {
    use super::super::serve::now;
    use super::*;

    /// Less than [`KILL_TIMEOUT`].
    const IN_TIME: Duration = Duration::from_millis(699);

    #[test]
    fn processes_withstand_sigkill_if_none_of_them_ends_in_time() {
        let start = now();
        let mut rounds = KillRounds::starting_at(start);
        assert!(!rounds.newly_stuck(start + IN_TIME));
        assert!(rounds.newly_stuck(start + KILL_TIMEOUT));
        assert!(
            !rounds.newly_stuck(start + KILL_TIMEOUT * 2),
            "reported twice"
        );
    }

    #[test]
    fn rounds_go_on_while_processes_end_but_not_for_ever() {
        let start = now();
        let mut rounds = KillRounds::starting_at(start);
        let mut time = start;
        while time < start + MAX_KILL_TIME {
            assert!(
                !rounds.newly_stuck(time),
                "{:?}",
                time.duration_since(start)
            );
            rounds.last_end = time;
            time += IN_TIME;
        }
        assert!(rounds.newly_stuck(time));
    }
}
