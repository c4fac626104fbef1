//! Traces the system calls of a call that change files. Records the former state before a change is
//! made.
//!
//! Runs in a separate thread: copying a large file takes time, and a file system that does not
//! respond must not prevent the end of a call. Besides this thread, and the one that starts traced
//! shells, a supervisor has no threads.

mod attribution;
mod filtered;
mod held;
mod memory;
mod named_file;
mod orders;
mod other_ways;
mod paths;
mod record;
mod sockets;
mod start;
mod touched;
mod watched_tree;

pub(super) use attribution::LiveProcesses;
pub(super) use start::{TracerReuse, start};

use agent_bash_changes::{BackgroundChanges, Recorder};
use agent_bash_core::changes::TraceState;
use agent_bash_notify::{Listener, WaitingCall};
use agent_bash_sandbox::WatchScope;
use attribution::{Attribution, Owner, ignore_result};
use orders::{Order, OrderQueue, OrderSender};
use record::{IncompleteReason, TraceContext};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::cell::Cell;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

/// The time limit for completing a record when the call has ended.
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(5);

/// The time limit for closing a change set that no call waits for.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(30);

/// The reason for an incomplete record if the tracing thread hangs or has ended.
const UNRESPONSIVE_REASON: &str = "the recorder does not answer";

/// Checks, without starting a program, whether this process may trace programs.
///
/// # Errors
/// The kernel is too old, another process traces this one already, or a filter of system calls
/// forbids a system call that tracing needs.
pub(crate) fn is_possible() -> io::Result<()> {
    agent_bash_sandbox::trace::is_possible()?;
    memory::is_readable(std::process::id().cast_signed())
        .map_err(|error| io::Error::other(format!("reading a program's memory: {error}")))
}

/// Traces a shell and its descendants until it is dropped.
#[derive(Debug)]
pub(super) struct Tracer {
    orders: OrderSender,
    /// Receives a byte when the change set is full.
    full: PipeReader,
    thread: JoinHandle<()>,
    /// The thread that starts traced shells, if more may follow.
    filtered: Option<filtered::FilteredThread>,
    /// True if the thread has no order and no open change set.
    is_idle: Cell<bool>,
    has_survivors: Arc<AtomicBool>,
}

impl Tracer {
    /// Starts a trace with this listener. Changes below `excluded` are ignored, and files below
    /// `hidden` are never read. Until there is a change set, a process that is about to change a
    /// file waits. Opening a device does not wait, as every starting shell does that.
    pub(super) fn start(
        listener: OwnedFd,
        scope: WatchScope,
        excluded: Vec<PathBuf>,
        hidden: Vec<PathBuf>,
    ) -> io::Result<Self> {
        let (orders, queue, wakeups) = orders::orders()?;
        let (full, full_sender) = io::pipe()?;
        let has_survivors = Arc::new(AtomicBool::new(false));
        let tracing = TracingThread {
            listener: Some(Listener::new(listener)?),
            orders: queue,
            wakeups,
            full_sender,
            context: TraceContext::new(excluded),
            hidden,
            scope,
            state: RecordState::of(scope),
            attribution: Attribution::default(),
            has_survivors: Arc::clone(&has_survivors),
        };
        let thread = std::thread::Builder::new().name("agent-bash-trace".to_owned());
        Ok(Self {
            orders,
            full,
            thread: thread.spawn(move || tracing.run())?,
            filtered: None,
            is_idle: Cell::new(true),
            has_survivors,
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

    /// Records changes into the change set in this directory. `remaining`: processes of earlier
    /// calls that are still running. If present, this function waits until their open files are
    /// recorded, and returns a failure. Later failures are in the result of [`Self::stop`].
    pub(super) fn record(&self, set: PathBuf, remaining: Option<LiveProcesses>) -> TraceState {
        let was_idle = self.is_idle.replace(false);
        let Some(remaining) = remaining else {
            let order = Order::Record(set, None);
            if was_idle {
                self.orders.send_deferred(order);
            } else {
                self.orders.send(order);
            }
            return TraceState::complete();
        };
        let (sender, receiver) = channel();
        self.orders
            .send(Order::Record(set, Some((sender, remaining))));
        let result = receiver.recv_timeout(COMPLETION_TIMEOUT);
        result.unwrap_or_else(|_| TraceState::incomplete(UNRESPONSIVE_REASON))
    }

    /// Readable when the change set is full, so that the call must be ended.
    pub(super) fn full(&self) -> BorrowedFd<'_> {
        self.full.as_fd()
    }

    /// True if the change set is full; reported only once.
    pub(super) fn is_full(&self) -> bool {
        let mut fds = [PollFd::new(&self.full, PollFlags::IN)];
        let now = Timespec::default();
        let is_ready = poll(&mut fds, Some(&now)).is_ok_and(|is_ready| is_ready > 0);
        is_ready && matches!((&self.full).read(&mut [0]), Ok(1))
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
        if all_ended && self.orders.withdraw() {
            self.is_idle.set(true);
            return TraceState::complete();
        }
        let (sender, receiver) = channel();
        self.orders.send(Order::Stop(sender, remaining));
        let result = receiver.recv_timeout(timeout);
        let is_idle = |traced: &TraceState| all_ended && !traced.full;
        self.is_idle.set(result.as_ref().is_ok_and(is_idle));
        result.unwrap_or_else(|_| TraceState::incomplete(UNRESPONSIVE_REASON))
    }
}

/// The data of the tracing thread.
struct TracingThread {
    /// `None` once no traced process remains.
    listener: Option<Listener>,
    orders: OrderQueue,
    wakeups: PipeReader,
    full_sender: PipeWriter,
    context: TraceContext,
    hidden: Vec<PathBuf>,
    scope: WatchScope,
    state: RecordState,
    attribution: Attribution,
    /// [`Tracer::has_survivors`].
    has_survivors: Arc<AtomicBool>,
}

enum RecordState {
    /// No change set is known yet. The waiting system call, if any, is about to change a file.
    Waiting(Option<WaitingCall>),
    /// A trial: its changes are held back, and only its sockets are traced.
    Trial(TraceState),
    /// Changes are recorded with this recorder, if the change set could be opened.
    Recording(Option<Box<Recorder>>, TraceState),
    /// The change set is full. A process that is about to change a file waits for the end of the
    /// call.
    Full(TraceState),
    /// Changes between two calls, or after the only call, go to new change sets.
    Background(Box<BackgroundChanges>),
    /// Changes are not recorded any more.
    Stopped,
}

impl RecordState {
    /// Returns the state before the first order.
    fn of(scope: WatchScope) -> Self {
        match scope {
            WatchScope::Changes => Self::Waiting(None),
            WatchScope::Sockets => Self::Trial(TraceState::complete()),
        }
    }
}

impl TracingThread {
    fn run(mut self) {
        while self.step().is_some() {}
    }

    /// Waits for the next event and handles it. `None` after the sender of the orders was dropped.
    fn step(&mut self) -> Option<()> {
        let polls_listener = !matches!(
            self.state,
            RecordState::Waiting(Some(_)) | RecordState::Full(_)
        );
        let listener = self.listener.as_ref().filter(|_| polls_listener);
        let mut fds = vec![PollFd::new(&self.wakeups, PollFlags::IN)];
        fds.extend(listener.map(|listener| PollFd::new(listener, PollFlags::IN)));
        match poll(&mut fds, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Some(()),
            Err(_) => return None,
        }
        let events: Vec<PollFlags> = fds.iter().map(PollFd::revents).collect();
        if !events[0].is_empty() {
            let mut byte = [0];
            if !matches!((&self.wakeups).read(&mut byte), Ok(1)) {
                return None;
            }
            while self.execute_next() {}
        }
        let is_ready = events.get(1).copied().unwrap_or(PollFlags::empty());
        if is_ready.contains(PollFlags::IN) {
            // Orders that were sent before the system call apply to it.
            while self.execute_next() {}
            self.inspect_next();
            // A deferred order may have arrived while the system call was inspected.
            while self.execute_next() {}
        } else if !is_ready.is_empty() {
            self.listener = None;
        }
        Some(())
    }

    /// Executes the next order; false if there was none. The byte that announces the order may
    /// arrive later.
    fn execute_next(&mut self) -> bool {
        let holds = matches!(self.state, RecordState::Waiting(Some(_)));
        let order = self.orders.next(holds);
        order.map(|order| self.execute(order)).is_some()
    }

    fn execute(&mut self, order: Order) {
        match order {
            Order::Another => {
                self.attribution.close_all();
                self.state = RecordState::of(self.scope);
            }
            Order::Record(set, sender) => {
                let mut recorder = Recorder::open(&set).map(|it| it.hiding(self.hidden.clone()));
                let (sender, running) = sender.unzip();
                let own =
                    running.map(|running| self.attribution.begin_call(&running, &mut self.context));
                let traced = match &mut recorder {
                    Ok(recorder) => self.record_open_files(recorder, &own.unwrap_or_default()),
                    Err(error) => TraceState::incomplete(error.to_string()),
                };
                let recording = RecordState::Recording(recorder.ok().map(Box::new), traced.clone());
                match std::mem::replace(&mut self.state, recording) {
                    RecordState::Waiting(Some(call)) => {
                        if let Some(listener) = self.listener.take() {
                            self.record_and_continue(&listener, &call);
                            self.listener = Some(listener);
                        }
                    }
                    // From now on, changes of the shell belong to the call.
                    RecordState::Background(mut background) => ignore_result(background.conclude()),
                    _ => {}
                }
                // The receiver may have timed out.
                let _ = sender.map(|sender| sender.send(traced));
            }
            Order::Conclude(live) => {
                let running = self.running();
                self.attribution.attribute_all(&live, running.as_ref());
                self.update_has_survivors();
                if let (true, RecordState::Background(background)) =
                    (self.attribution.is_empty(), &mut self.state)
                {
                    ignore_result(background.conclude());
                }
            }
            Order::Stop(sender, remaining) => {
                let state = std::mem::replace(&mut self.state, RecordState::Stopped);
                if remaining.is_none() {
                    self.attribution.close_all();
                }
                let traced = match state {
                    RecordState::Recording(recorder, traced) => {
                        if let (Some(recorder), Some(running)) = (&recorder, remaining) {
                            self.attribution.end_call(
                                &running,
                                recorder.background(),
                                &mut self.context,
                            );
                            self.state = RecordState::Background(Box::new(recorder.background()));
                        }
                        finish_record(recorder, traced)
                    }
                    RecordState::Background(mut background) => {
                        ignore_result(background.conclude());
                        TraceState::incomplete("no record was requested")
                    }
                    RecordState::Full(traced) | RecordState::Trial(traced) => traced,
                    RecordState::Waiting(held) => {
                        // The process may have been killed meanwhile.
                        let listener = self.listener.as_ref().zip(held);
                        let _ = listener.map(|(listener, call)| listener.let_continue(&call));
                        TraceState::incomplete("no record was requested")
                    }
                    RecordState::Stopped => TraceState::incomplete("no record was requested"),
                };
                self.update_has_survivors();
                // The receiver may have timed out.
                let _ = sender.send(traced);
            }
        }
    }

    fn update_has_survivors(&self) {
        let some = !self.attribution.is_empty();
        self.has_survivors.store(some, Ordering::Relaxed);
    }

    /// Returns the change set for later changes of the running call, if the call is recorded.
    fn running(&self) -> Option<BackgroundChanges> {
        match &self.state {
            RecordState::Recording(Some(recorder), _) => Some(recorder.background()),
            _ => None,
        }
    }

    /// Records the open files of these processes, to which they may write during the call.
    fn record_open_files(&mut self, recorder: &mut Recorder, pids: &[i32]) -> TraceState {
        let result = held::record(pids, &mut self.context, recorder);
        let mut traced = TraceState::complete();
        if let Err(lacking) = result {
            let _ = recorder.lacks();
            traced.lacks(lacking.reason);
        }
        traced
    }

    /// Inspects a waiting system call. Lets it continue, unless no change set is known and the call
    /// may change a file.
    fn inspect_next(&mut self) {
        let Some(listener) = self.listener.take() else {
            return;
        };
        if let Ok(Some(call)) = listener.next() {
            self.context.remember(&call);
            match &mut self.state {
                RecordState::Waiting(held) if !self.context.changes_nothing(&listener, &call) => {
                    *held = Some(call);
                }
                _ => self.record_and_continue(&listener, &call),
            }
        }
        self.listener = Some(listener);
    }

    /// Records the files that a system call is about to change, if the state requires it. Then lets
    /// the system call continue.
    fn record_and_continue(&mut self, listener: &Listener, call: &WaitingCall) {
        if self.record_for_earlier_call(listener, call) {
            // The process may have been killed meanwhile.
            let _ = listener.let_continue(call);
            return;
        }
        if let RecordState::Recording(Some(recorder), traced) = &mut self.state {
            match self.context.record(listener, call, &mut **recorder) {
                Ok(()) => {}
                // The error cannot be reported, so the process continues unrecorded.
                Err(_) if recorder.is_concluded_here() => {
                    ignore_result(recorder.lacks());
                }
                Err(IncompleteReason {
                    reason,
                    full: false,
                }) => {
                    if traced.lacking.is_none() {
                        // Written at once, so that the mark exists if the supervisor is killed.
                        let _ = recorder.lacks();
                    }
                    traced.lacks(reason);
                }
                Err(IncompleteReason { reason, full: true }) => {
                    let mut traced = TraceState::incomplete(reason);
                    traced.full = true;
                    self.state = RecordState::Full(traced);
                    // If the write fails, the call waits until its time limit.
                    let _ = (&self.full_sender).write_all(b"!");
                    return;
                }
            }
        }
        if let RecordState::Background(background) = &mut self.state
            && self
                .context
                .record(listener, call, &mut **background)
                .is_err()
        {
            // The error cannot be reported, so the process continues unrecorded.
            ignore_result(background.lacks());
        }
        if let RecordState::Trial(traced) = &mut self.state
            && let Some(reason) = self.context.external_change_reason(call)
        {
            traced.lacks(reason);
        }
        // The process may have been killed meanwhile.
        let _ = listener.let_continue(call);
    }

    /// Records the system call into the background change set of an earlier call, if a process of
    /// that call makes it. True if so.
    fn record_for_earlier_call(&mut self, listener: &Listener, call: &WaitingCall) -> bool {
        if self.attribution.is_empty() {
            return false;
        }
        let owner = self.attribution.owner(call.thread);
        let running = match owner {
            Owner::Unknown => self.running(),
            Owner::Running | Owner::Earlier(_) => None,
        };
        let Some(background) =
            self.attribution
                .background_set(owner, call.thread, running.as_ref())
        else {
            return false;
        };
        if self.context.record(listener, call, background).is_err() {
            // The error cannot be reported, so the process continues unrecorded.
            ignore_result(background.lacks());
        }
        true
    }
}

fn finish_record(recorder: Option<Box<Recorder>>, mut traced: TraceState) -> TraceState {
    let finished = recorder.map(|mut recorder| {
        if traced.lacking.is_some() {
            // If the mark cannot be written, the record has no end and counts as interrupted.
            recorder.lacks()?;
        }
        if recorder.is_concluded_here() {
            recorder.conclude()
        } else {
            recorder.finish()
        }
    });
    if let Some(Err(error)) = finished {
        traced.lacks(error.to_string());
    }
    traced
}
