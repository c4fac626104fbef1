//! A server on loopback that one boxed call has started: it answers later calls in boxes of the same kind, and nobody
//! else.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::{self, cache, run_with, spec};
use agent_bash_core::sandbox::{Level, Network, Plan, Tier};
use agent_bash_core::{Cancel, RunSpec, SessionName};
use agent_bash_exec::ShellCache;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SERVER: &str = env!("CARGO_BIN_EXE_exec-test-supervisor");

struct Place {
    _temp: tempfile::TempDir,
    workspace: PathBuf,
}

impl Place {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let workspace = fs::canonicalize(temp.path()).unwrap();
        Self {
            _temp: temp,
            workspace,
        }
    }

    fn plan(&self) -> Plan {
        Plan {
            level: Level::WorkspaceWrite,
            network: Network::Loopback,
            tier: Tier::Full,
            writable: vec![self.workspace.clone()],
            hidden: Vec::new(),
            protected: Vec::new(),
            devices: Vec::new(),
        }
    }

    fn boxed(&self, script: &str, plan: Plan) -> RunSpec {
        spec(script)
            .cwd(self.workspace.clone())
            .sandbox(Arc::new(plan))
    }

    /// What a call by this plan hears from the server.
    async fn heard(&self, cache: &ShellCache, plan: Plan) -> String {
        let spec = self.boxed("cat </dev/tcp/127.0.0.1/$(cat port)", plan);
        run_with(cache, &spec, &Cancel::new()).await.unwrap().out
    }
}

/// Starts the server in a call of its own, which runs until it is cancelled.
async fn serve(place: &Place, cache: &Arc<ShellCache>, cancel: &Cancel) {
    let spec = place.boxed(&format!("exec {SERVER} listen >port"), place.plan());
    let (cache, cancel) = (Arc::clone(cache), cancel.clone());
    tokio::spawn(async move { run_with(&cache, &spec, &cancel).await });
    let port = place.workspace.join("port");
    assert!(support::soon(|| fs::read(&port).is_ok_and(|text| text.ends_with(b"\n"))).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_one_call_answers_the_next_of_its_kind_only() {
    let place = Place::new();
    let (cache, cancel) = (Arc::new(cache()), Cancel::new());
    // The network outlives the call that made it.
    assert_eq!(place.heard(&cache, place.plan()).await, "");
    serve(&place, &cache, &cancel).await;
    for _ in 0..2 {
        assert_eq!(place.heard(&cache, place.plan()).await, "answered\n");
    }
    let in_session = place.boxed("cat </dev/tcp/127.0.0.1/$(cat port)", place.plan());
    let in_session = in_session.session(SessionName("s".into()));
    let heard = run_with(&cache, &in_session, &Cancel::new()).await.unwrap();
    assert_eq!(heard.out, "answered\n");

    let others = [
        Plan {
            network: Network::Off,
            ..place.plan()
        },
        Plan {
            network: Network::On,
            ..place.plan()
        },
        Plan {
            level: Level::ReadOnly,
            writable: Vec::new(),
            ..place.plan()
        },
    ];
    for other in others {
        let heard = place.heard(&cache, other.clone()).await;
        assert_eq!(heard, "", "{other:?}");
    }
    let other_host = support::cache();
    assert_eq!(place.heard(&other_host, place.plan()).await, "");
    cancel.cancel();
}

/// Calls that come at once find one network, whichever of them makes it.
#[tokio::test(flavor = "multi_thread")]
async fn first_calls_at_once_share_one_network() {
    let place = Place::new();
    let cache = Arc::new(cache());
    let calls: Vec<_> = (0..6)
        .map(|_| {
            let cache = Arc::clone(&cache);
            let spec = place.boxed("readlink /proc/self/ns/net", place.plan());
            tokio::spawn(async move { run_with(&cache, &spec, &Cancel::new()).await })
        })
        .collect();
    let mut networks = Vec::new();
    for call in calls {
        networks.push(call.await.unwrap().unwrap().out);
    }
    assert!(networks[0].starts_with("net:["), "{networks:?}");
    assert!(networks.iter().all(|network| *network == networks[0]));
    let own = fs::read_link("/proc/self/ns/net").unwrap();
    assert_ne!(Path::new(networks[0].trim()), own);
}

/// Three attempts, none of them to somebody on the loopback.
const ATTEMPTS: &str = "for i in 1 2 3; do echo >/dev/tcp/192.0.2.$i/80; done";

async fn refused(cache: &ShellCache, spec: &RunSpec) -> Option<u64> {
    let ran = run_with(cache, spec, &Cancel::new()).await.unwrap();
    ran.outcome.sandbox.unwrap().network_refused
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_to_reach_a_network_that_is_not_there_are_counted() {
    let place = Place::new();
    let cache = cache();
    for network in [Network::Off, Network::Loopback] {
        let plan = Plan {
            network,
            ..place.plan()
        };
        let counted = async |script| refused(&cache, &place.boxed(script, plan.clone())).await;
        assert_eq!(counted(ATTEMPTS).await, Some(3), "{network}");
        assert_eq!(counted("true").await, Some(0), "{network}");
        // Nobody listens there, but it is theirs.
        let own = counted("echo >/dev/tcp/127.0.0.1/9").await;
        assert_eq!(own, Some(u64::from(network == Network::Off)), "{network}");

        let in_session = |script| {
            let name = SessionName(format!("{network}"));
            place.boxed(script, plan.clone()).session(name)
        };
        assert_eq!(refused(&cache, &in_session(ATTEMPTS)).await, Some(3));
        assert_eq!(refused(&cache, &in_session("true")).await, Some(0));
    }
    let base = Plan {
        network: Network::Off,
        tier: Tier::Base,
        ..place.plan()
    };
    let host = Plan {
        network: Network::On,
        ..place.plan()
    };
    for plan in [base, host] {
        assert_eq!(refused(&cache, &place.boxed("true", plan)).await, None);
    }
}
