//! A shell that reads what a terminal's shell would read: the end of the host does not interrupt it,
//! and daemons that it starts go on, as they would when a terminal is closed.

use super::{Server, now};
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
    pub(super) fn within(limit: Duration, grace: Duration) -> Self {
        Self {
            until: Some(now() + limit),
            grace,
            // This process leads the session of its shells.
            session: rustix::process::getpid().as_raw_pid(),
        }
    }

    /// When to look after it.
    pub(super) fn next(&self) -> Option<Instant> {
        self.until
    }

    /// The processes that have a session of their own.
    pub(super) fn daemons(&self, living: &[ProcessInfo]) -> Vec<i32> {
        let daemons = living.iter().filter(|it| it.session != self.session);
        daemons.map(|process| process.pid).collect()
    }
}

impl Server {
    /// Ends the session's processes once the limit is reached.
    pub(super) fn look_after_finishing(&mut self) {
        let Some(finishing) = &mut self.finishing else {
            return;
        };
        if finishing.until.take_if(|until| *until <= now()).is_some() {
            let grace = finishing.grace;
            self.terminate(grace, false);
        }
    }
}
