//! A stub of a model: a server on loopback that requests tool calls, one after another, and records
//! the last result.

use crate::wire::{Wire, stream};
use anyhow::{Context, Result};
use axum::Router;
use axum::body::Bytes;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// How often an agent is told to wait for its servers.
const PATIENCE: usize = 10;

/// The call that the model requests.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    /// The tool's name as the agent presents it to its model.
    tool: String,
    input: Value,
}

impl Ask {
    pub(crate) fn new(tool: impl Into<String>, input: Value) -> Self {
        let tool = tool.into();
        Self { tool, input }
    }
}

/// A running model server; dropping it stops it.
#[derive(Debug)]
pub(crate) struct Model {
    address: SocketAddr,
    received: Arc<Mutex<ReceivedRequests>>,
    _runtime: Runtime,
}

/// The requests that an agent has sent.
#[derive(Debug, Default)]
struct ReceivedRequests {
    /// The last call's result, and the whole request that carried it.
    returned: Option<(Value, Value)>,
    /// The results of the calls so far.
    results: Vec<Value>,
    /// True if the agent was told to wait for its servers.
    waits: bool,
    /// How often the agent was told to wait.
    waited: usize,
    /// Method and path of every request, for diagnosing failures.
    requests: Vec<String>,
}

impl Model {
    /// Starts the server on a free port of a loopback address.
    pub(crate) fn start(wire: &'static Wire, address: Ipv4Addr, asks: Vec<Ask>) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let listener = runtime.block_on(TcpListener::bind((address, 0)))?;
        let address = listener.local_addr()?;
        let received = Arc::new(Mutex::new(ReceivedRequests::default()));
        let ours = Arc::clone(&received);
        let answers = Router::new()
            .fallback(move |method: Method, uri: Uri, body: Bytes| {
                let mut received = ours.lock().unwrap_or_else(PoisonError::into_inner);
                received.requests.push(format!("{method} {uri}"));
                let answer = answer(wire, &asks, &mut received, &uri, &body);
                async { answer }
            })
            // A request contains the whole result, which may be megabytes.
            .layer(DefaultBodyLimit::disable());
        runtime.spawn(axum::serve(listener, answers).into_future());
        Ok(Self {
            address,
            received,
            _runtime: runtime,
        })
    }

    /// Its base URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The call's result, and all texts that the model reads with it.
    pub(crate) fn returned(&self) -> Result<(Value, Value)> {
        let received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        received.returned.clone().with_context(|| {
            format!(
                "no call came back to the model, which heard {:?}",
                received.requests
            )
        })
    }
}

fn answer(
    wire: &Wire,
    asks: &[Ask],
    received: &mut ReceivedRequests,
    uri: &Uri,
    body: &[u8],
) -> Response {
    let body = serde_json::from_slice(body).ok();
    let Some(body) = body.filter(|_: &Value| uri.path().ends_with(wire.path)) else {
        // Connectivity checks, telemetry, package registries.
        return (StatusCode::NOT_FOUND, "{}").into_response();
    };
    let returned = (wire.returned)(&body);
    let missing = returned.as_ref().and_then(wire.wait);
    let call = |number: usize| match asks.get(number) {
        Some(ask) => (wire.call)(&ask.tool, &ask.input),
        None => (wire.say)("done"),
    };
    let events = match (&returned, missing) {
        (None, _) if (wire.offers)(&body) => call(received.results.len()),
        (Some(_), _) if std::mem::take(&mut received.waits) => call(received.results.len()),
        (Some(_), Some(wait)) if received.waited < PATIENCE => {
            received.waited += 1;
            received.waits = true;
            (wire.call)(wait, &json!({}))
        }
        (Some(result), _) => {
            // A side request repeats the result.
            if received.results.last() != Some(result) {
                received.results.push(result.clone());
            }
            call(received.results.len())
        }
        (None, _) => (wire.say)("done"),
    };
    if let Some(returned) = returned {
        received.returned = Some((returned, body));
    }
    (
        [(header::CONTENT_TYPE, "text/event-stream")],
        stream(&events),
    )
        .into_response()
}
