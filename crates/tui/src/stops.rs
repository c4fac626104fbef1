//! The signals that stop and continue this program from outside, so that the terminal is given back in time.

use rustix::process::{Signal, getpgrp, getpid, getsid, kill_current_process_group, kill_process};
use std::io;
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Give the terminal back, and stop.
    Suspend,
    /// It was stopped without warning, and goes on: take the terminal again.
    Continued,
}

/// Listens for these signals.
#[derive(Debug)]
pub(crate) struct Stops {
    suspend: Signals,
    continued: Signals,
}

impl Stops {
    /// # Errors
    /// The system cannot install a handler.
    pub(crate) fn listen() -> io::Result<Self> {
        let on = |own: Signal| signal(SignalKind::from_raw(own.as_raw()));
        Ok(Self {
            suspend: on(Signal::TSTP)?,
            continued: on(Signal::CONT)?,
        })
    }

    /// The next one. Cancel safe.
    pub(crate) async fn next(&mut self) -> Stop {
        tokio::select! {
            biased;
            Some(()) = self.suspend.recv() => Stop::Suspend,
            Some(()) = self.continued.recv() => Stop::Continued,
            else => std::future::pending().await,
        }
    }

    /// Asks this whole job to stop, as the terminal's driver does for Ctrl+Z: a shell waits for all of its processes. This
    /// one is told by [`Self::next`], too.
    ///
    /// # Errors
    /// The signal cannot be sent.
    pub(crate) fn ask() -> io::Result<()> {
        Ok(kill_current_process_group(Signal::TSTP)?)
    }

    /// Stops this process until it is continued; not at all where no shell could continue it.
    ///
    /// # Errors
    /// The signal cannot be sent.
    pub(crate) async fn stop(&mut self) -> io::Result<()> {
        // Whoever leads the session has nobody above who controls jobs, nor has the group of that process.
        if getsid(None).is_ok_and(|leader| leader == getpgrp()) {
            return Ok(());
        }
        kill_process(getpid(), Signal::STOP)?;
        // Another thread may get it: without this wait the terminal would be taken back before this one has stopped.
        self.continued.recv().await;
        Ok(())
    }
}
