//! Time limit, cancellation and the person's own kill, watched by a task of its own: a consumer that is slow, or blocks,
//! delays the reading of output, never the ending of a command.

use agent_bash_core::{Cancel, Clock};
use agent_bash_process::supervisor::Link;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Why a command is being ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Its time limit passed.
    Timeout,
    /// Its caller called it off.
    Cancel,
    /// The person at the terminal did.
    Kill,
}

/// What a watchdog listens to.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) timeout: Option<Duration>,
    pub(crate) grace: Duration,
    pub(crate) cancel: Cancel,
    pub(crate) kill: Cancel,
}

/// Watches one call. Dropping it ends the watch.
#[derive(Debug)]
pub(crate) struct Watchdog {
    task: JoinHandle<()>,
    reason: watch::Receiver<Option<Reason>>,
}

impl Watchdog {
    /// Starts to watch: from now on the time limit runs.
    pub(crate) fn start(link: Link, clock: Arc<dyn Clock>, watched: Watched) -> Self {
        let (tell, reason) = watch::channel(None);
        let task = tokio::spawn(async move {
            let Watched {
                timeout,
                grace,
                cancel,
                kill,
            } = watched;
            let limit = async {
                match timeout {
                    Some(timeout) => clock.sleep(timeout).await,
                    None => std::future::pending().await,
                }
            };
            let reason = tokio::select! {
                biased;
                () = kill.cancelled() => Reason::Kill,
                () = cancel.cancelled() => Reason::Cancel,
                () = limit => Reason::Timeout,
            };
            // The reason first: whoever sees the end must know that it was ours.
            let _ = tell.send(Some(reason));
            if let Err(error) = link.terminate(grace) {
                tracing::debug!(%error, "the supervisor could not be told to end its tree");
            }
        });
        Self { task, reason }
    }

    /// The reason, if there is one by now.
    pub(crate) fn reason(&self) -> Option<Reason> {
        *self.reason.borrow()
    }

    /// Waits for a reason. Cancel safe.
    pub(crate) async fn fired(&mut self) {
        if self.reason.wait_for(Option::is_some).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.task.abort();
    }
}
