//! Handles Ctrl-C and other termination signals. The first signal cancels the command, so that its
//! partial result can still be printed. A second SIGINT exits at once; the supervisor then ends the
//! remaining processes.

use agent_bash::core::Cancel;
use agent_bash::process::ignored_signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that cancel a command, with their numbers on every Unix.
const CANCELLING_SIGNALS: [(SignalKind, u8); 3] = [
    (SignalKind::hangup(), 1),
    (SignalKind::interrupt(), 2),
    (SignalKind::terminate(), 15),
];

/// Cancels the command at the first termination signal, and remembers that signal.
#[derive(Debug, Clone)]
pub(crate) struct CancelSignals {
    cancel: Cancel,
    /// Number of the first signal; 0 if none.
    first: Arc<AtomicU8>,
}

impl CancelSignals {
    /// Installs the handlers. SIGHUP stays ignored if it was ignored at the start, so that `nohup`
    /// works. SIGINT does not: scripts start background commands with SIGINT ignored, and a SIGINT
    /// that is sent to this process is meant for it.
    ///
    /// # Errors
    /// The system cannot install a handler.
    pub(crate) fn listen() -> std::io::Result<Self> {
        let signals = Self {
            cancel: Cancel::new(),
            first: Arc::default(),
        };
        let hangup = SignalKind::hangup();
        let is_hangup_ignored = ignored_signals().contains(&hangup.as_raw_value());
        for (kind, number) in CANCELLING_SIGNALS {
            if !(is_hangup_ignored && kind == hangup) {
                tokio::spawn(signals.clone().wait(signal(kind)?, number));
            }
        }
        Ok(signals)
    }

    /// Handles SIGQUIT as well, for a program that must restore a terminal before it ends.
    ///
    /// # Errors
    /// The system cannot install a handler.
    pub(crate) fn listen_for_quit(&self) -> std::io::Result<()> {
        tokio::spawn(self.clone().wait(signal(SignalKind::quit())?, 3));
        Ok(())
    }

    /// The cancellation that the first signal triggers.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Returns 128 + n if signal n cancelled the command, as a shell would report it.
    pub(crate) fn exit_code(&self) -> Option<u8> {
        match self.first.load(Ordering::Acquire) {
            0 => None,
            number => Some(128 + number),
        }
    }

    /// Handles a signal for as long as this process runs.
    async fn wait(self, mut signal: Signal, number: u8) {
        while signal.recv().await.is_some() {
            let before =
                self.first
                    .compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire);
            if before.is_err() && number == 2 {
                std::process::exit(130);
            }
            self.cancel.cancel();
        }
    }
}
