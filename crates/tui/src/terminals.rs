//! Commands on terminals of their own, as a host that shows them has them.

use agent_bash::core::Executor;
use agent_bash::pty::{PtyExecutor, PtyOptions, PtySession, PtySize, RecordingWriter};
use std::fmt;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Runs commands on terminals, and hands each session to whoever shows it. Give [`Terminals::executor`] to the tool's
/// builder, and this to [`crate::run`] or [`crate::show`].
pub struct Terminals {
    executor: Arc<PtyExecutor>,
    started: UnboundedReceiver<PtySession>,
}

impl Terminals {
    /// Nothing runs yet.
    pub fn new(options: PtyOptions) -> Self {
        let (tell, started) = unbounded_channel();
        let executor = PtyExecutor::new(options).on_start(move |session| {
            // Nobody shows it any more: it runs all the same.
            let _ = tell.send(session);
        });
        Self {
            executor: Arc::new(executor),
            started,
        }
    }

    /// For [`agent_bash::BashToolBuilder::terminal`].
    pub fn executor(&self) -> Arc<dyn Executor> {
        Arc::clone(&self.executor) as _
    }

    /// Records the next command, as asciicast v2.
    pub fn record_next(&self, into: RecordingWriter) {
        self.executor.record_next(into);
    }

    /// The size with which terminals begin from now on.
    pub(crate) fn set_size(&self, size: PtySize) {
        self.executor.set_size(size);
    }

    /// The next session. Cancel safe.
    pub(crate) async fn started(&mut self) -> PtySession {
        match self.started.recv().await {
            Some(session) => session,
            // The executor, which is here, holds the other end.
            None => std::future::pending().await,
        }
    }
}

impl fmt::Debug for Terminals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminals").finish_non_exhaustive()
    }
}
