//! A shell that reads what a terminal's shell would read: the end of the host does not interrupt
//! it, and daemons that it starts go on, as they would when a terminal is closed.

use agent_bash_os::ProcessInfo;
use std::time::{Duration, Instant};

/// The limit of such a shell.
#[derive(Debug)]
pub(super) struct Finishing {
    /// When the shell and the other processes of its session are ended; `None` once that has begun.
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

    /// When to ask [`Self::due`] next.
    pub(super) fn next(&self) -> Option<Instant> {
        self.until
    }

    /// Returns the grace period, once, when the session is to be ended.
    pub(super) fn due(&mut self, now: Instant) -> Option<Duration> {
        self.until.take_if(|until| *until <= now)?;
        Some(self.grace)
    }

    /// The processes that have a session of their own.
    pub(super) fn daemons(&self, living: &[ProcessInfo]) -> Vec<i32> {
        let daemons = living.iter().filter(|it| it.session != self.session);
        daemons.map(|process| process.pid).collect()
    }
}
