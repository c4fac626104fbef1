//! The state shared by both sides of a channel: waiting requests, lines to write, unread answers.

use super::incoming::{Incoming, MAX_LINE, OutputUpdate};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Maximum number of concurrent requests.
const MAX_CALLS: usize = 256;

/// The largest number of unread bytes, and of unwritten bytes.
const MAX_BYTES: usize = 64 << 20;

/// The largest number of unread bytes of one call's output. A slow reader gets less of it, as on
/// the local machine.
const MAX_UPDATES: usize = 256 * 1024;

/// The reason why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestFailure {
    /// The remote host refused the request; nothing was run.
    Refused(String),
    /// The request was cancelled before it was written: nothing has run.
    Unwanted,
    /// The request could not be sent, and another channel could not send it either.
    Unfit(String),
    /// The channel was closed before the request was written: nothing has run.
    Unsent(String),
    /// The channel was closed after the request was written: it may have run.
    Cut(String),
}

pub(super) type Reply = Result<Option<Box<RawValue>>, RequestFailure>;

#[derive(Debug)]
pub(super) struct SharedState {
    state: Mutex<ChannelState>,
    /// Notified when there is something to write.
    to_write: Notify,
}

#[derive(Debug, Default)]
struct ChannelState {
    next: u64,
    calls: BTreeMap<u64, Call>,
    lines: VecDeque<(u64, Vec<u8>)>,
    unwritten: usize,
    unread: usize,
    last_heard: Duration,
    /// True if no more requests are accepted.
    is_finished: bool,
    dead: Option<String>,
}

#[derive(Debug, Default)]
struct Call {
    updates: VecDeque<OutputUpdate>,
    bytes: usize,
    answer: Option<Reply>,
    is_written: bool,
    /// True if the caller no longer waits.
    is_forgotten: bool,
    wake: Arc<Notify>,
}

/// A request that waits for its answer. Dropping it before that cancels the request.
#[derive(Debug)]
pub(super) struct WaitingRequest {
    shared: Arc<SharedState>,
    id: u64,
    wake: Arc<Notify>,
}

impl SharedState {
    pub(super) fn new(now: Duration) -> Self {
        let state = ChannelState {
            last_heard: now,
            ..ChannelState::default()
        };
        Self {
            state: Mutex::new(state),
            to_write: Notify::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, ChannelState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn dead(&self) -> Option<String> {
        self.state().dead.clone()
    }

    /// Closes the channel for this reason, unless it is already closed.
    pub(super) fn die(&self, why: &str) {
        let mut state = self.state();
        if state.dead.is_none() {
            state.dead = Some(why.to_owned());
        }
        state.lines.clear();
        for call in state.calls.values() {
            call.wake.notify_one();
        }
        drop(state);
        self.to_write.notify_one();
    }

    /// Ends the writer after the waiting requests.
    pub(super) fn finish(&self) {
        self.state().is_finished = true;
        self.to_write.notify_one();
    }

    pub(super) fn is_finished(&self) -> bool {
        self.state().is_finished
    }

    pub(super) fn heard(&self, now: Duration) {
        self.state().last_heard = now;
    }

    pub(super) fn last_heard(&self) -> Duration {
        self.state().last_heard
    }

    /// Begins a request.
    pub(super) fn begin(
        self: &Arc<Self>,
        kind: &str,
        body: &impl Serialize,
    ) -> Result<WaitingRequest, RequestFailure> {
        let unfit = |error: &dyn std::fmt::Display| {
            RequestFailure::Unfit(format!("the request cannot be sent: {error}"))
        };
        let body = serde_json::to_value(body).map_err(|error| unfit(&error))?;
        let Value::Object(mut fields) = body else {
            return Err(unfit(&"it is no object"));
        };
        let mut state = self.state();
        if let Some(why) = &state.dead {
            return Err(RequestFailure::Unsent(why.clone()));
        }
        if state.calls.len() >= MAX_CALLS {
            return Err(RequestFailure::Unfit(format!(
                "{MAX_CALLS} requests to the target are in flight and no more may; wait for one of them"
            )));
        }
        let id = state.next;
        fields.insert("id".to_owned(), id.into());
        fields.insert("type".to_owned(), kind.into());
        let mut line = serde_json::to_vec(&fields).map_err(|error| unfit(&error))?;
        if line.len() > MAX_LINE {
            return Err(unfit(&format!("it is longer than {} MiB", MAX_LINE >> 20)));
        }
        line.push(b'\n');
        if state.unwritten + line.len() > MAX_BYTES {
            return Err(unfit(&"too much is waiting to be sent; wait for an answer"));
        }
        state.next += 1;
        let call = Call::default();
        let wake = Arc::clone(&call.wake);
        state.calls.insert(id, call);
        state.unwritten += line.len();
        state.lines.push_back((id, line));
        drop(state);
        self.to_write.notify_one();
        let shared = Arc::clone(self);
        Ok(WaitingRequest { shared, id, wake })
    }

    /// Returns the next line to write; `None` at the end.
    pub(super) async fn next_line(&self) -> Option<(u64, Vec<u8>)> {
        loop {
            {
                let mut state = self.state();
                if let Some((id, line)) = state.lines.pop_front() {
                    state.unwritten = state.unwritten.saturating_sub(line.len());
                    return Some((id, line));
                }
                if state.is_finished || state.dead.is_some() {
                    return None;
                }
            }
            self.to_write.notified().await;
        }
    }

    /// Marks that the remote host may have received the complete request.
    pub(super) fn written(&self, id: u64) {
        if let Some(call) = self.state().calls.get_mut(&id) {
            call.is_written = true;
        }
    }

    /// Handles a line from the remote host. Returns an error if the line matches no request.
    pub(super) fn take(&self, incoming: Incoming) -> Result<(), String> {
        let mut state = self.state();
        let state = &mut *state;
        if matches!(incoming, Incoming::Leaving) {
            return Err("the target has left".to_owned());
        }
        let (Incoming::Update { id, .. } | Incoming::Answer { id, .. }) = &incoming else {
            return Ok(());
        };
        let id = *id;
        let Some(call) = state
            .calls
            .get_mut(&id)
            .filter(|call| call.answer.is_none())
        else {
            return Err(format!("the target answered an unknown request ({id})"));
        };
        let before = call.bytes;
        match incoming {
            _ if call.is_forgotten => {
                if matches!(incoming, Incoming::Answer { .. }) {
                    state.calls.remove(&id);
                }
                return Ok(());
            }
            Incoming::JobEnded | Incoming::Leaving => {}
            Incoming::Update { update, .. } => call.push(update),
            Incoming::Answer { answer, .. } => {
                call.bytes += match &answer {
                    Ok(data) => data.as_ref().map_or(0, |data| data.get().len()),
                    Err(error) => error.len(),
                };
                call.answer = Some(answer.map_err(RequestFailure::Refused));
            }
        }
        call.wake.notify_one();
        state.unread = (state.unread + call.bytes).saturating_sub(before);
        if state.unread > MAX_BYTES {
            return Err(format!(
                "the target sent more than {} MiB of unread output",
                MAX_BYTES >> 20
            ));
        }
        Ok(())
    }
}

impl Call {
    /// Adds an update. If the reader is too slow, drops and counts the oldest ones.
    fn push(&mut self, update: OutputUpdate) {
        self.bytes += update.text.len();
        self.updates.push_back(update);
        while self.bytes > MAX_UPDATES && self.updates.len() > 1 {
            let Some(oldest) = self.updates.pop_front() else {
                break;
            };
            self.bytes = self.bytes.saturating_sub(oldest.text.len());
            if let Some(next) = self.updates.front_mut() {
                // The rewound part of the dropped update was never shown.
                next.rewind = oldest.rewind + next.rewind.saturating_sub(oldest.text.len());
                next.skipped_bytes += oldest.skipped_bytes + oldest.text.len() as u64;
            }
        }
    }
}

impl WaitingRequest {
    /// Returns the notifier for new updates and the answer.
    pub(super) fn wake(&self) -> Arc<Notify> {
        Arc::clone(&self.wake)
    }

    /// Takes the new updates, and the answer, which is returned once.
    pub(super) fn take(&self) -> (VecDeque<OutputUpdate>, Option<Reply>) {
        let mut state = self.shared.state();
        let state = &mut *state;
        let Some(call) = state.calls.get_mut(&self.id) else {
            let gone = RequestFailure::Cut("it was answered already".to_owned());
            return (VecDeque::new(), Some(Err(gone)));
        };
        let updates = std::mem::take(&mut call.updates);
        state.unread = state.unread.saturating_sub(std::mem::take(&mut call.bytes));
        let answer = match (call.answer.take(), &state.dead) {
            (Some(answer), _) => answer,
            (None, Some(why)) if call.is_written => Err(RequestFailure::Cut(why.clone())),
            (None, Some(why)) => Err(RequestFailure::Unsent(why.clone())),
            (None, None) => return (updates, None),
        };
        state.calls.remove(&self.id);
        (updates, Some(answer))
    }

    /// Asks the remote host to end the request. A request that was not written yet is only removed.
    pub(super) fn cancel(&self) {
        let mut state = self.shared.state();
        let queued = state.lines.iter().position(|(id, _)| *id == self.id);
        let unsent = queued.and_then(|at| state.lines.remove(at));
        let is_unsent = unsent.is_some();
        let bytes = unsent.map_or(0, |(_, line)| line.len());
        state.unwritten = state.unwritten.saturating_sub(bytes);
        if let Some(call) = state.calls.get_mut(&self.id).filter(|_| is_unsent) {
            call.answer = Some(Err(RequestFailure::Unwanted));
            call.wake.notify_one();
        }
        drop(state);
        if is_unsent {
            return;
        }
        // The answer to the cancellation is ignored: the request has its own answer.
        if let Ok(cancelling) = self
            .shared
            .begin("cancel", &serde_json::json!({ "target": self.id }))
        {
            cancelling.forget();
        }
    }

    /// True if the request has been answered.
    pub(super) fn is_answered(&self) -> bool {
        let state = self.shared.state();
        state
            .calls
            .get(&self.id)
            .is_none_or(|call| call.answer.is_some())
    }

    fn forget(&self) -> bool {
        let mut state = self.shared.state();
        let state = &mut *state;
        let Some(call) = state.calls.get_mut(&self.id) else {
            return false;
        };
        call.is_forgotten = true;
        call.updates.clear();
        state.unread = state.unread.saturating_sub(std::mem::take(&mut call.bytes));
        let is_open = call.answer.is_none();
        if !is_open {
            state.calls.remove(&self.id);
        }
        is_open
    }
}

impl Drop for WaitingRequest {
    fn drop(&mut self) {
        let forgotten = |call: &Call| call.is_forgotten;
        let is_forgotten = self
            .shared
            .state()
            .calls
            .get(&self.id)
            .is_none_or(forgotten);
        if !is_forgotten && self.forget() {
            self.cancel();
        }
    }
}
