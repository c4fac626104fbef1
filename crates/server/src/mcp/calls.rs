//! The calls of `bash`: each runs in a task of its own, so that it can go on when its client has got a handle on it.
//!
//! A call with a handle is no background job: it is one of this server's, with the time limit that it had, and ends with the
//! server. Its output so far and its result are kept here, for `bash_output` and `bash_kill`.

use super::recent::Recent;
use agent_bash::core::{Cancel, Flow, OutputConsumer, StreamId, ToolResult};
use agent_bash::sink::LiveUpdates;
use agent_bash::{CallOptions, Session};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Semaphore, watch};

/// Calls that may run at once.
pub(super) const MAX_CALLS: u32 = 256;

/// Calls with a handle that have ended and are still remembered.
const REMEMBERED: usize = 64;

/// All calls of a server.
#[derive(Debug)]
pub(super) struct Calls {
    session: Arc<Session>,
    room: Arc<Semaphore>,
    /// Given at the end: no call survives it.
    stop: Cancel,
    handles: Mutex<Handles>,
}

#[derive(Debug, Default)]
struct Handles {
    given: u64,
    calls: BTreeMap<u64, Arc<Call>>,
}

/// One call.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) command: String,
    pub(super) cancel: Cancel,
    seen: Mutex<Seen>,
    result: watch::Receiver<Option<Arc<ToolResult>>>,
}

/// What is known of a call while it runs.
#[derive(Debug, Default)]
struct Seen {
    recent: Recent,
    /// Process id and process group.
    process: Option<(u32, u32)>,
    /// What `bash_output` has given so far, in bytes.
    read: u64,
}

/// Part of a call's output.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) bytes: Vec<u8>,
    pub(super) from: u64,
    pub(super) total: u64,
}

impl Calls {
    pub(super) fn new(session: Arc<Session>, stop: Cancel) -> Self {
        Self {
            session,
            room: Arc::new(Semaphore::new(MAX_CALLS as usize)),
            stop,
            handles: Mutex::default(),
        }
    }

    /// Starts a call; `None` where as many run as may.
    pub(super) fn start(&self, request: Value, live: Option<LiveUpdates>) -> Option<Arc<Call>> {
        let room = Arc::clone(&self.room).try_acquire_owned().ok()?;
        let (sender, result) = watch::channel(None);
        let command = request["command"].as_str().unwrap_or_default().to_owned();
        let call = Arc::new(Call {
            command,
            cancel: self.stop.child(),
            seen: Mutex::default(),
            result,
        });
        let mut feed = Feed {
            call: Arc::clone(&call),
            live,
        };
        let session = Arc::clone(&self.session);
        tokio::spawn(async move {
            let cancel = feed.call.cancel.clone();
            let options = CallOptions {
                live: Some(&mut feed),
                ..CallOptions::default()
            };
            let work = session.tool().execute_with(request, options, &cancel);
            let result = Box::pin(work).await;
            drop(feed);
            // Nobody may wait for it any more.
            let _ = sender.send(Some(Arc::new(result)));
            drop(room);
        });
        Some(call)
    }

    /// Gives a call a name by which it is found later.
    pub(super) fn give_handle(&self, call: &Arc<Call>) -> String {
        let mut handles = self.handles();
        handles.given += 1;
        let number = handles.given;
        handles.calls.insert(number, Arc::clone(call));
        let over: Vec<u64> = handles
            .calls
            .iter()
            .filter(|(_, call)| call.result().is_some())
            .map(|(number, _)| *number)
            .collect();
        for number in over.iter().take(over.len().saturating_sub(REMEMBERED)) {
            handles.calls.remove(number);
        }
        name(number)
    }

    /// The call of that name.
    pub(super) fn find(&self, handle: &str) -> Option<Arc<Call>> {
        let number: u64 = handle.strip_prefix(PREFIX)?.parse().ok()?;
        self.handles().calls.get(&number).cloned()
    }

    /// Those with a handle, in the order in which they got it.
    pub(super) fn list(&self) -> Vec<(String, Arc<Call>)> {
        let handles = self.handles();
        let calls = handles.calls.iter();
        calls
            .map(|(number, call)| (name(*number), Arc::clone(call)))
            .collect()
    }

    /// Returns when no call runs.
    pub(super) async fn all_done(&self) {
        // The semaphore is never closed.
        drop(self.room.acquire_many(MAX_CALLS).await);
    }

    fn handles(&self) -> MutexGuard<'_, Handles> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Jobs are numbers; a call must not be taken for one.
const PREFIX: &str = "call-";

fn name(number: u64) -> String {
    format!("{PREFIX}{number}")
}

impl Call {
    /// Its result; `None` while it runs.
    pub(super) fn result(&self) -> Option<Arc<ToolResult>> {
        self.result.borrow().clone()
    }

    /// Waits for its result. `None`: it was given up, which only a fault of ours does.
    pub(super) async fn ended(&self) -> Option<Arc<ToolResult>> {
        let mut result = self.result.clone();
        let result = result.wait_for(Option::is_some).await.ok()?;
        result.clone()
    }

    /// Process id and process group, once it has them.
    pub(super) fn process(&self) -> Option<(u32, u32)> {
        self.seen().process
    }

    /// Bytes printed so far.
    pub(super) fn total_bytes(&self) -> u64 {
        self.seen().recent.total()
    }

    /// Its output from `offset` on, or what was not read yet; read is what was given.
    pub(super) fn read(&self, offset: Option<u64>) -> Part {
        let mut seen = self.seen();
        let (from, bytes) = seen.recent.since(offset.unwrap_or(seen.read));
        seen.read = seen.recent.total();
        Part {
            bytes,
            from,
            total: seen.recent.total(),
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the output of a call to those who watch it.
struct Feed {
    call: Arc<Call>,
    live: Option<LiveUpdates>,
}

impl OutputConsumer for Feed {
    fn chunk(&mut self, _: StreamId, bytes: &[u8]) -> Flow {
        self.call.seen().recent.push(bytes);
        if let Some(live) = &self.live {
            live.push(bytes);
        }
        Flow::Continue
    }

    fn started(&mut self, pid: u32, group: u32) {
        self.call.seen().process = Some((pid, group));
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        if let Some(live) = &self.live {
            live.end();
        }
    }
}
