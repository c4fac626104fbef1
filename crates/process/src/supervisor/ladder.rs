//! Ending a tree: SIGTERM (on a terminal SIGHUP before it), grace, SIGKILL until nobody is left. It ends as soon as the tree is empty; a long grace
//! never delays.

use super::tree::Tree;
use std::time::{Duration, Instant};

/// Between two rounds of SIGKILL. A round reads `/proc` for every direct child, so not at every SIGCHLD.
const ROUND: Duration = Duration::from_millis(2);

/// Whoever lives this long after the first SIGKILL is in an uninterruptible sleep, and is named as a survivor.
const PATIENCE: Duration = Duration::from_millis(700);

/// Between two rounds after that.
const SLOW_ROUND: Duration = Duration::from_millis(200);

/// How often a stopped shell is looked at. It does not reap, so nobody tells when its children have ended.
const LOOK: Duration = Duration::from_millis(20);

/// A shell that is kept stopped until it is alone.
#[derive(Debug)]
pub(super) struct Stopped {
    pid: i32,
    look: Instant,
}

impl Stopped {
    fn is_alone(&mut self, now: Instant, tree: &mut Tree) -> bool {
        if now < self.look {
            return false;
        }
        self.look = now + LOOK;
        tree.is_alone(self.pid)
    }
}

/// A tree that is being ended.
#[derive(Debug)]
pub(super) enum Ladder {
    /// SIGHUP was sent: the tree is on a terminal.
    HungUp {
        /// When SIGTERM follows.
        next: Instant,
        /// When SIGKILL follows.
        until: Instant,
    },
    /// SIGTERM was sent.
    Grace {
        /// When SIGKILL follows.
        until: Instant,
        /// A shell that is kept stopped: once it is alone there is nobody left to wait for.
        stopped: Option<Stopped>,
    },
    /// SIGKILL is being sent.
    Killing {
        /// Since when.
        since: Instant,
        /// The next round.
        next: Instant,
        /// Whether it was said that somebody withstands.
        told: bool,
    },
}

impl Ladder {
    /// Starts with SIGTERM to all, or with SIGKILL where there is no grace.
    pub(super) fn begin(
        tree: &mut Tree,
        now: Instant,
        grace: Duration,
        shell: Option<i32>,
        stop_shell: bool,
    ) -> Self {
        if grace.is_zero() {
            return Self::Killing {
                since: now,
                next: now,
                told: false,
            };
        }
        if stop_shell && let Some(pid) = shell {
            tree.stop_and_terminate(pid);
            let look = now + LOOK;
            return Self::Grace {
                until: now + grace,
                stopped: Some(Stopped { pid, look }),
            };
        }
        tree.terminate(shell);
        Self::Grace {
            until: now + grace,
            stopped: None,
        }
    }

    /// As [`Ladder::begin`], for a tree on a terminal: what ends everything else there is that the terminal hangs up, so
    /// that comes first. Programs that ignore it have three quarters of the grace left (or more) from SIGTERM.
    pub(super) fn hang_up(
        tree: &mut Tree,
        now: Instant,
        grace: Duration,
        shell: Option<i32>,
    ) -> Self {
        /// The longest wait between SIGHUP and SIGTERM.
        const LONGEST: Duration = Duration::from_millis(500);
        if grace.is_zero() {
            return Self::begin(tree, now, grace, shell, false);
        }
        tree.hang_up(shell);
        Self::HungUp {
            next: now + (grace / 4).min(LONGEST),
            until: now + grace,
        }
    }

    /// When [`Ladder::step`] has something to do.
    pub(super) fn next(&self) -> Instant {
        match self {
            Self::Grace { until, stopped } => match stopped {
                Some(stopped) => stopped.look.min(*until),
                None => *until,
            },
            Self::HungUp { next, .. } | Self::Killing { next, .. } => *next,
        }
    }

    /// Does what is due; `shell` is that of the call while it lives. True, once, when somebody withstands SIGKILL.
    pub(super) fn step(&mut self, tree: &mut Tree, shell: Option<i32>, now: Instant) -> bool {
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
            *self = Self::Killing {
                since: now,
                next: now,
                told: false,
            };
        }
        let Self::Killing { since, next, told } = self else {
            return false;
        };
        if now < *next {
            return false;
        }
        tree.kill_round(shell);
        let late = now.duration_since(*since) >= PATIENCE;
        *next = now + if late { SLOW_ROUND } else { ROUND };
        late && !std::mem::replace(told, true)
    }
}
