//! The thread that inspects the traced system calls and executes the orders.

use super::attribution::{Attribution, Owner, ignore_result};
use super::named_file::NamedFile;
use super::open_files::{self, ShellWithoutFiles};
use super::orders::{Order, OrderQueue, RecordOrder, StoppedRecord};
use super::record::{IncompleteReason, TraceContext};
use agent_bash_changes::{BackgroundChanges, Recorder};
use agent_bash_core::changes::TraceState;
use agent_bash_notify::{Listener, WaitingCall};
use agent_bash_sandbox::{SocketGuard, TraceScope};
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The reason of the state of a call whose record was not requested.
const NOT_REQUESTED: &str = "no record was requested";

/// The data of the tracing thread.
pub(super) struct TracingThread {
    /// The listener; `None` once no traced process remains.
    pub(super) listener: Option<Arc<Listener>>,
    /// Makes the connections of a sandbox. The sandbox's own system calls for connections must not
    /// continue.
    pub(super) guard: Option<SocketGuard>,
    pub(super) orders: OrderQueue,
    pub(super) wakeups: PipeReader,
    pub(super) limit_sender: PipeWriter,
    pub(super) context: TraceContext,
    pub(super) scope: TraceScope,
    pub(super) state: RecordState,
    pub(super) attribution: Attribution,
    /// The flag that [`Tracer::has_survivors`](super::Tracer::has_survivors) reads.
    pub(super) has_survivors: Arc<AtomicBool>,
    /// The shell, while it certainly has no file open to which it could write.
    pub(super) shell_without_files: Option<ShellWithoutFiles>,
    /// Files that the shell has inherited open for writing.
    pub(super) inherited: Vec<NamedFile>,
}

pub(super) enum RecordState {
    /// No change set is known yet. The waiting system call, if any, is about to change a file.
    Waiting(Option<WaitingCall>),
    /// A trial: its changes are held back, and only its sockets are traced.
    Trial(TraceState),
    /// Changes are not recorded, but the changes that the sandbox refuses are remembered.
    Refusals,
    /// Changes are recorded with this recorder, if the change set could be opened.
    Recording(Option<Box<Recorder>>, TraceState),
    /// The change set has reached its size limit. A process that is about to change a file waits
    /// for the end of the call.
    LimitReached(TraceState),
    /// Changes between two calls, or after the only call, go to new change sets.
    Background(Box<BackgroundChanges>),
    /// Changes are not recorded any more.
    Stopped,
}

impl RecordState {
    /// Returns the state before the first order.
    pub(super) fn of(scope: TraceScope) -> Self {
        match scope {
            TraceScope::Changes => Self::Waiting(None),
            TraceScope::Refusals => Self::Refusals,
            TraceScope::Sockets | TraceScope::Connections => Self::Trial(TraceState::complete()),
        }
    }
}

impl TracingThread {
    pub(super) fn run(mut self) {
        while self.step().is_some() {}
    }

    /// Waits for the next event and handles it. `None` after the sender of the orders was dropped.
    fn step(&mut self) -> Option<()> {
        let polls_listener = !matches!(
            self.state,
            RecordState::Waiting(Some(_)) | RecordState::LimitReached(_)
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
            self.inspect_next();
            // An order may have arrived while the system call was inspected.
            while self.holds_call() && self.execute_next() {}
        } else if !is_ready.is_empty() {
            self.listener = None;
        }
        Some(())
    }

    /// Executes the next order; false if there was none. The byte that announces the order may
    /// arrive later.
    fn execute_next(&mut self) -> bool {
        let order = self.orders.next(self.holds_call());
        order.map(|order| self.execute(order)).is_some()
    }

    fn holds_call(&self) -> bool {
        matches!(self.state, RecordState::Waiting(Some(_)))
    }

    fn execute(&mut self, order: Order) {
        match order {
            Order::Another => {
                self.attribution.close_all();
                self.state = RecordState::of(self.scope);
                self.inherited.clear();
            }
            Order::Excludes(files) => self.context.excluded.extend(files),
            Order::Inherits(files) => {
                let path = files.first().and_then(|file| file.path().ok());
                if let (RecordState::Trial(traced), Some(path)) = (&mut self.state, path) {
                    traced.mark_incomplete(open_files::inherited_file_reason(&path));
                }
                self.inherited = files;
            }
            Order::Record(RecordOrder { set, live, started }) => {
                let hidden = self.context.hidden();
                let mut recorder =
                    Recorder::open(&set).map(|recorder| recorder.with_hidden_paths(hidden));
                self.context.take_refused();
                let call_pids = live
                    .as_ref()
                    .map(|live| self.attribution.begin_call(live, &mut self.context));
                let open_error = recorder.as_ref().err().map(ToString::to_string);
                let traced = match &mut recorder {
                    // A deferred record of a shell begins while that shell has no files open.
                    Ok(_) if started.is_none() => TraceState::complete(),
                    Ok(recorder) => {
                        self.record_open_files(recorder, &call_pids.unwrap_or_default())
                    }
                    Err(error) => TraceState::incomplete(error.to_string()),
                };
                let recording = RecordState::Recording(recorder.ok().map(Box::new), traced);
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
                let opened = open_error.map_or_else(TraceState::complete, TraceState::incomplete);
                let _ = started.map(|sender| sender.send(opened));
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
                    RecordState::Recording(recorder, mut traced) => {
                        traced.refused_writes = self.context.take_refused();
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
                        TraceState::incomplete(NOT_REQUESTED)
                    }
                    RecordState::LimitReached(traced) | RecordState::Trial(traced) => traced,
                    RecordState::Refusals => self.refusals(),
                    RecordState::Waiting(waiting) => {
                        if let Some((listener, call)) = self.listener.as_ref().zip(waiting) {
                            self.release(listener, &call);
                        }
                        TraceState::incomplete(NOT_REQUESTED)
                    }
                    RecordState::Stopped => TraceState::incomplete(NOT_REQUESTED),
                };
                self.update_has_survivors();
                // The receiver may have timed out.
                let _ = sender.send(StoppedRecord {
                    traced,
                    shell_without_files: self.shell_without_files,
                });
            }
        }
    }

    /// Returns the refused changes of an unrecorded call. The refused changes of the next call
    /// of the shell are remembered, too.
    fn refusals(&mut self) -> TraceState {
        self.state = RecordState::Refusals;
        TraceState {
            refused_writes: self.context.take_refused(),
            ..TraceState::complete()
        }
    }

    fn update_has_survivors(&self) {
        let has_survivors = !self.attribution.is_empty();
        self.has_survivors.store(has_survivors, Ordering::Relaxed);
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
        let open_files = open_files::record(pids, &mut self.context, recorder);
        self.shell_without_files = match pids {
            [shell] if open_files.has_none => ShellWithoutFiles::of(*shell),
            _ => None,
        };
        let mut traced = TraceState::complete();
        let incomplete = open_files
            .recorded
            .err()
            .map(|incomplete| incomplete.reason);
        let inherited = self.context.inherited_reason(&self.inherited, recorder);
        self.inherited.clear();
        if let Some(reason) = incomplete.or(inherited) {
            let _ = recorder.mark_incomplete();
            traced.mark_incomplete(reason);
        }
        traced
    }

    /// Inspects a waiting system call. Lets it continue, unless no change set is known and the call
    /// may change a file.
    fn inspect_next(&mut self) {
        // Orders that were sent before the system call apply to it.
        while let Some(order) = self.orders.next_immediate() {
            self.execute(order);
        }
        let Some(listener) = self.listener.take() else {
            return;
        };
        if let Ok(Some(call)) = listener.next() {
            self.context.remember(&call);
            self.inspect(&listener, call);
        }
        self.listener = Some(listener);
    }

    fn inspect(&mut self, listener: &Arc<Listener>, call: WaitingCall) {
        let has_no_change_set =
            matches!(self.state, RecordState::Waiting(_)) || self.orders.defers_record();
        let is_by_shell_without_files = self
            .shell_without_files
            .is_some_and(|shell_without_files| shell_without_files.pid == call.thread);
        if (has_no_change_set || is_by_shell_without_files)
            && self.context.changes_nothing(listener, &call)
        {
            self.release(listener, &call);
            return;
        }
        while self.execute_next() {}
        if is_by_shell_without_files {
            // The shell may get a file that stays open after the call.
            self.shell_without_files = None;
        }
        match &mut self.state {
            RecordState::Waiting(waiting) => *waiting = Some(call),
            _ => self.record_and_continue(listener, &call),
        }
    }

    /// Records the files that a system call is about to change, if the state requires it. Then lets
    /// the system call continue.
    fn record_and_continue(&mut self, listener: &Arc<Listener>, call: &WaitingCall) {
        if self.record_for_earlier_call(listener, call) {
            self.release(listener, call);
            return;
        }
        if let RecordState::Recording(Some(recorder), traced) = &mut self.state {
            match self.context.record(listener, call, &mut **recorder) {
                Ok(()) => {}
                // The error cannot be reported, so the process continues unrecorded.
                Err(_) if recorder.closes_itself() => {
                    ignore_result(recorder.mark_incomplete());
                }
                Err(IncompleteReason {
                    reason,
                    reached_limit: false,
                }) => {
                    if traced.incomplete_reason.is_none() {
                        // Written at once, so that the mark exists if the supervisor is killed.
                        let _ = recorder.mark_incomplete();
                    }
                    traced.mark_incomplete(reason);
                }
                Err(IncompleteReason {
                    reason,
                    reached_limit: true,
                }) => {
                    let mut traced = TraceState::incomplete(reason);
                    traced.reached_limit = true;
                    self.state = RecordState::LimitReached(traced);
                    // If the write fails, the call waits until its time limit.
                    let _ = (&self.limit_sender).write_all(b"!");
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
            ignore_result(background.mark_incomplete());
        }
        if matches!(self.state, RecordState::Refusals) {
            self.context.note_refusals(listener, call);
        }
        if let RecordState::Trial(traced) = &mut self.state
            && let Some(reason) = self.context.external_change_reason(call)
        {
            traced.mark_incomplete(reason);
        }
        self.release(listener, call);
    }

    /// Lets the system call continue, or the guard make its connection.
    fn release(&self, listener: &Arc<Listener>, call: &WaitingCall) {
        match &self.guard {
            Some(guard) if SocketGuard::is_guarded(call) => guard.answer(listener, call),
            // The process may have been killed meanwhile.
            _ => drop(listener.let_continue(call)),
        }
    }

    /// Records the system call into the background change set of an earlier call, if a process of
    /// that call makes it; returns true in that case.
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
            ignore_result(background.mark_incomplete());
        }
        true
    }
}

fn finish_record(recorder: Option<Box<Recorder>>, mut traced: TraceState) -> TraceState {
    let finished = recorder.map(|mut recorder| {
        if traced.incomplete_reason.is_some() {
            // If the mark cannot be written, the record has no end and counts as interrupted.
            recorder.mark_incomplete()?;
        }
        if recorder.closes_itself() {
            recorder.conclude()
        } else {
            recorder.finish()
        }
    });
    if let Some(Err(error)) = finished {
        traced.mark_incomplete(error.to_string());
    }
    traced
}
