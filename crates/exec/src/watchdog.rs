//! Time limit and cancellation of a call, watched by a task of its own: a consumer that is slow, or blocks, delays the
//! reading of output, never the ending of a command.

use agent_bash_core::{Cancel, Clock};
use agent_bash_process::supervisor::Link;
use std::io;
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
}

/// Watches one call. Dropping it ends the watch.
#[derive(Debug)]
pub(crate) struct Watchdog {
    task: JoinHandle<()>,
    reason: watch::Receiver<Option<Reason>>,
}

impl Watchdog {
    /// Starts to watch: from now on `timeout` runs.
    pub(crate) fn start(
        link: Link,
        clock: Arc<dyn Clock>,
        cancel: Cancel,
        timeout: Option<Duration>,
        grace: Duration,
    ) -> Self {
        Self::watch(link, clock, cancel, timeout, move |link| {
            link.terminate(grace)
        })
    }

    /// As [`Self::start`], for a shell that serves more than one call: it is stopped first.
    pub(crate) fn start_for_session(
        link: Link,
        clock: Arc<dyn Clock>,
        cancel: Cancel,
        timeout: Option<Duration>,
        grace: Duration,
    ) -> Self {
        Self::watch(link, clock, cancel, timeout, move |link| {
            link.stop_and_terminate(grace)
        })
    }

    fn watch(
        link: Link,
        clock: Arc<dyn Clock>,
        cancel: Cancel,
        timeout: Option<Duration>,
        end: impl FnOnce(&Link) -> io::Result<()> + Send + 'static,
    ) -> Self {
        let (tell, reason) = watch::channel(None);
        let task = tokio::spawn(async move {
            let limit = async {
                match timeout {
                    Some(timeout) => clock.sleep(timeout).await,
                    None => std::future::pending().await,
                }
            };
            let reason = tokio::select! {
                biased;
                () = cancel.cancelled() => Reason::Cancel,
                () = limit => Reason::Timeout,
            };
            // The reason first: whoever sees the end must know that it was ours.
            let _ = tell.send(Some(reason));
            if let Err(error) = end(&link) {
                tracing::debug!(%error, "the supervisor could not be told to end its tree");
            }
        });
        Self { task, reason }
    }

    /// The reason, if there is one by now.
    pub(crate) fn reason(&self) -> Option<Reason> {
        *self.reason.borrow()
    }
}

/// Waits for a reason; for ever, where nobody watches. Cancel safe.
pub(crate) async fn fired(watchdog: &mut Option<Watchdog>) -> Reason {
    if let Some(watchdog) = watchdog
        && let Ok(reason) = watchdog.reason.wait_for(Option::is_some).await
        && let Some(reason) = *reason
    {
        return reason;
    }
    std::future::pending().await
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.task.abort();
    }
}
