//! Starts a tokio runtime with all its threads and descriptors, or fails with an error that names
//! the exhausted resource. Without these checks, tokio panics if a thread cannot be started, and
//! the threads that it has started block for ever.

use agent_bash::core::lock;
use agent_bash::process::supervisor::Supervisor;
use agent_bash::process::{thread_refusal, try_needed_calls};
use anyhow::Context;
use std::io;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;
use tokio::runtime::{Builder, EnterGuard, Runtime};
use tokio::sync::oneshot;

/// Descriptors needed by a runtime (epoll, waker, signals), and as many again for its first users.
const NEEDED_DESCRIPTORS: usize = 12;

/// Starts a single-threaded runtime.
///
/// # Errors
/// Too many open files.
pub(crate) fn start_single_threaded() -> anyhow::Result<Runtime> {
    build(&mut Builder::new_current_thread())
}

/// Starts a runtime with this many workers; `None` means one per processor.
///
/// # Errors
/// The user's process limit is reached, too many files are open, or memory is short.
pub(crate) fn start(workers: Option<usize>) -> anyhow::Result<Runtime> {
    let workers =
        workers.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZeroUsize::get));
    // Blocking work needs one thread more.
    can_start(workers + 1).map_err(no_thread)?;
    build(Builder::new_multi_thread().worker_threads(workers))
}

/// The runtime of a program that makes one call. A separate thread handles I/O events and timers,
/// so that a blocking call (a disk, or the reader of its output) does not delay them.
pub(crate) struct OneCallRuntime(Runtime);

impl OneCallRuntime {
    /// Creates the runtime; [`Self::block_on`] starts the thread.
    ///
    /// # Errors
    /// Too many open files.
    pub(crate) fn new() -> anyhow::Result<Self> {
        start_single_threaded().map(Self)
    }

    /// Enters the runtime's context.
    pub(crate) fn enter(&self) -> EnterGuard<'_> {
        self.0.enter()
    }

    /// Starts the thread, and runs `call` on the current one. Blocking work that is still pending
    /// is abandoned.
    ///
    /// # Errors
    /// No thread can be started.
    pub(crate) fn block_on<T>(self, call: impl Future<Output = T>) -> anyhow::Result<T> {
        let Self(runtime) = self;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel::<()>();
        let thread = thread::Builder::new().name("agent-bash-events".to_owned());
        let handle_events = move || {
            let _ = runtime.block_on(ended);
            runtime.shutdown_background();
        };
        thread.spawn(handle_events).map_err(no_thread)?;
        let result = handle.block_on(call);
        drop(end);
        Ok(result)
    }
}

/// Returns the error for a thread that cannot be started, with the limit that prevents it.
fn no_thread(error: io::Error) -> anyhow::Error {
    let why = thread_refusal(&error);
    let context = format!("no thread can be started, so nothing was run; {why}");
    anyhow::Error::new(error).context(context)
}

/// Builds the runtime, if enough descriptors are available.
fn build(builder: &mut Builder) -> anyhow::Result<Runtime> {
    try_needed_calls().context("nothing was run")?;
    can_open(NEEDED_DESCRIPTORS)
        .context("no more files can be opened, so nothing was run; `ulimit -n` is the limit")?;
    let runtime = builder.enable_all().build();
    runtime.context("cannot start the runtime")
}

/// Checks that this many descriptors are available, by opening them for a moment.
fn can_open(descriptors: usize) -> io::Result<()> {
    let (one, _) = io::pipe()?;
    let others = (2..descriptors).map(|_| one.try_clone());
    others.collect::<io::Result<Vec<_>>>().map(drop)
}

/// How long to wait for the end of the supervisors that this process started. A supervisor in an
/// uninterruptible wait may take longer.
pub(crate) const REAP_TIMEOUT: Duration = Duration::from_secs(1);

/// Shuts the runtime down before the program exits. Abandons pending blocking work (reading stdin,
/// an unread write), but reaps every supervisor that `supervisor` started: they would remain
/// zombies if process 1 does not reap.
pub(crate) fn end(runtime: Runtime, supervisor: &Supervisor) {
    runtime.shutdown_background();
    supervisor.all_reaped(REAP_TIMEOUT);
}

/// Checks that this many threads can be started, by starting them for a moment.
fn can_start(threads: usize) -> io::Result<()> {
    let gate = Mutex::new(());
    let pass = || drop(lock(&gate));
    thread::scope(|scope| {
        let closed = lock(&gate);
        let started = (0..threads)
            .try_for_each(|_| thread::Builder::new().spawn_scoped(scope, pass).map(drop));
        drop(closed);
        started
    })
}
