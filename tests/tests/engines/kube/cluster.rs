//! A server that answers kubectl's requests before kubectl runs a program in the only pod.

use super::exec;
use agent_bash_tests::poll;
use agent_bash_tests::targets::kube::{NAMESPACE, POD};
use agent_bash_tests::world::World;
use anyhow::Result;
use axum::extract::{Query, State, WebSocketUpgrade};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::{Notify, watch};

/// How the server passes input on to a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputMode {
    /// As the protocol specifies.
    Faithful,
    /// Passes on neither the end of input nor kubectl's disconnection.
    KnowsNoEndOfInput,
}

/// Events on the connection of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionEvent {
    /// Kubectl has closed the input.
    EndOfInput,
    /// The program has exited with this code, and kubectl was informed.
    Ended(i32),
    /// Kubectl disconnected before that.
    Disconnected,
}

/// The server; dropping it stops it.
#[derive(Debug)]
pub(crate) struct Cluster {
    address: SocketAddr,
    pod: Arc<Pod>,
    _runtime: Runtime,
}

/// The state that its connections share.
#[derive(Debug)]
pub(super) struct Pod {
    pub(super) input_mode: InputMode,
    /// The environment of all programs in the pod.
    pub(super) environment: BTreeMap<String, String>,
    pub(super) cwd: PathBuf,
    /// True if no data is passed on.
    pub(super) is_frozen: watch::Sender<bool>,
    /// True if open connections report that the program has exited.
    pub(super) ends: Notify,
    state: Mutex<PodEvents>,
}

#[derive(Debug, Default)]
struct PodEvents {
    started: Option<u32>,
    connection_events: Vec<ConnectionEvent>,
}

impl Cluster {
    /// Starts the server. Programs in its pod are in this world.
    pub(crate) fn start(world: &World, input_mode: InputMode) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0)))?;
        let address = listener.local_addr()?;
        let pod = Arc::new(Pod {
            input_mode,
            environment: world.environment(),
            cwd: world.cwd(),
            is_frozen: watch::channel(false).0,
            ends: Notify::new(),
            state: Mutex::default(),
        });
        let namespace = format!("/api/v1/namespaces/{NAMESPACE}");
        let path = format!("{namespace}/pods/{POD}");
        let answers = Router::new()
            .route(
                "/api",
                get(async || Json(json!({"kind": "APIVersions", "versions": ["v1"]}))),
            )
            .route(
                "/apis",
                get(async || {
                    Json(json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": []}))
                }),
            )
            .route("/api/v1", get(async || Json(resources())))
            .route(
                &namespace,
                get(async || Json(json!({"kind": "Namespace", "apiVersion": "v1"}))),
            )
            .route(&path, get(async || Json(description())))
            .route(&format!("{path}/exec"), get(run))
            .fallback(missing)
            .with_state(Arc::clone(&pod));
        runtime.spawn(axum::serve(listener, answers).into_future());
        Ok(Self {
            address,
            pod,
            _runtime: runtime,
        })
    }

    /// Its base URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops passing data on, without closing the connections.
    pub(crate) fn freeze(&self) {
        self.pod.is_frozen.send_replace(true);
    }

    /// Reports that the program has succeeded, whatever its state, and closes the connection.
    pub(crate) fn report_success(&self) {
        self.pod.ends.notify_one();
    }

    /// The pid of the last program that was started.
    pub(crate) fn started(&self) -> Option<u32> {
        self.pod.events().started
    }

    /// The events so far, once they are `is_all` or after `patience`.
    pub(crate) fn events_until(
        &self,
        patience: Duration,
        is_all: impl Fn(&[ConnectionEvent]) -> bool,
    ) -> Vec<ConnectionEvent> {
        let recorded = || self.pod.events().connection_events.clone();
        let all = poll::until(patience, || {
            Some(recorded()).filter(|events| is_all(events))
        });
        all.unwrap_or_else(recorded)
    }
}

impl Pod {
    pub(super) fn begun(&self, pid: u32) {
        self.events().started = Some(pid);
    }

    pub(super) fn record(&self, event: ConnectionEvent) {
        self.events().connection_events.push(event);
    }

    fn events(&self) -> MutexGuard<'_, PodEvents> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The server's objects.
fn resources() -> Value {
    json!({
        "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "v1",
        "resources": [{"name": "pods", "singularName": "pod", "namespaced": true, "kind": "Pod", "verbs": ["get"]}],
    })
}

fn description() -> Value {
    json!({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": POD, "namespace": NAMESPACE},
        "spec": {"containers": [{"name": "only"}]},
        "status": {"phase": "Running"},
    })
}

async fn missing(uri: Uri) -> Response {
    let name = uri.path().rsplit('/').next().unwrap_or_default();
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404,
        "message": format!("pods \"{name}\" not found"),
    });
    (StatusCode::NOT_FOUND, Json(status)).into_response()
}

async fn run(
    State(pod): State<Arc<Pod>>,
    Query(query): Query<Vec<(String, String)>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let words = query.into_iter().filter(|(name, _)| name == "command");
    let words = words.map(|(_, word)| word).collect();
    upgrade
        .protocols([exec::PROTOCOL])
        .on_upgrade(|socket| exec::carry(socket, words, pod))
}
