//! Forwards signals to the shell. The shell is in our process group, so a signal to the group also
//! reaches the shell; a signal to this process alone is forwarded.

use agent_bash::core::Cancel;
use agent_bash::process::{ProcessHandle, ignored_signals};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// The forwarded signals: those that end a shell by default.
const FORWARDED_SIGNALS: [SignalKind; 6] = [
    SignalKind::hangup(),
    SignalKind::interrupt(),
    SignalKind::quit(),
    SignalKind::terminate(),
    SignalKind::user_defined1(),
    SignalKind::user_defined2(),
];

/// SIGINT and SIGQUIT, which a terminal sends for Ctrl-C and Ctrl-\\.
const KEYBOARD_SIGNALS: [i32; 2] = [
    SignalKind::interrupt().as_raw_value(),
    SignalKind::quit().as_raw_value(),
];

/// How long to wait for the pid of a shell that is being started.
const SHELL_START_TIMEOUT: Duration = Duration::from_secs(1);

/// How long to wait for the end of a shell that may have received the same signal.
const SHELL_EXIT_DELAY: Duration = Duration::from_millis(10);

/// How long to wait until a signal that this process sends to itself ends it.
const DELIVERY_TIMEOUT: Duration = Duration::from_millis(100);

/// The shell, and the signal that was received.
#[derive(Debug, Clone, Default)]
pub(in crate::commands) struct ShellSignals {
    /// The pid of the shell; 0 until the supervisor reports it.
    shell: watch::Sender<i32>,
    /// Number of the first signal that ends a shell; 0 if none was received.
    first: Arc<AtomicI32>,
    /// True if the terminal sends the signals of its keys to the program and to this process.
    on_terminal: bool,
}

impl ShellSignals {
    pub(in crate::commands) fn new() -> Self {
        Self::default()
    }

    /// Signals for an interactive program in the foreground of a terminal. The terminal already
    /// sends SIGINT and SIGQUIT to the program, so these are not forwarded.
    pub(in crate::commands) fn on_terminal() -> Self {
        Self {
            on_terminal: true,
            ..Self::default()
        }
    }

    /// Sets the pid of the shell.
    pub(super) fn shell_started(&self, pid: i32) {
        self.shell.send_replace(pid);
    }

    /// Returns the number of the first received signal of [`FORWARDED_SIGNALS`].
    pub(super) fn first_received(&self) -> Option<i32> {
        let number = self.first.load(Ordering::Acquire);
        (number != 0).then_some(number)
    }

    /// Forwards signals from now on. The returned [`Cancel`] is triggered if the shell does not run
    /// yet.
    ///
    /// # Errors
    /// The system cannot install a handler.
    pub(super) fn forward(&self) -> std::io::Result<Cancel> {
        let cancel = Cancel::new();
        let ignored = ignored_signals();
        let mut handled = Vec::new();
        for kind in FORWARDED_SIGNALS {
            let number = kind.as_raw_value();
            if !ignored.contains(&number) {
                handled.push((number, signal(kind)?));
            }
        }
        let (own, passed_to) = (self.clone(), cancel.clone());
        // A single task for all signals, because each spawn wakes the event thread.
        tokio::spawn(async move {
            loop {
                let number = poll_fn(|context| next(&mut handled, context)).await;
                if own.on_terminal && KEYBOARD_SIGNALS.contains(&number) {
                    continue;
                }
                tokio::spawn(own.clone().pass_on(number, passed_to.clone()));
            }
        });
        Ok(cancel)
    }

    /// Sends the signal to the shell, unless the shell ends by itself.
    async fn pass_on(self, number: i32, cancel: Cancel) {
        let _ = self
            .first
            .compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire);
        let mut shell = self.shell.subscribe();
        // The shell may already run, and may have sent the signal itself.
        let reported = tokio::time::timeout(SHELL_START_TIMEOUT, shell.wait_for(|pid| *pid != 0));
        let pid = match reported.await {
            Ok(Ok(pid)) => *pid,
            Ok(Err(_)) | Err(_) => return cancel.cancel(),
        };
        let Ok(shell) = ProcessHandle::open(pid) else {
            return;
        };
        tokio::time::sleep(SHELL_EXIT_DELAY).await;
        // If the shell has ended, this does nothing: the handle refers to the process, not to its
        // pid.
        let _ = shell.signal(number);
    }
}

/// Returns the number of the next signal.
fn next(handled: &mut [(i32, Signal)], context: &mut Context<'_>) -> Poll<i32> {
    for (number, signal) in handled {
        if let Poll::Ready(Some(())) = signal.poll_recv(context) {
            return Poll::Ready(*number);
        }
    }
    Poll::Pending
}

/// Ends this process by the signal, as its shell was ended.
pub(super) fn end_by(number: i32) {
    // The shell has written its own core file, if any.
    let none = rustix::process::Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
    let _ = signal_hook::low_level::emulate_default_handler(number);
    // `emulate_default_handler` knows only some signals; the others, such as the real-time ones,
    // have no handlers in this process.
    if signal_hook::low_level::raise(number).is_ok() {
        #[expect(
            clippy::disallowed_methods,
            reason = "this process ends here, without a runtime"
        )]
        std::thread::sleep(DELIVERY_TIMEOUT);
    }
}
