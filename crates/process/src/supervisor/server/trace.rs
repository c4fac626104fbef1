//! Traces the system calls of a call that change files. Records the former state before a change is
//! made.
//!
//! A tracer runs in a separate thread: copying a large file takes time, and a file system that does
//! not respond must not prevent the end of a call. Other threads of a supervisor start traced
//! shells or make connections of sandboxes.

mod attribution;
mod changes_without_path;
mod filtered;
mod indirect;
mod inherited;
mod named_file;
mod open_files;
mod orders;
mod paths;
mod record;
mod recorded_root;
mod sockets;
mod start;
mod touched;
mod tracing_thread;

pub(super) use attribution::LiveProcesses;
pub(super) use inherited::inherits_unconfined_file;
pub(super) use open_files::inherited_files;
pub(super) use start::{TracerReuse, start};

use agent_bash_core::changes::TraceState;
use agent_bash_core::sandbox::Plan;
use agent_bash_notify::Listener;
use agent_bash_sandbox::trace::memory;
use agent_bash_sandbox::{SocketGuard, TraceScope};
use attribution::Attribution;
use named_file::NamedFile;
use open_files::ShellWithoutFiles;
use orders::{Order, OrderSender, RecordOrder, StoppedRecord};
use record::TraceContext;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::cell::Cell;
use std::fs;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;
use tracing_thread::{RecordState, TracingThread};

/// The time limit for completing a record when the call has ended.
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(5);

/// The time limit for closing a change set that no call waits for.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(30);

/// The reason for an incomplete record if the tracing thread hangs or has ended.
const UNRESPONSIVE_REASON: &str = "the recorder does not answer";

/// Checks, without starting a program, whether this process may trace programs.
///
/// # Errors
/// The kernel is too old, another process traces this one already, a filter of system calls forbids
/// a system call that tracing needs, or `/proc` shows other processes.
pub(crate) fn is_possible() -> io::Result<()> {
    agent_bash_sandbox::trace::is_possible()?;
    // The tracer resolves paths by `/proc/PID/cwd`, `root` and `fd`.
    let own = std::process::id().to_string();
    if !fs::read_link("/proc/self").is_ok_and(|it| it == Path::new(&own)) {
        return Err(io::Error::other(
            "/proc does not show the processes of this PID namespace",
        ));
    }
    memory::is_readable(std::process::id().cast_signed())
        .map_err(|error| io::Error::other(format!("reading a program's memory: {error}")))
}

/// Traces a shell and its descendants until it is dropped.
#[derive(Debug)]
pub(super) struct Tracer {
    orders: OrderSender,
    /// Receives a byte when the change set has reached its size limit.
    limit_pipe: PipeReader,
    thread: JoinHandle<()>,
    /// The thread that starts traced shells, if more may follow.
    filtered: Option<filtered::FilteredThread>,
    /// True if the thread has no order and no open change set.
    is_idle: Cell<bool>,
    has_survivors: Arc<AtomicBool>,
    /// The shell, if it has no file open to which it could write, as of the last end of a call.
    shell_without_files: Cell<Option<ShellWithoutFiles>>,
    /// True if the shell has inherited files open for writing.
    has_inherited_files: Cell<bool>,
}

/// Registers the shell's stdin with its tracer, because stdin may be a file that is open for
/// writing. Returns the tracer.
pub(super) fn with_input(tracer: Option<Tracer>, stdin: Option<&OwnedFd>) -> Option<Tracer> {
    if let Some((tracer, stdin)) = tracer.as_ref().zip(stdin) {
        tracer.set_inherited(inherited_files([stdin.as_raw_fd()]));
    }
    tracer
}

impl Tracer {
    /// Starts tracing. `listener` receives the system calls of the traced processes. `guard` makes
    /// the connections of a sandbox, whose plan is `plan`. Changes below `excluded` are ignored,
    /// and files that the plan hides are never read. Until there is a change set, a process that is
    /// about to change a file waits. Opening a device does not wait, as every starting shell does
    /// that.
    pub(super) fn start(
        listener: OwnedFd,
        scope: TraceScope,
        guard: Option<SocketGuard>,
        excluded: Vec<PathBuf>,
        plan: Option<Plan>,
    ) -> io::Result<Self> {
        let (orders, queue, wakeups) = orders::orders()?;
        let (limit_pipe, limit_sender) = io::pipe()?;
        let has_survivors = Arc::new(AtomicBool::new(false));
        let tracing = TracingThread {
            listener: Some(Arc::new(Listener::new(listener)?)),
            orders: queue,
            wakeups,
            limit_sender,
            context: TraceContext::new(excluded, guard.is_some(), plan),
            guard,
            scope,
            state: RecordState::of(scope),
            attribution: Attribution::default(),
            has_survivors: Arc::clone(&has_survivors),
            shell_without_files: None,
            inherited: Vec::new(),
        };
        let thread = std::thread::Builder::new().name("agent-bash-trace".to_owned());
        Ok(Self {
            orders,
            limit_pipe,
            thread: thread.spawn(move || tracing.run())?,
            filtered: None,
            is_idle: Cell::new(true),
            has_survivors,
            shell_without_files: Cell::new(None),
            has_inherited_files: Cell::new(false),
        })
    }

    /// True if the tracer can be reused for another shell, which requires that the former shell's
    /// processes have ended.
    fn is_idle(&self) -> bool {
        self.is_idle.get() && !self.thread.is_finished()
    }

    /// Traces the next shell in the scope that this tracer was started with.
    fn trace_another(&self) {
        self.orders.send_deferred(Order::Another);
    }

    /// Excludes more files from the record.
    pub(super) fn exclude(&self, files: Vec<PathBuf>) {
        if !files.is_empty() {
            self.orders.send_deferred(Order::Excludes(files));
        }
    }

    /// Names files that the shell has inherited open for writing: it can change them without a
    /// traced system call.
    pub(super) fn set_inherited(&self, files: Vec<NamedFile>) {
        if !files.is_empty() {
            self.has_inherited_files.set(true);
            self.orders.send(Order::Inherits(files));
        }
    }

    /// Records changes into the change set in this directory. `live` are the processes of a shell
    /// that has run calls before; `None` for a new shell. With `live`, this function waits until
    /// the open files of these processes are recorded, and returns a failure. Later failures are in
    /// the result of [`Self::stop`].
    pub(super) fn record(&self, set: PathBuf, live: Option<LiveProcesses>) -> TraceState {
        let was_idle = self.is_idle.replace(false);
        let has_inherited_files = self.has_inherited_files.take();
        let is_deferred = match &live {
            None => was_idle && !has_inherited_files,
            Some(live) => self.have_no_open_files(live),
        };
        let mut order = RecordOrder {
            set,
            live,
            started: None,
        };
        if is_deferred {
            self.orders.send_deferred(Order::Record(order));
            return TraceState::complete();
        }
        if order.live.is_none() && !has_inherited_files {
            self.orders.send(Order::Record(order));
            return TraceState::complete();
        }
        let (sender, receiver) = channel();
        order.started = Some(sender);
        self.orders.send(Order::Record(order));
        let result = receiver.recv_timeout(COMPLETION_TIMEOUT);
        result.unwrap_or_else(|_| TraceState::incomplete(UNRESPONSIVE_REASON))
    }

    /// True if these processes certainly have no file open to which they could write.
    fn have_no_open_files(&self, live: &LiveProcesses) -> bool {
        let Some(shell) = live.lone_shell().filter(|_| !self.has_survivors()) else {
            return false;
        };
        let shell_without_files = self.shell_without_files.get();
        shell_without_files.is_some_and(|shell_without_files| shell_without_files.is_still(shell))
    }

    /// Returns a pipe that becomes readable when the change set has reached its size limit. Then
    /// the call must be ended.
    pub(super) fn limit_pipe(&self) -> BorrowedFd<'_> {
        self.limit_pipe.as_fd()
    }

    /// True, once, if the change set has reached its size limit.
    pub(super) fn reached_limit(&self) -> bool {
        let mut fds = [PollFd::new(&self.limit_pipe, PollFlags::IN)];
        let now = Timespec::default();
        let is_ready = poll(&mut fds, Some(&now)).is_ok_and(|is_ready| is_ready > 0);
        is_ready && matches!((&self.limit_pipe).read(&mut [0]), Ok(1))
    }

    /// Ends the record of a call and returns how complete it is. Later changes of the `remaining`
    /// processes go to separate change sets.
    pub(super) fn stop(&self, remaining: Option<LiveProcesses>) -> TraceState {
        self.stop_within(COMPLETION_TIMEOUT, remaining)
    }

    /// Closes the background change sets after the end of the last process.
    pub(super) fn close_background(&self) {
        self.stop_within(CLOSE_TIMEOUT, None);
    }

    /// True if a call has survivors, as of the last end of a call or process.
    pub(super) fn has_survivors(&self) -> bool {
        self.has_survivors.load(Ordering::Relaxed)
    }

    /// Closes the change sets of calls without a process in `running`.
    pub(super) fn conclude(&self, running: LiveProcesses) {
        self.orders.send(Order::Conclude(running));
    }

    fn stop_within(&self, timeout: Duration, remaining: Option<LiveProcesses>) -> TraceState {
        let all_ended = remaining.is_none();
        let has_survivors = remaining
            .as_ref()
            .is_some_and(|live| live.lone_shell().is_none());
        if !has_survivors && self.orders.withdraw(all_ended) {
            self.is_idle.set(all_ended);
            return TraceState::complete();
        }
        let (sender, receiver) = channel();
        self.orders.send(Order::Stop(sender, remaining));
        let stopped = receiver.recv_timeout(timeout).ok();
        let is_idle = |stopped: &StoppedRecord| all_ended && !stopped.traced.reached_limit;
        self.is_idle.set(stopped.as_ref().is_some_and(is_idle));
        let shell_without_files = stopped
            .as_ref()
            .and_then(|stopped| stopped.shell_without_files);
        self.shell_without_files.set(shell_without_files);
        stopped.map_or_else(
            || TraceState::incomplete(UNRESPONSIVE_REASON),
            |stopped| stopped.traced,
        )
    }
}
