//! Connects the executor that runs commands on terminals with the interface that shows them.

use agent_bash::core::Executor;
use agent_bash::pty::{PtyExecutor, PtyOptions, PtySession, PtySize, RecordingWriter};
use std::fmt;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Runs commands on terminals and passes each session to the interface. Give
/// [`Terminals::executor`] to the tool's builder, and this value to [`crate::run`] or
/// [`crate::show`].
pub struct Terminals {
    executor: Arc<PtyExecutor>,
    sessions: UnboundedReceiver<PtySession>,
}

impl Terminals {
    /// Creates the connection. Nothing runs until the executor is called.
    pub fn new(options: PtyOptions) -> Self {
        let (sender, started) = unbounded_channel();
        let executor = PtyExecutor::new(options).on_start(move |session| {
            // If the interface has ended, the command still runs.
            let _ = sender.send(session);
        });
        Self {
            executor: Arc::new(executor),
            sessions: started,
        }
    }

    /// The executor for [`agent_bash::BashToolBuilder::terminal`].
    pub fn executor(&self) -> Arc<dyn Executor> {
        Arc::clone(&self.executor) as _
    }

    /// Records the next command as asciicast v2.
    pub fn record_next(&self, into: RecordingWriter) {
        self.executor.record_next(into);
    }

    /// Sets the size of terminals that start from now on.
    pub(crate) fn set_size(&self, size: PtySize) {
        self.executor.set_size(size);
    }

    /// Tells the executor whether the next command is a known full-screen program.
    pub(crate) fn expect_full_screen(&self, is_full_screen: bool) {
        self.executor.expect_full_screen(is_full_screen);
    }

    /// Waits for the next command on a terminal. Cancel safe.
    pub(crate) async fn next_session(&mut self) -> PtySession {
        match self.sessions.recv().await {
            Some(session) => session,
            // Cannot happen: the executor, which this value owns, holds the sender.
            None => std::future::pending().await,
        }
    }
}

impl fmt::Debug for Terminals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminals").finish_non_exhaustive()
    }
}
