//! A server on loopback that one sandboxed call started answers later calls in equal sandboxes, and
//! no other calls.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::{self, cache, run_in, run_with, spec};
use agent_bash_core::sandbox::{Network, Plan, Tier, WriteLevel};
use agent_bash_core::{Cancel, RunSpec, SessionName};
use agent_bash_exec::ShellCache;
use agent_bash_test_kit::test_workspace::TestWorkspace;
use std::fs;
use std::path::Path;
use std::sync::Arc;

const SERVER: &str = env!("CARGO_BIN_EXE_exec-test-supervisor");

/// The sandbox of these calls.
fn plan(workspace: &TestWorkspace) -> Plan {
    Plan {
        network: Network::Loopback,
        hosts: Vec::new(),
        tier: Tier::Full,
        ..workspace.plan()
    }
}

fn sandboxed(workspace: &TestWorkspace, script: &str, plan: Plan) -> RunSpec {
    let spec = spec(script).cwd(workspace.workspace.clone());
    spec.sandbox(Arc::new(plan))
}

/// Returns the server's answer to a call with this plan.
async fn heard(workspace: &TestWorkspace, cache: &ShellCache, plan: Plan) -> String {
    let spec = sandboxed(workspace, "cat </dev/tcp/127.0.0.1/$(cat port)", plan);
    run_in(cache, &spec).await.out
}

/// The script that starts the server. Servers of other tests, which may have the same port in
/// another network, give other answers.
fn server(workspace: &TestWorkspace) -> String {
    format!("{SERVER} listen '{}' >port", answer(workspace))
}

fn answer(workspace: &TestWorkspace) -> String {
    workspace.workspace.display().to_string()
}

/// Starts the server in a call of its own, which runs until it is cancelled.
async fn serve(workspace: &TestWorkspace, cache: &Arc<ShellCache>, cancel: &Cancel) {
    let script = format!("exec {}", server(workspace));
    let spec = sandboxed(workspace, &script, plan(workspace));
    let (cache, cancel) = (Arc::clone(cache), cancel.clone());
    tokio::spawn(async move { run_with(&cache, &spec, &cancel).await });
    let port = workspace.workspace.join("port");
    assert!(support::soon(|| fs::read(&port).is_ok_and(|text| text.ends_with(b"\n"))).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn server_of_a_call_answers_only_later_calls_with_an_equal_sandbox() {
    let workspace = TestWorkspace::new();
    let (cache, cancel) = (Arc::new(cache()), Cancel::new());
    // The network outlives the call that made it.
    assert_eq!(heard(&workspace, &cache, plan(&workspace)).await, "");
    serve(&workspace, &cache, &cancel).await;
    let answer = answer(&workspace);
    for _ in 0..2 {
        assert_eq!(heard(&workspace, &cache, plan(&workspace)).await, answer);
    }
    let in_session = sandboxed(
        &workspace,
        "cat </dev/tcp/127.0.0.1/$(cat port)",
        plan(&workspace),
    );
    let in_session = in_session.session(SessionName("s".into()));
    let printed = run_in(&cache, &in_session).await;
    assert_eq!(printed.out, answer);

    let others = [
        Plan {
            network: Network::Off,
            ..plan(&workspace)
        },
        Plan {
            network: Network::On,
            ..plan(&workspace)
        },
        Plan {
            level: WriteLevel::ReadOnly,
            writable: Vec::new(),
            ..plan(&workspace)
        },
    ];
    for other in others {
        let printed = heard(&workspace, &cache, other.clone()).await;
        // In the host's network, a server of another test may have the same port.
        let is_expected = printed.is_empty() || other.network == Network::On && printed != answer;
        assert!(is_expected, "{other:?}: {printed}");
    }
    let other_host = support::cache();
    assert_eq!(heard(&workspace, &other_host, plan(&workspace)).await, "");
    cancel.cancel();
}

/// Concurrent calls share one network, whichever call creates it.
#[tokio::test(flavor = "multi_thread")]
async fn first_calls_at_once_share_one_network() {
    let workspace = TestWorkspace::new();
    let cache = Arc::new(cache());
    let calls: Vec<_> = (0..6)
        .map(|_| {
            let cache = Arc::clone(&cache);
            let spec = sandboxed(&workspace, "readlink /proc/self/ns/net", plan(&workspace));
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

#[tokio::test(flavor = "multi_thread")]
async fn call_without_a_network_reaches_its_own_server_and_no_other_call_does() {
    let workspace = TestWorkspace::new();
    let cache = Arc::new(cache());
    let off = Plan {
        network: Network::Off,
        ..plan(&workspace)
    };
    let script = format!(
        "{} & until test -s port; do sleep 0.05; done; \
         cat </dev/tcp/127.0.0.1/$(cat port) >got; mv got ready; exec sleep 600",
        server(&workspace)
    );
    let cancel = Cancel::new();
    let spec = sandboxed(&workspace, &script, off.clone());
    let (server_cache, ended) = (Arc::clone(&cache), cancel.clone());
    tokio::spawn(async move { run_with(&server_cache, &spec, &ended).await });
    let ready = workspace.workspace.join("ready");
    assert!(support::soon(|| ready.exists()).await);
    assert_eq!(fs::read_to_string(ready).unwrap(), answer(&workspace));
    // The server still listens, in the network of the first call.
    assert_eq!(heard(&workspace, &cache, off).await, "");
    cancel.cancel();
}

/// Three attempts, none of them on the loopback.
const ATTEMPTS: &str = "for i in 1 2 3; do echo >/dev/tcp/192.0.2.$i/80; done";

async fn refused(cache: &ShellCache, spec: &RunSpec) -> Option<u64> {
    let ran = run_in(cache, spec).await;
    ran.outcome.sandbox.unwrap().network_refused
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_to_reach_a_network_that_is_not_there_are_counted() {
    let workspace = TestWorkspace::new();
    let cache = cache();
    for network in [Network::Off, Network::Loopback] {
        let plan = Plan {
            network,
            ..plan(&workspace)
        };
        let counted =
            async |script| refused(&cache, &sandboxed(&workspace, script, plan.clone())).await;
        assert_eq!(counted(ATTEMPTS).await, Some(3), "{network}");
        assert_eq!(counted("true").await, Some(0), "{network}");
        // No process listens there, but the address is their own.
        assert_eq!(
            counted("echo >/dev/tcp/127.0.0.1/9").await,
            Some(0),
            "{network}"
        );
        // A name lookup by a server of the machine.
        assert_eq!(
            counted("echo >/dev/udp/127.0.0.1/53").await,
            Some(1),
            "{network}"
        );

        let in_session = |script| {
            let name = SessionName(format!("{network}"));
            sandboxed(&workspace, script, plan.clone()).session(name)
        };
        assert_eq!(refused(&cache, &in_session(ATTEMPTS)).await, Some(3));
        assert_eq!(refused(&cache, &in_session("true")).await, Some(0));
    }
    let base = Plan {
        network: Network::Off,
        hosts: Vec::new(),
        tier: Tier::Base,
        ..plan(&workspace)
    };
    let host = Plan {
        network: Network::On,
        ..plan(&workspace)
    };
    for plan in [base, host] {
        assert_eq!(
            refused(&cache, &sandboxed(&workspace, "true", plan)).await,
            None
        );
    }
}
