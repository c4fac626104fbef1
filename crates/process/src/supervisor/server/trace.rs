//! Traces the system calls of a call that change files, and records the former state first.
//!
//! Runs in a separate thread: copying a large file takes time, and a file system that does not
//! answer must not keep a call from being ended. Besides this thread, and the one that starts
//! traced shells, a supervisor has no threads.

mod attribution;
mod filtered;
mod held;
mod memory;
mod named_file;
mod orders;
mod paths;
mod record;
mod sockets;
mod start;
mod touched;
mod watched_tree;

pub(super) use attribution::LiveProcesses;
pub(super) use start::{Before, start};

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
const PATIENCE_AT_END: Duration = Duration::from_secs(30);

/// The error if the recording thread hangs or has ended.
const UNRESPONSIVE_REASON: &str = "the recorder does not answer";

/// Checks whether this process may trace programs, as far as it can without starting one.
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
    /// The thread that starts traced shells, if others follow.
    filtered: Option<filtered::FilteredThread>,
    /// True if the thread has no order and no open change set.
    is_idle: Cell<bool>,
    has_continuing: Arc<AtomicBool>,
}

impl Tracer {
    /// Starts a trace with this listener. Changes below `excluded` are ignored, and files below
    /// `hidden` are never read. Until there is a change set, nothing is recorded, and a process
    /// that is about to change a file waits; opening devices, as every starting shell does,
    /// continues.
    pub(super) fn start(
        listener: OwnedFd,
        scope: WatchScope,
        apart: Vec<PathBuf>,
        hidden: Vec<PathBuf>,
    ) -> io::Result<Self> {
        let (orders, given, woken) = orders::orders()?;
        let (full, tell_full) = io::pipe()?;
        let has_continuing = Arc::new(AtomicBool::new(false));
        let watch = TracingThread {
            listener: Some(Listener::new(listener)?),
            orders: given,
            woken,
            tell_full,
            surroundings: TraceContext::new(apart),
            hidden,
            scope,
            state: RecordState::of(scope),
            attribution: Attribution::default(),
            has_continuing: Arc::clone(&has_continuing),
        };
        let thread = std::thread::Builder::new().name("agent-bash-trace".to_owned());
        Ok(Self {
            orders,
            full,
            thread: thread.spawn(move || watch.run())?,
            filtered: None,
            is_idle: Cell::new(true),
            has_continuing,
        })
    }

    /// True if it can trace another shell, once no process of the former remains.
    fn is_idle(&self) -> bool {
        self.is_idle.get() && !self.thread.is_finished()
    }

    /// Traces the next shell in the scope that this tracer was started with.
    fn watch_another(&self) {
        self.orders.give_for_the_next(Order::Another);
    }

    /// Records changes into the change set in this directory. If processes of earlier calls
    /// continue, their open files are included once this has returned. Returns an immediate
    /// failure; later ones are in the result of the record.
    pub(super) fn record(&self, set: PathBuf, go_on: Option<LiveProcesses>) -> TraceState {
        let was_idle = self.is_idle.replace(false);
        let Some(go_on) = go_on else {
            let order = Order::Record(set, None);
            if was_idle {
                self.orders.give_for_the_next(order);
            } else {
                self.orders.give(order);
            }
            return TraceState::complete();
        };
        let (tell, told) = channel();
        self.orders.give(Order::Record(set, Some((tell, go_on))));
        let told = told.recv_timeout(COMPLETION_TIMEOUT);
        told.unwrap_or_else(|_| TraceState::incomplete(UNRESPONSIVE_REASON))
    }

    /// Readable when the change set is full, so that the call must be ended.
    pub(super) fn full(&self) -> BorrowedFd<'_> {
        self.full.as_fd()
    }

    /// True if the change set is full; reported only once.
    pub(super) fn is_full(&self) -> bool {
        let mut fds = [PollFd::new(&self.full, PollFlags::IN)];
        let now = Timespec::default();
        let heard = poll(&mut fds, Some(&now)).is_ok_and(|heard| heard > 0);
        heard && matches!((&self.full).read(&mut [0]), Ok(1))
    }

    /// Ends the record of a call and returns how complete it is. Changes of continuing processes,
    /// these and unknown ones, go to separate change sets.
    pub(super) fn stop(&self, go_on: Option<LiveProcesses>) -> TraceState {
        self.stop_within(COMPLETION_TIMEOUT, go_on)
    }

    /// Closes the background change sets, because no process remains.
    pub(super) fn leave(&self) {
        self.stop_within(PATIENCE_AT_END, None);
    }

    /// True if a call had survivors at its end, or at the end of other processes.
    pub(super) fn has_continuing(&self) -> bool {
        self.has_continuing.load(Ordering::Relaxed)
    }

    /// Closes the change sets of calls that have no process left in `living`.
    pub(super) fn conclude(&self, living: LiveProcesses) {
        self.orders.give(Order::Conclude(living));
    }

    fn stop_within(&self, patience: Duration, go_on: Option<LiveProcesses>) -> TraceState {
        let none_continues = go_on.is_none();
        if none_continues && self.orders.take_back() {
            self.is_idle.set(true);
            return TraceState::complete();
        }
        let (tell, told) = channel();
        self.orders.give(Order::Stop(tell, go_on));
        let told = told.recv_timeout(patience);
        let is_idle = |traced: &TraceState| none_continues && !traced.full;
        self.is_idle.set(told.as_ref().is_ok_and(is_idle));
        told.unwrap_or_else(|_| TraceState::incomplete(UNRESPONSIVE_REASON))
    }
}

/// The state of the tracing thread.
struct TracingThread {
    /// `None` once no traced process remains.
    listener: Option<Listener>,
    orders: OrderQueue,
    woken: PipeReader,
    tell_full: PipeWriter,
    surroundings: TraceContext,
    hidden: Vec<PathBuf>,
    scope: WatchScope,
    state: RecordState,
    attribution: Attribution,
    /// [`Tracer::has_continuing`].
    has_continuing: Arc<AtomicBool>,
}

enum RecordState {
    /// No change set is known yet. This system call is about to change a file.
    Waiting(Option<WaitingCall>),
    /// A trial: its changes are held back, and only its sockets are traced.
    Trial(TraceState),
    /// Changes are recorded with this recorder, if the change set could be opened.
    Recording(Option<Box<Recorder>>, TraceState),
    /// The change set is full. A process that is about to change a file waits for the end of the
    /// call.
    Full(TraceState),
    /// Changes of the shell between two calls, and of processes that outlive its only call, each
    /// time into a new change set.
    Background(Box<BackgroundChanges>),
    /// Changes are not recorded any more.
    Stopped,
}

impl RecordState {
    /// The state before the first order.
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

    /// Waits for the next event and handles it. `None` at the end of the orders.
    fn step(&mut self) -> Option<()> {
        let looks = !matches!(
            self.state,
            RecordState::Waiting(Some(_)) | RecordState::Full(_)
        );
        let listener = self.listener.as_ref().filter(|_| looks);
        let mut fds = vec![PollFd::new(&self.woken, PollFlags::IN)];
        fds.extend(listener.map(|listener| PollFd::new(listener, PollFlags::IN)));
        match poll(&mut fds, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Some(()),
            Err(_) => return None,
        }
        let happened: Vec<PollFlags> = fds.iter().map(PollFd::revents).collect();
        if !happened[0].is_empty() {
            let mut byte = [0];
            if !matches!((&self.woken).read(&mut byte), Ok(1)) {
                return None;
            }
            while self.obey_next() {}
        }
        let heard = happened.get(1).copied().unwrap_or(PollFlags::empty());
        if heard.contains(PollFlags::IN) {
            // Orders from before the start of a shell apply to it.
            while self.obey_next() {}
            self.look();
            // The thread may hold a system call that no order would release.
            while self.obey_next() {}
        } else if !heard.is_empty() {
            self.listener = None;
        }
        Some(())
    }

    /// False if there was no order. Its byte may come later.
    fn obey_next(&mut self) -> bool {
        let holds = matches!(self.state, RecordState::Waiting(Some(_)));
        let order = self.orders.next(holds);
        order.map(|order| self.obey(order)).is_some()
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Another => {
                self.attribution.close_all();
                self.state = RecordState::of(self.scope);
            }
            Order::Record(set, tell) => {
                let mut recorder = Recorder::open(&set).map(|it| it.hiding(self.hidden.clone()));
                let (tell, living) = tell.unzip();
                let own = living
                    .map(|living| self.attribution.begin_call(&living, &mut self.surroundings));
                let traced = match &mut recorder {
                    Ok(recorder) => self.kept_open(recorder, &own.unwrap_or_default()),
                    Err(error) => TraceState::incomplete(error.to_string()),
                };
                let recording = RecordState::Recording(recorder.ok().map(Box::new), traced.clone());
                match std::mem::replace(&mut self.state, recording) {
                    RecordState::Waiting(Some(call)) => {
                        if let Some(listener) = self.listener.take() {
                            self.let_go_on(&listener, &call);
                            self.listener = Some(listener);
                        }
                    }
                    // From here on, changes of the shell belong to the call.
                    RecordState::Background(mut late) => ignore_result(late.conclude()),
                    _ => {}
                }
                // The receiver may have given up.
                let _ = tell.map(|tell| tell.send(traced));
            }
            Order::Conclude(living) => {
                let running = self.running();
                self.attribution.attribute_all(&living, running.as_ref());
                self.report_continuing();
                if let (true, RecordState::Background(late)) =
                    (self.attribution.is_empty(), &mut self.state)
                {
                    ignore_result(late.conclude());
                }
            }
            Order::Stop(tell, go_on) => {
                let state = std::mem::replace(&mut self.state, RecordState::Stopped);
                if go_on.is_none() {
                    self.attribution.close_all();
                }
                let traced = match state {
                    RecordState::Recording(recorder, traced) => {
                        if let (Some(recorder), Some(living)) = (&recorder, go_on) {
                            self.attribution.end_call(
                                &living,
                                recorder.background(),
                                &mut self.surroundings,
                            );
                            self.state = RecordState::Background(Box::new(recorder.background()));
                        }
                        ended(recorder, traced)
                    }
                    RecordState::Background(mut late) => {
                        ignore_result(late.conclude());
                        TraceState::incomplete("nothing was to be recorded")
                    }
                    RecordState::Full(traced) | RecordState::Trial(traced) => traced,
                    RecordState::Waiting(held) => {
                        // The process may have been killed meanwhile.
                        let listener = self.listener.as_ref().zip(held);
                        let _ = listener.map(|(listener, call)| listener.let_go(&call));
                        TraceState::incomplete("nothing was to be recorded")
                    }
                    RecordState::Stopped => TraceState::incomplete("nothing was to be recorded"),
                };
                self.report_continuing();
                // The receiver may have given up.
                let _ = tell.send(traced);
            }
        }
    }

    fn report_continuing(&self) {
        let some = !self.attribution.is_empty();
        self.has_continuing.store(some, Ordering::Relaxed);
    }

    /// Returns the background change set of the running call, if it is recorded.
    fn running(&self) -> Option<BackgroundChanges> {
        match &self.state {
            RecordState::Recording(Some(recorder), _) => Some(recorder.background()),
            _ => None,
        }
    }

    /// Records the open files of these processes, which the call may write to.
    fn kept_open(&mut self, recorder: &mut Recorder, pids: &[i32]) -> TraceState {
        let result = held::record(pids, &mut self.surroundings, recorder);
        let mut traced = TraceState::complete();
        if let Err(lacking) = result {
            let _ = recorder.lacks();
            traced.lacks(lacking.reason);
        }
        traced
    }

    /// Inspects a waiting system call and lets it continue, unless it is about to change a file and
    /// no change set is known.
    fn look(&mut self) {
        let Some(listener) = self.listener.take() else {
            return;
        };
        if let Ok(Some(call)) = listener.next() {
            self.surroundings.remember(&call);
            match &mut self.state {
                RecordState::Waiting(held)
                    if !self.surroundings.change_nothing(&listener, &call) =>
                {
                    *held = Some(call);
                }
                _ => self.let_go_on(&listener, &call),
            }
        }
        self.listener = Some(listener);
    }

    /// Records the files that a system call is about to change, if the state says so, and lets the
    /// system call continue.
    fn let_go_on(&mut self, listener: &Listener, call: &WaitingCall) {
        if self.is_of_an_earlier(listener, call) {
            // The process may have been killed meanwhile.
            let _ = listener.let_go(call);
            return;
        }
        if let RecordState::Recording(Some(recorder), traced) = &mut self.state {
            match self.surroundings.record(listener, call, &mut **recorder) {
                Ok(()) => {}
                // The reason has no receiver, so the process is not ended: it continues unrecorded.
                Err(_) if recorder.is_concluded_here() => {
                    ignore_result(recorder.lacks());
                }
                Err(IncompleteReason {
                    reason,
                    full: false,
                }) => {
                    if traced.lacking.is_none() {
                        // The mark persists if the supervisor is killed.
                        let _ = recorder.lacks();
                    }
                    traced.lacks(reason);
                }
                Err(IncompleteReason { reason, full: true }) => {
                    let mut traced = TraceState::incomplete(reason);
                    traced.full = true;
                    self.state = RecordState::Full(traced);
                    // If the write fails, the call waits until its time limit.
                    let _ = (&self.tell_full).write_all(b"!");
                    return;
                }
            }
        }
        if let RecordState::Background(late) = &mut self.state
            && self
                .surroundings
                .record(listener, call, &mut **late)
                .is_err()
        {
            // The reason has no receiver, so the process is not ended: it continues unrecorded.
            ignore_result(late.lacks());
        }
        if let RecordState::Trial(traced) = &mut self.state
            && let Some(reason) = self.surroundings.asks(call)
        {
            traced.lacks(reason);
        }
        // The process may have been killed meanwhile.
        let _ = listener.let_go(call);
    }

    /// True if a process of an earlier call makes this system call. Records it into the background
    /// change set of that call.
    fn is_of_an_earlier(&mut self, listener: &Listener, call: &WaitingCall) -> bool {
        if self.attribution.is_empty() {
            return false;
        }
        let owner = self.attribution.owner(call.thread);
        let running = match owner {
            Owner::Unknown => self.running(),
            Owner::Running | Owner::Earlier(_) => None,
        };
        let Some(late) = self
            .attribution
            .background_set(owner, call.thread, running.as_ref())
        else {
            return false;
        };
        if self.surroundings.record(listener, call, late).is_err() {
            // The reason has no receiver, so the process is not ended: it continues unrecorded.
            ignore_result(late.lacks());
        }
        true
    }
}

fn ended(recorder: Option<Box<Recorder>>, mut traced: TraceState) -> TraceState {
    let ended = recorder.map(|mut recorder| {
        if traced.lacking.is_some() {
            // If the mark cannot be written either, the record has no end and counts as
            // interrupted.
            recorder.lacks()?;
        }
        if recorder.is_concluded_here() {
            recorder.conclude()
        } else {
            recorder.finish()
        }
    });
    if let Some(Err(error)) = ended {
        traced.lacks(error.to_string());
    }
    traced
}
