//! Ending a tree: SIGTERM, grace, SIGKILL until nobody is left. It ends as soon as the tree is empty; a long grace
//! never delays.

use super::tree;
use std::time::{Duration, Instant};

/// Between two rounds of SIGKILL. A round reads `/proc` for every direct child, so not at every SIGCHLD.
const ROUND: Duration = Duration::from_millis(2);

/// Whoever lives this long after the first SIGKILL is in an uninterruptible sleep, and is named as a survivor.
const PATIENCE: Duration = Duration::from_millis(700);

/// Between two rounds after that.
const SLOW_ROUND: Duration = Duration::from_millis(200);

/// A tree that is being ended.
#[derive(Debug)]
pub(super) enum Ladder {
    /// SIGTERM was sent.
    Grace {
        /// When SIGKILL follows.
        until: Instant,
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
    pub(super) fn begin(now: Instant, grace: Duration, shell: Option<i32>) -> Self {
        if grace.is_zero() {
            return Self::Killing {
                since: now,
                next: now,
                told: false,
            };
        }
        tree::terminate(shell);
        Self::Grace { until: now + grace }
    }

    /// When [`Ladder::step`] has something to do.
    pub(super) fn next(&self) -> Instant {
        match self {
            Self::Grace { until } => *until,
            Self::Killing { next, .. } => *next,
        }
    }

    /// Does what is due. True, once, when somebody withstands SIGKILL.
    pub(super) fn step(&mut self, now: Instant) -> bool {
        if let Self::Grace { until } = self {
            if now < *until {
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
        tree::kill_round();
        let late = now.duration_since(*since) >= PATIENCE;
        *next = now + if late { SLOW_ROUND } else { ROUND };
        late && !std::mem::replace(told, true)
    }
}
