//! Enforces a call's time limit and cancellation. At first, the call's own task watches for both.
//! From the first chunk on, a separate task watches, because a consumer may block: it may delay the
//! reading of output, but never the termination of a command.
//!
//! The host itself may be stopped or scheduled late. A command that ended meanwhile ended within
//! its limit, so the watchdog checks for an unread event before it terminates a command.

use agent_bash_core::{Cancel, Clock, RunSpec, or_never};
use agent_bash_process::supervisor::OrderSender;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Why a command is being ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The time limit has passed.
    Timeout,
    /// The caller cancelled the call.
    Cancel,
    /// The user at the terminal killed the command.
    Kill,
}

/// Polling interval while an event of the supervisor or the shell is unread.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Watches one call. Dropping it stops watching.
pub struct Watchdog {
    ender: CommandEnder,
    watch: WatchState,
}

/// The signals that the watchdog awaits, and how it ends the command.
#[derive(Clone)]
struct CommandEnder {
    clock: Arc<dyn Clock>,
    cancel: Cancel,
    /// Triggered if the user at the terminal kills the command.
    kill: Option<Cancel>,
    link: OrderSender,
    /// Returns true if a persistent shell has reported a script's end.
    has_reported: Option<ReportProbe>,
    grace: Duration,
    /// Sends the supervisor the order that ends the command.
    order: fn(&OrderSender, Duration) -> io::Result<()>,
}

enum WatchState {
    /// The call's own task watches, in [`fired`].
    Call(Pin<Box<dyn Future<Output = EndReason> + Send>>),
    /// A separate task watches.
    Task {
        task: JoinHandle<()>,
        reason: watch::Receiver<Option<EndReason>>,
    },
    /// The watchdog has fired.
    Fired(EndReason),
}

/// Returns true if there is an unread report of a persistent shell.
pub type ReportProbe = Arc<dyn Fn() -> bool + Send + Sync>;

/// Signals of a call other than those of its supervisor and its caller.
#[derive(Default)]
pub struct WatchdogSignals {
    /// Returns true if a persistent shell has reported a script's end.
    pub has_reported: Option<ReportProbe>,
    /// Triggered if the user at the terminal kills the command.
    pub kill: Option<Cancel>,
}

impl Watchdog {
    /// Starts watching: the time limit begins now. A persistent shell is stopped (`SIGSTOP`) before
    /// its command is terminated, so that the shell does not run the script's next command.
    pub fn start(
        link: OrderSender,
        clock: Arc<dyn Clock>,
        cancel: Cancel,
        signals: WatchdogSignals,
        spec: &RunSpec,
    ) -> Self {
        let WatchdogSignals { has_reported, kill } = signals;
        let ender = CommandEnder {
            clock,
            cancel,
            kill,
            link,
            has_reported,
            grace: spec.grace,
            order: match spec.session {
                Some(_) => OrderSender::stop_and_terminate,
                None => OrderSender::terminate,
            },
        };
        Self::new(ender, spec.timeout)
    }

    /// Watches the survivors of a call in a persistent shell. After `timeout`, only the survivors
    /// are terminated, with `grace`.
    pub fn for_survivors(
        link: OrderSender,
        clock: Arc<dyn Clock>,
        cancel: Cancel,
        timeout: Option<Duration>,
        grace: Duration,
    ) -> Self {
        let ender = CommandEnder {
            clock,
            cancel,
            kill: None,
            link,
            has_reported: None,
            grace,
            order: OrderSender::end_survivors,
        };
        Self::new(ender, timeout)
    }

    /// Continues without a time limit, for the survivors of a command that ended in time.
    #[must_use]
    pub fn unlimited(self) -> Self {
        match self.reason() {
            Some(_) => self,
            None => Self::new(self.ender.clone(), None),
        }
    }

    fn new(ender: CommandEnder, timeout: Option<Duration>) -> Self {
        let watched = ender.clone();
        let watch = Box::pin(async move {
            let clock = &*watched.clock;
            let limit = or_never(timeout.map(|timeout| clock.sleep(timeout)));
            let killed = or_never(watched.kill.as_ref().map(Cancel::cancelled));
            let reason = tokio::select! {
                biased;
                () = killed => EndReason::Kill,
                () = watched.cancel.cancelled() => EndReason::Cancel,
                () = limit => EndReason::Timeout,
            };
            while watched.has_unread_event() {
                clock.sleep(POLL_INTERVAL).await;
            }
            reason
        });
        Self {
            ender,
            watch: WatchState::Call(watch),
        }
    }

    /// Moves the watch to a task of its own. Must be called before output is passed to a consumer,
    /// because a consumer may block.
    pub fn watch_in_task(&mut self) {
        if !matches!(self.watch, WatchState::Call(_)) {
            return;
        }
        let (sender, reason) = watch::channel(None);
        // A placeholder, replaced at once.
        let WatchState::Call(watch) =
            std::mem::replace(&mut self.watch, WatchState::Fired(EndReason::Cancel))
        else {
            return;
        };
        let ender = self.ender.clone();
        let task = tokio::spawn(async move {
            let reason = watch.await;
            // The reason is sent first, so that the follower knows it when the end of the command
            // is reported.
            let _ = sender.send(Some(reason));
            ender.end();
        });
        self.watch = WatchState::Task { task, reason };
    }

    /// Returns the reason, if the watchdog has fired.
    pub fn reason(&self) -> Option<EndReason> {
        match &self.watch {
            WatchState::Call(_) => None,
            WatchState::Task { reason, .. } => *reason.borrow(),
            WatchState::Fired(reason) => Some(*reason),
        }
    }

    async fn fired(&mut self) -> Option<EndReason> {
        match &mut self.watch {
            WatchState::Call(watch) => {
                let reason = watch.await;
                self.watch = WatchState::Fired(reason);
                self.ender.end();
                Some(reason)
            }
            WatchState::Task { reason, .. } => *reason.wait_for(Option::is_some).await.ok()?,
            WatchState::Fired(reason) => Some(*reason),
        }
    }
}

impl CommandEnder {
    /// True if there is an unread event from the supervisor or the shell.
    fn has_unread_event(&self) -> bool {
        self.link.has_unread_event()
            || self
                .has_reported
                .as_ref()
                .is_some_and(|reported| reported())
    }

    fn end(&self) {
        if let Err(error) = (self.order)(&self.link, self.grace) {
            tracing::debug!(%error, "the supervisor could not be asked to end its process tree");
        }
    }
}

/// Waits until the watchdog fires; without a watchdog, waits forever. Cancel safe.
pub async fn fired(watchdog: &mut Option<Watchdog>) -> EndReason {
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
        if let WatchState::Task { task, .. } = &self.watch {
            task.abort();
        }
    }
}
