//! The signals that suspend and continue this program, so that the terminal is released before the
//! program stops.

use agent_bash::process::is_in_session_leaders_group;
use rustix::process::{Signal, getpid, kill_current_process_group, kill_process};
use std::io;
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};

/// The action that a signal requests of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopRequest {
    /// Release the terminal, and stop.
    Suspend,
    /// The program was stopped without warning, and continues: take over the terminal again.
    Continued,
}

/// Listens for the signals that suspend and continue this program.
#[derive(Debug)]
pub(crate) struct StopSignals {
    suspend: Signals,
    continued: Signals,
}

impl StopSignals {
    /// # Errors
    ///
    /// The system cannot install a handler.
    pub(crate) fn listen() -> io::Result<Self> {
        let on = |handled: Signal| signal(SignalKind::from_raw(handled.as_raw()));
        Ok(Self {
            suspend: on(Signal::TSTP)?,
            continued: on(Signal::CONT)?,
        })
    }

    /// Waits for the next signal. Cancel safe.
    pub(crate) async fn next(&mut self) -> StopRequest {
        tokio::select! {
            biased;
            Some(()) = self.suspend.recv() => StopRequest::Suspend,
            Some(()) = self.continued.recv() => StopRequest::Continued,
            else => std::future::pending().await,
        }
    }

    /// Stops this program's whole process group, as the terminal's driver does for Ctrl+Z: a shell
    /// waits for all processes of a job. [`Self::next`] reports the signal to this process, too.
    ///
    /// # Errors
    ///
    /// The signal cannot be sent.
    pub(crate) fn suspend_group() -> io::Result<()> {
        Ok(kill_current_process_group(Signal::TSTP)?)
    }

    /// Stops this process until it is continued. Does nothing if no shell could continue it.
    ///
    /// # Errors
    ///
    /// The signal cannot be sent.
    pub(crate) async fn suspend(&mut self) -> io::Result<()> {
        // A session leader's process group is orphaned: a stopped member would never be continued.
        if is_in_session_leaders_group() {
            return Ok(());
        }
        kill_process(getpid(), Signal::STOP)?;
        // Another thread may handle the signal. Without this wait, this thread could take over the
        // terminal before it has stopped.
        self.continued.recv().await;
        Ok(())
    }
}
