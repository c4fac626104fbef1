//! Limits and cancels the requests in flight.

use agent_bash::core::{Cancel, lock};
use agent_bash_protocol::message::RpcId;
use agent_bash_protocol::{MAX_REQUEST_BYTES, MAX_REQUESTS};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The table of requests in flight. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestsInFlight(Arc<Mutex<RequestTable>>);

#[derive(Debug, Default)]
struct RequestTable {
    /// The key of the next request.
    next: u64,
    /// The total length of the lines of the requests.
    bytes: usize,
    requests: BTreeMap<u64, InFlightRequest>,
}

#[derive(Debug)]
struct InFlightRequest {
    id: Option<RpcId>,
    kind: RequestKind,
    bytes: usize,
    cancel: Cancel,
}

/// Distinguishes `bash` requests, which `abort_bash` cancels, from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestKind {
    Bash,
    Other,
}

/// A request in flight; dropping it removes it from the table.
#[derive(Debug)]
pub(super) struct RequestInFlight {
    table: RequestsInFlight,
    key: u64,
    /// Triggered when the request is cancelled.
    pub(super) cancel: Cancel,
}

impl RequestsInFlight {
    /// Adds a request. `Err` if a limit is reached, or if a request with the same id is in flight,
    /// because the client could not distinguish the answers.
    pub(super) fn begin(
        &self,
        id: Option<RpcId>,
        kind: RequestKind,
        bytes: usize,
    ) -> Result<RequestInFlight, String> {
        let mut table = lock(&self.0);
        if let Some(id) = &id
            && table
                .requests
                .values()
                .any(|entry| entry.id.as_ref() == Some(id))
        {
            return Err(format!(
                "a request with the id {} is in flight; give each request a different id",
                serde_json::json!(id)
            ));
        }
        if table.requests.len() >= MAX_REQUESTS {
            return Err(format!(
                "{MAX_REQUESTS} requests are in flight, which is the limit; wait for the answer to one of them"
            ));
        }
        if table.bytes + bytes > MAX_REQUEST_BYTES {
            return Err(format!(
                "the requests in flight may have {} MiB in total; wait for the answer to one of them",
                MAX_REQUEST_BYTES >> 20
            ));
        }
        let cancel = Cancel::new();
        let key = table.next;
        table.next += 1;
        table.bytes += bytes;
        let entry = InFlightRequest {
            id,
            kind,
            bytes,
            cancel: cancel.clone(),
        };
        table.requests.insert(key, entry);
        Ok(RequestInFlight {
            table: self.clone(),
            key,
            cancel,
        })
    }

    /// Cancels every request with this id. Returns true if there was one.
    pub(super) fn cancel(&self, target: &RpcId) -> bool {
        self.cancel_where(|entry| entry.id.as_ref() == Some(target))
    }

    /// Cancels the running `bash` request with the id `target`, or any with `None`.
    pub(super) fn abort_bash(&self, target: Option<&RpcId>) -> bool {
        self.cancel_where(|entry| {
            entry.kind == RequestKind::Bash && (target.is_none() || entry.id.as_ref() == target)
        })
    }

    /// Cancels all requests.
    pub(super) fn cancel_all(&self) {
        self.cancel_where(|_| true);
    }

    fn cancel_where(&self, matches: impl Fn(&InFlightRequest) -> bool) -> bool {
        let table = lock(&self.0);
        let mut is_found = false;
        for entry in table.requests.values().filter(|entry| matches(entry)) {
            entry.cancel.cancel();
            is_found = true;
        }
        is_found
    }
}

impl RequestInFlight {
    /// Frees the id before the answer is sent, as the client may reuse it on reading the answer.
    /// The limits count the request until it is dropped.
    pub(super) fn free_id(&self) {
        if let Some(entry) = lock(&self.table.0).requests.get_mut(&self.key) {
            entry.id = None;
        }
    }
}

impl Drop for RequestInFlight {
    fn drop(&mut self) {
        let mut table = lock(&self.table.0);
        if let Some(entry) = table.requests.remove(&self.key) {
            table.bytes -= entry.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> RpcId {
        RpcId::Text(text.to_owned())
    }

    #[test]
    fn requests_are_refused_at_maximum_until_one_ends() {
        let table = RequestsInFlight::default();
        let mut flights: Vec<RequestInFlight> = (0..MAX_REQUESTS)
            .map(|_| table.begin(None, RequestKind::Other, 1).unwrap())
            .collect();
        assert!(table.begin(None, RequestKind::Other, 1).is_err());
        flights.pop();
        table.begin(None, RequestKind::Other, 1).unwrap();
    }

    #[test]
    fn requests_are_refused_at_maximum_of_bytes() {
        let table = RequestsInFlight::default();
        let half = MAX_REQUEST_BYTES / 2;
        let first = table.begin(None, RequestKind::Other, half).unwrap();
        let _second = table.begin(None, RequestKind::Other, half).unwrap();
        assert!(table.begin(None, RequestKind::Other, 1).is_err());
        drop(first);
        table.begin(None, RequestKind::Other, 1).unwrap();
    }

    #[test]
    fn id_can_be_reused_after_free_id() {
        let table = RequestsInFlight::default();
        let first = table.begin(Some(id("a")), RequestKind::Other, 1).unwrap();
        let error = table
            .begin(Some(id("a")), RequestKind::Bash, 1)
            .unwrap_err();
        assert!(error.contains("the id \"a\" is in flight"), "{error}");
        assert!(!first.cancel.is_cancelled());
        first.free_id();
        table.begin(Some(id("a")), RequestKind::Other, 1).unwrap();
    }

    #[test]
    fn cancel_affects_only_matching_requests() {
        let table = RequestsInFlight::default();
        let a = table.begin(Some(id("a")), RequestKind::Bash, 1).unwrap();
        let b = table.begin(Some(id("b")), RequestKind::Other, 1).unwrap();
        let unnamed = table.begin(None, RequestKind::Other, 1).unwrap();
        let cancelled = || [&a, &b, &unnamed].map(|flight| flight.cancel.is_cancelled());
        assert!(!table.cancel(&id("c")) && !table.abort_bash(Some(&id("b"))));
        assert_eq!(cancelled(), [false, false, false]);
        assert!(table.cancel(&id("b")));
        assert_eq!(cancelled(), [false, true, false]);
        assert!(table.abort_bash(None));
        assert_eq!(cancelled(), [true, true, false]);
        table.cancel_all();
        assert_eq!(cancelled(), [true, true, true]);
    }
}
