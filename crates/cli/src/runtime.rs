//! The runtime of a command: with all of its threads and descriptors, or an error that says what is missing. (tokio panics where a
//! thread cannot be started or a descriptor cannot be had, and what it has started by then waits for ever.)

use agent_bash::process::supervisor::Supervisor;
use anyhow::Context;
use std::io;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Descriptors that a runtime takes: for events, for waking it, for signals; and as many again for who begins to work with it.
const DESCRIPTORS: usize = 12;

/// Starts one without threads.
///
/// # Errors
/// Too many files are open.
pub(crate) fn start_here() -> anyhow::Result<Runtime> {
    build(&mut Builder::new_current_thread())
}

/// Starts it with so many workers; `None` is one for each processor.
///
/// # Errors
/// The user's processes are as many as they may be, too many files are open, or the system has no room.
pub(crate) fn start(workers: Option<usize>) -> anyhow::Result<Runtime> {
    let workers =
        workers.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZeroUsize::get));
    // One more, for what may wait.
    can_start(workers + 1).context(
        "no thread can be started, so nothing was run; the user's processes are probably as many as they may be (`ulimit -u`)",
    )?;
    build(Builder::new_multi_thread().worker_threads(workers))
}

fn build(builder: &mut Builder) -> anyhow::Result<Runtime> {
    can_open(DESCRIPTORS).context(
        "no more files can be opened, so nothing was run; `ulimit -n` says how many may be",
    )?;
    let runtime = builder.enable_all().build();
    runtime.context("cannot start the runtime")
}

/// Has so many descriptors at once, for a moment.
fn can_open(descriptors: usize) -> io::Result<()> {
    let (one, _) = io::pipe()?;
    let others = (2..descriptors).map(|_| one.try_clone());
    others.collect::<io::Result<Vec<_>>>().map(drop)
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
