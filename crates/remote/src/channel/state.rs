//! The state shared by both sides of a channel: waiting requests, lines to write, unread answers.

use super::incoming::{Incoming, MAX_LINE, OutputUpdate};
use agent_bash_core::lock;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::Notify;

/// Maximum number of concurrent requests.
const MAX_REQUESTS: usize = 256;

/// The largest number of unread bytes, and of unwritten bytes.
const MAX_BYTES: usize = 64 << 20;

/// The largest number of unread bytes of one request's output. For a slow reader, output is
/// dropped, as on the local machine.
const MAX_UPDATE_BYTES: usize = 256 * 1024;

/// The reason why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestFailure {
    /// The remote host refused the request; nothing was run.
    Refused(String),
    /// The request was cancelled before it was written: nothing has run.
    Cancelled,
    /// The request cannot be sent on any channel, for example because it is too long.
    NotSendable(String),
    /// The channel was closed before the request was written: nothing has run.
    Unsent(String),
    /// The channel was closed after the request was written: it may have run.
    ConnectionLost(String),
}

pub(super) type Reply = Result<Option<Box<RawValue>>, RequestFailure>;

#[derive(Debug)]
pub(super) struct SharedState {
    state: Mutex<ChannelState>,
    /// Notified when the writer has a line to write, or has to end.
    to_write: Notify,
}

#[derive(Debug, Default)]
struct ChannelState {
    next_id: u64,
    requests: BTreeMap<u64, PendingRequest>,
    lines: VecDeque<(u64, Vec<u8>)>,
    unwritten_bytes: usize,
    unread_bytes: usize,
    last_heard: Duration,
    /// True if no more requests are accepted.
    is_finished: bool,
    closed_reason: Option<String>,
}

#[derive(Debug, Default)]
struct PendingRequest {
    updates: VecDeque<OutputUpdate>,
    bytes: usize,
    answer: Option<Reply>,
    is_written: bool,
    /// True if the caller no longer waits.
    is_abandoned: bool,
    wake: Arc<Notify>,
}

/// A request that waits for its answer. Dropping the value before the answer cancels the request.
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
        lock(&self.state)
    }

    pub(super) fn closed_reason(&self) -> Option<String> {
        self.state().closed_reason.clone()
    }

    /// Closes the channel for this reason, unless it is already closed.
    pub(super) fn close(&self, why: &str) {
        let mut state = self.state();
        if state.closed_reason.is_none() {
            state.closed_reason = Some(why.to_owned());
        }
        state.lines.clear();
        for request in state.requests.values() {
            request.wake.notify_one();
        }
        drop(state);
        self.to_write.notify_one();
    }

    /// Refuses further requests, and ends the writer after the waiting ones.
    pub(super) fn finish_requests(&self) {
        self.state().is_finished = true;
        self.to_write.notify_one();
    }

    pub(super) fn is_finished(&self) -> bool {
        self.state().is_finished
    }

    pub(super) fn set_last_heard(&self, now: Duration) {
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
        let not_sendable = |error: &dyn std::fmt::Display| {
            RequestFailure::NotSendable(format!("the request cannot be sent: {error}"))
        };
        let body = serde_json::to_value(body).map_err(|error| not_sendable(&error))?;
        let Value::Object(mut fields) = body else {
            return Err(not_sendable(&"it is no object"));
        };
        let mut state = self.state();
        if let Some(why) = &state.closed_reason {
            return Err(RequestFailure::Unsent(why.clone()));
        }
        if state.requests.len() >= MAX_REQUESTS {
            return Err(RequestFailure::NotSendable(format!(
                "{MAX_REQUESTS} requests to the target are unanswered, and more are not allowed; wait for an answer"
            )));
        }
        let id = state.next_id;
        fields.insert("id".to_owned(), id.into());
        fields.insert("type".to_owned(), kind.into());
        let mut line = serde_json::to_vec(&fields).map_err(|error| not_sendable(&error))?;
        if line.len() > MAX_LINE {
            let reason = format!("it is longer than {} MiB", MAX_LINE >> 20);
            return Err(not_sendable(&reason));
        }
        line.push(b'\n');
        if state.unwritten_bytes + line.len() > MAX_BYTES {
            return Err(not_sendable(
                &"too much is waiting to be sent; wait for an answer",
            ));
        }
        state.next_id += 1;
        let request = PendingRequest::default();
        let wake = Arc::clone(&request.wake);
        state.requests.insert(id, request);
        state.unwritten_bytes += line.len();
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
                    state.unwritten_bytes = state.unwritten_bytes.saturating_sub(line.len());
                    return Some((id, line));
                }
                if state.is_finished || state.closed_reason.is_some() {
                    return None;
                }
            }
            self.to_write.notified().await;
        }
    }

    /// Marks that the remote host may have received the complete request.
    pub(super) fn mark_written(&self, id: u64) {
        if let Some(request) = self.state().requests.get_mut(&id) {
            request.is_written = true;
        }
    }

    /// Handles a line from the remote host. Returns an error if the line matches no request.
    pub(super) fn handle(&self, incoming: Incoming) -> Result<(), String> {
        let mut state = self.state();
        let state = &mut *state;
        if matches!(incoming, Incoming::Leaving) {
            return Err("agent-bash on the target has ended".to_owned());
        }
        let (Incoming::Update { id, .. } | Incoming::Answer { id, .. }) = &incoming else {
            return Ok(());
        };
        let id = *id;
        let Some(request) = state
            .requests
            .get_mut(&id)
            .filter(|request| request.answer.is_none())
        else {
            return Err(format!("the target answered an unknown request ({id})"));
        };
        let before = request.bytes;
        match incoming {
            _ if request.is_abandoned => {
                if matches!(incoming, Incoming::Answer { .. }) {
                    state.requests.remove(&id);
                }
                return Ok(());
            }
            Incoming::JobEnded | Incoming::Leaving => {}
            Incoming::Update { update, .. } => request.push(update),
            Incoming::Answer { answer, .. } => {
                request.bytes += match &answer {
                    Ok(data) => data.as_ref().map_or(0, |data| data.get().len()),
                    Err(error) => error.len(),
                };
                request.answer = Some(answer.map_err(RequestFailure::Refused));
            }
        }
        request.wake.notify_one();
        state.unread_bytes = (state.unread_bytes + request.bytes).saturating_sub(before);
        if state.unread_bytes > MAX_BYTES {
            return Err(format!(
                "the target sent more than {} MiB of unread output",
                MAX_BYTES >> 20
            ));
        }
        Ok(())
    }
}

impl PendingRequest {
    /// Adds an update. If the reader is too slow, drops the oldest updates and counts their bytes.
    fn push(&mut self, update: OutputUpdate) {
        self.bytes += update.text.len();
        self.updates.push_back(update);
        while self.bytes > MAX_UPDATE_BYTES && self.updates.len() > 1 {
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

    /// Returns the new updates, and the answer if it has arrived. Each is returned once.
    pub(super) fn take(&self) -> (VecDeque<OutputUpdate>, Option<Reply>) {
        let mut state = self.shared.state();
        let state = &mut *state;
        let Some(request) = state.requests.get_mut(&self.id) else {
            let reason = "the request was already answered".to_owned();
            let answered = RequestFailure::ConnectionLost(reason);
            return (VecDeque::new(), Some(Err(answered)));
        };
        let updates = std::mem::take(&mut request.updates);
        state.unread_bytes = state
            .unread_bytes
            .saturating_sub(std::mem::take(&mut request.bytes));
        let answer = match (request.answer.take(), &state.closed_reason) {
            (Some(answer), _) => answer,
            (None, Some(why)) if request.is_written => {
                Err(RequestFailure::ConnectionLost(why.clone()))
            }
            (None, Some(why)) => Err(RequestFailure::Unsent(why.clone())),
            (None, None) => return (updates, None),
        };
        state.requests.remove(&self.id);
        (updates, Some(answer))
    }

    /// Asks the remote host to end the request. A request that was not written yet is only removed.
    pub(super) fn cancel(&self) {
        let mut state = self.shared.state();
        let queued = state.lines.iter().position(|(id, _)| *id == self.id);
        let unsent = queued.and_then(|at| state.lines.remove(at));
        let is_unsent = unsent.is_some();
        let bytes = unsent.map_or(0, |(_, line)| line.len());
        state.unwritten_bytes = state.unwritten_bytes.saturating_sub(bytes);
        if let Some(request) = state.requests.get_mut(&self.id).filter(|_| is_unsent) {
            request.answer = Some(Err(RequestFailure::Cancelled));
            request.wake.notify_one();
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
            cancelling.abandon();
        }
    }

    /// True if the request has been answered.
    pub(super) fn is_answered(&self) -> bool {
        let state = self.shared.state();
        state
            .requests
            .get(&self.id)
            .is_none_or(|request| request.answer.is_some())
    }

    fn abandon(&self) -> bool {
        let mut state = self.shared.state();
        let state = &mut *state;
        let Some(request) = state.requests.get_mut(&self.id) else {
            return false;
        };
        request.is_abandoned = true;
        request.updates.clear();
        state.unread_bytes = state
            .unread_bytes
            .saturating_sub(std::mem::take(&mut request.bytes));
        let is_open = request.answer.is_none();
        if !is_open {
            state.requests.remove(&self.id);
        }
        is_open
    }
}

impl Drop for WaitingRequest {
    fn drop(&mut self) {
        let is_unneeded = |request: &PendingRequest| request.is_abandoned;
        let is_abandoned = self
            .shared
            .state()
            .requests
            .get(&self.id)
            .is_none_or(is_unneeded);
        if !is_abandoned && self.abandon() {
            self.cancel();
        }
    }
}
