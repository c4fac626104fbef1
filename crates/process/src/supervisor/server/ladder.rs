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

/// SIGKILL, again and again until nobody is left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rounds {
    /// The first one.
    since: Instant,
    /// When the next one is due.
    next: Instant,
    /// Whether it was said that somebody withstands.
    told: bool,
}

impl Rounds {
    /// The first one is due at `since`.
    pub(super) fn from(since: Instant) -> Self {
        Self {
            since,
            next: since,
            told: false,
        }
    }

    /// When the next one is due.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// The one of two that begins first.
    pub(super) fn earlier(self, other: Self) -> Self {
        if other.since < self.since {
            other
        } else {
            self
        }
    }

    /// Whether one is due; it is counted as done.
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        if now < self.next {
            return false;
        }
        self.next = now + if self.is_late(now) { SLOW_ROUND } else { ROUND };
        true
    }

    /// True, once, when somebody withstands.
    pub(super) fn is_withstood(&mut self, now: Instant) -> bool {
        self.is_late(now) && !std::mem::replace(&mut self.told, true)
    }

    fn is_late(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) >= PATIENCE
    }
}

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
    Killing(Rounds),
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
            return Self::Killing(Rounds::from(now));
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

    /// The same where there was another before: what that has promised holds. Of two graces the shorter wins.
    pub(super) fn after(mut self, before: Self) -> Self {
        let latest = match before {
            // It goes on from where it is.
            Self::Killing(_) => return before,
            Self::HungUp { until, .. } | Self::Grace { until, .. } => until,
        };
        match &mut self {
            Self::HungUp { until, .. } | Self::Grace { until, .. } => *until = latest.min(*until),
            Self::Killing(_) => {}
        }
        self
    }

    /// Whether somebody has withstood SIGKILL.
    pub(super) fn is_withstood(&self) -> bool {
        matches!(self, Self::Killing(rounds) if rounds.told)
    }

    /// When [`Ladder::step`] has something to do.
    pub(super) fn next(&self) -> Instant {
        match self {
            Self::Grace { until, stopped } => match stopped {
                Some(stopped) => stopped.look.min(*until),
                None => *until,
            },
            Self::HungUp { next, .. } => *next,
            Self::Killing(rounds) => rounds.next(),
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
            *self = Self::Killing(Rounds::from(now));
        }
        let Self::Killing(rounds) = self else {
            return false;
        };
        if !rounds.is_due(now) {
            return false;
        }
        tree.kill_round(shell);
        rounds.is_withstood(now)
    }
}
