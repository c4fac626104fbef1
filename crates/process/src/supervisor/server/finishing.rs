//! The time limit of a shell that may finish after its host's end. Daemons of that shell keep
//! running, as they do when a terminal is closed.

use agent_bash_os::ProcessInfo;
use std::time::{Duration, Instant};

/// The time limit of a shell that may finish after its host's end.
#[derive(Debug)]
pub(super) struct Finishing {
    /// The time at which the shell's process session is ended; `None` once its ending has begun.
    until: Option<Instant>,
    grace: Duration,
    session: i32,
}

impl Finishing {
    pub(super) fn new(until: Instant, grace: Duration) -> Self {
        Self {
            until: Some(until),
            grace,
            // This process leads the session of its shells.
            session: rustix::process::getpid().as_raw_pid(),
        }
    }

    /// The time at which [`Self::due`] must be called.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.until
    }

    /// Returns the grace period, once, when the session is to be ended.
    pub(super) fn due(&mut self, now: Instant) -> Option<Duration> {
        self.until.take_if(|until| *until <= now)?;
        Some(self.grace)
    }

    /// Returns the processes outside the shell's process session.
    pub(super) fn daemons(&self, living: &[ProcessInfo]) -> Vec<i32> {
        let daemons = living
            .iter()
            .filter(|process| process.session != self.session);
        daemons.map(|process| process.pid).collect()
    }
}
