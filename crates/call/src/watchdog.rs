//! Time limit and cancellation of a call. The call watches for them by itself as long as nothing can keep it from that; a
//! consumer can, being slow or blocking, so from the first chunk on a task of its own watches: a consumer delays the reading
//! of output, never the ending of a command.
//!
//! Time may pass without us: this process is stopped, or starved. A command that has ended meanwhile has ended in time, though its
//! limit is over when we go on; so before a command is ended it is looked whether there is word of it that nobody has read.

use agent_bash_core::{Cancel, Clock, RunSpec};
use agent_bash_process::supervisor::Link;
use rustix::io::ioctl_fionread;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Why a command is being ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Its time limit passed.
    Timeout,
    /// Its caller called it off.
    Cancel,
    /// The person at its terminal did.
    Kill,
}

/// Until it is looked again whether the word was read that there is.
const READ_AGAIN: Duration = Duration::from_millis(5);

/// Watches one call. Dropping it ends the watch.
pub struct Watchdog {
    ender: Ender,
    watch: Watch,
}

/// What is listened to, and how the command is ended.
#[derive(Debug, Clone)]
struct Ender {
    clock: Arc<dyn Clock>,
    cancel: Cancel,
    /// The person at its terminal wants it to end.
    kill: Option<Cancel>,
    link: Link,
    /// Where a session's shell says that it is done.
    status: Option<Arc<OwnedFd>>,
    grace: Duration,
    order: fn(&Link, Duration) -> io::Result<()>,
}

/// Who watches.
enum Watch {
    /// The call, in [`fired`].
    Call(Pin<Box<dyn Future<Output = Reason> + Send>>),
    /// A task.
    Task {
        task: JoinHandle<()>,
        reason: watch::Receiver<Option<Reason>>,
    },
    /// Nobody any more: there was a reason.
    Fired(Reason),
}

/// What else than its supervisor and its caller a call has to say.
#[derive(Debug, Default)]
pub struct Signals {
    /// Where a session's shell says that it is done.
    pub status: Option<OwnedFd>,
    /// The person at its terminal wants it to end.
    pub kill: Option<Cancel>,
}

impl Watchdog {
    /// Starts to watch: from now on the time limit runs. A shell that serves more than one call is stopped before it is
    /// ended: it would go on to its next command.
    pub fn start(
        link: Link,
        clock: Arc<dyn Clock>,
        cancel: Cancel,
        signals: Signals,
        spec: &RunSpec,
    ) -> Self {
        let Signals { status, kill } = signals;
        let ender = Ender {
            clock,
            cancel,
            kill,
            link,
            status: status.map(Arc::new),
            grace: spec.grace,
            order: match spec.session {
                Some(_) => Link::stop_and_terminate,
                None => Link::terminate,
            },
        };
        Self::new(ender, spec.timeout)
    }

    /// Watches what a session's call has left, and ends that alone, with `grace`, after `timeout`.
    pub fn over_survivors(
        link: Link,
        clock: Arc<dyn Clock>,
        cancel: Cancel,
        timeout: Option<Duration>,
        grace: Duration,
    ) -> Self {
        let ender = Ender {
            clock,
            cancel,
            kill: None,
            link,
            status: None,
            grace,
            order: Link::end_survivors,
        };
        Self::new(ender, timeout)
    }

    /// Goes on without a time limit, for what is left of a call whose command has ended in time.
    #[must_use]
    pub fn unlimited(self) -> Self {
        match self.reason() {
            Some(_) => self,
            None => Self::new(self.ender.clone(), None),
        }
    }

    fn new(ender: Ender, timeout: Option<Duration>) -> Self {
        let watched = ender.clone();
        let watch = Box::pin(async move {
            let clock = &*watched.clock;
            let limit = async {
                match timeout {
                    Some(timeout) => clock.sleep(timeout).await,
                    None => std::future::pending().await,
                }
            };
            let killed = async {
                match &watched.kill {
                    Some(kill) => kill.cancelled().await,
                    None => std::future::pending().await,
                }
            };
            let reason = tokio::select! {
                biased;
                () = killed => Reason::Kill,
                () = watched.cancel.cancelled() => Reason::Cancel,
                () = limit => Reason::Timeout,
            };
            while watched.is_there() {
                clock.sleep(READ_AGAIN).await;
            }
            reason
        });
        Self {
            ender,
            watch: Watch::Call(watch),
        }
    }

    /// To be called before a consumer is given anything: it may not return for long.
    pub fn guard(&mut self) {
        if !matches!(self.watch, Watch::Call(_)) {
            return;
        }
        let (tell, reason) = watch::channel(None);
        // Replaced at once; the reason is never looked at.
        let Watch::Call(watch) = std::mem::replace(&mut self.watch, Watch::Fired(Reason::Cancel))
        else {
            return;
        };
        let ender = self.ender.clone();
        let task = tokio::spawn(async move {
            let reason = watch.await;
            // The reason first: whoever sees the end must know that it was ours.
            let _ = tell.send(Some(reason));
            ender.end();
        });
        self.watch = Watch::Task { task, reason };
    }

    /// The reason, if there is one by now.
    pub fn reason(&self) -> Option<Reason> {
        match &self.watch {
            Watch::Call(_) => None,
            Watch::Task { reason, .. } => *reason.borrow(),
            Watch::Fired(reason) => Some(*reason),
        }
    }

    async fn fired(&mut self) -> Option<Reason> {
        match &mut self.watch {
            Watch::Call(watch) => {
                let reason = watch.await;
                self.watch = Watch::Fired(reason);
                self.ender.end();
                Some(reason)
            }
            Watch::Task { reason, .. } => *reason.wait_for(Option::is_some).await.ok()?,
            Watch::Fired(reason) => Some(*reason),
        }
    }
}

impl Ender {
    /// Whether there is word from the supervisor, or the shell, that nobody has read.
    fn is_there(&self) -> bool {
        let said = |status: &Arc<OwnedFd>| ioctl_fionread(status).is_ok_and(|bytes| bytes > 0);
        self.link.has_word() || self.status.as_ref().is_some_and(said)
    }

    fn end(&self) {
        if let Err(error) = (self.order)(&self.link, self.grace) {
            tracing::debug!(%error, "the supervisor could not be told to end its tree");
        }
    }
}

/// Waits for a reason; for ever, where nobody watches. Cancel safe.
pub async fn fired(watchdog: &mut Option<Watchdog>) -> Reason {
    if let Some(watchdog) = watchdog
        && let Some(reason) = watchdog.fired().await
    {
        return reason;
    }
    std::future::pending().await
}

impl std::fmt::Debug for Watchdog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watchdog")
            .field("reason", &self.reason())
            .finish_non_exhaustive()
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Watch::Task { task, .. } = &self.watch {
            task.abort();
        }
    }
}
