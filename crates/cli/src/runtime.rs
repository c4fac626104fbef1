//! The runtime of a command: with all of its threads, or an error that says what is missing. (tokio panics where a thread cannot
//! be started, and what it has started by then waits for ever.)

use agent_bash::process::supervisor::Supervisor;
use anyhow::Context;
use std::io;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Starts it with so many workers; `None` is one for each processor.
///
/// # Errors
/// The user's processes are as many as they may be, or the system has no room.
pub(crate) fn start(workers: Option<usize>) -> anyhow::Result<Runtime> {
    let workers =
        workers.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZeroUsize::get));
    // One more, for what may wait.
    can_start(workers + 1).context(
        "no thread can be started, so nothing was run; the user's processes are probably as many as they may be (`ulimit -u`)",
    )?;
    Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()
        .context("cannot start the runtime")
}

/// How long the supervisors that end with this program may take: those who withstand SIGKILL are not waited for.
const LAST_ONES: Duration = Duration::from_secs(1);

/// Ends it, for a program that ends next: what still waits in there (the thread that reads stdin, a write to a reader who does not
/// read) is not waited for, but every supervisor is reaped that was started by `supervisor`. Where process 1 does not reap they would stay zombies.
pub(crate) fn end(runtime: Runtime, supervisor: &Supervisor) {
    runtime.shutdown_background();
    supervisor.all_reaped(LAST_ONES);
}

/// Has so many threads at once, for a moment.
fn can_start(threads: usize) -> io::Result<()> {
    let gate = Mutex::new(());
    let pass = || drop(gate.lock().unwrap_or_else(PoisonError::into_inner));
    thread::scope(|scope| {
        let closed = gate.lock().unwrap_or_else(PoisonError::into_inner);
        let started = (0..threads)
            .try_for_each(|_| thread::Builder::new().spawn_scoped(scope, pass).map(drop));
        drop(closed);
        started
    })
}
