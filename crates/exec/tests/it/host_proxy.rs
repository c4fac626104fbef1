//! Sandboxes with a list of hosts: a proxy of the host connects to these, and to no others.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::{self, cache, run_in, run_with, spec};
use agent_bash_core::changes::Overlay;
use agent_bash_core::sandbox::{Network, Plan, RefusedHost, Tier};
use agent_bash_core::{Cancel, RunSpec, SessionName};
use agent_bash_exec::ShellCache;
use agent_bash_test_kit::test_workspace::TestWorkspace;
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::sync::Arc;

/// Starts a server on the host's loopback that sends one line to each client. Returns its address.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let _ = client.and_then(|mut client| client.write_all(b"answered\n"));
        }
    });
    address
}

fn plan(workspace: &TestWorkspace, hosts: &[&str]) -> Plan {
    Plan {
        network: Network::Hosts,
        hosts: hosts.iter().map(|&host| host.to_owned()).collect(),
        tier: Tier::Full,
        ..workspace.plan()
    }
}

/// Bash's text for a connection to the proxy of the environment.
const CONNECT: &str = "proxy=${HTTPS_PROXY#http://}; exec 5<>/dev/tcp/${proxy%:*}/${proxy#*:}";

/// Bash's text for a tunnel through the proxy of the environment. Prints what comes back.
fn tunnel(target: &str) -> String {
    format!("{CONNECT}; printf 'CONNECT {target} HTTP/1.1\\r\\n\\r\\n' >&5; cat <&5")
}

fn sandboxed(workspace: &TestWorkspace, script: &str, plan: Plan) -> RunSpec {
    let spec = spec(script).cwd(workspace.workspace.clone());
    spec.sandbox(Arc::new(plan))
}

/// Returns the output of a call, and the refused targets.
async fn run(cache: &ShellCache, spec: &RunSpec) -> (String, Vec<RefusedHost>) {
    let ran = run_in(cache, spec).await;
    let sandbox = ran.outcome.sandbox.unwrap();
    (ran.out, sandbox.refused_hosts)
}

fn refused(host: &str, count: u64) -> Vec<RefusedHost> {
    vec![RefusedHost {
        host: host.to_owned(),
        count,
        secret: None,
    }]
}

#[tokio::test(flavor = "multi_thread")]
async fn listed_host_is_reached_and_other_hosts_are_refused_and_counted() {
    let workspace = TestWorkspace::new();
    let cache = cache();
    let (listed, other) = (server(), server());
    let plan = plan(&workspace, &[&listed]);
    let (out, none) = run(
        &cache,
        &sandboxed(&workspace, &tunnel(&listed), plan.clone()),
    )
    .await;
    assert!(out.ends_with("\r\n\r\nanswered\n"), "{out}");
    assert_eq!(none, []);
    let script = format!("{}; {}", tunnel(&other), tunnel(&other));
    let (out, counted) = run(&cache, &sandboxed(&workspace, &script, plan.clone())).await;
    assert!(out.contains("403 Not allowed") && !out.contains("answered"));
    assert_eq!(counted, refused(&other, 2));
    // Neither server is reached without the proxy.
    for address in [&listed, &other] {
        let direct = format!("cat </dev/tcp/{}", address.replace(':', "/"));
        let (out, none) = run(&cache, &sandboxed(&workspace, &direct, plan.clone())).await;
        assert_eq!((out.as_str(), none), ("", Vec::new()));
    }
    // Without a list, the same address of the environment leads nowhere.
    let off = Plan {
        network: Network::Loopback,
        hosts: Vec::new(),
        ..plan
    };
    let script = format!("HTTPS_PROXY=http://127.0.0.1:31280; {}", tunnel(&listed));
    let (out, _) = run(&cache, &sandboxed(&workspace, &script, off)).await;
    assert_eq!(out, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_share_a_network_and_its_proxy_only_with_equal_lists() {
    let workspace = TestWorkspace::new();
    let cache = cache();
    let (one, two) = (server(), server());
    let network = "; readlink /proc/self/ns/net";
    let mut networks = Vec::new();
    for hosts in [
        vec![one.as_str()],
        vec![two.as_str()],
        vec![&one, &two],
        vec![&one],
    ] {
        let script = format!("({}); ({}){network}", tunnel(&one), tunnel(&two));
        let (out, _) = run(
            &cache,
            &sandboxed(&workspace, &script, plan(&workspace, &hosts)),
        )
        .await;
        assert_eq!(out.matches("answered").count(), hosts.len(), "{hosts:?}");
        networks.push(out.lines().last().unwrap().to_owned());
    }
    assert_eq!(networks[0], networks[3]);
    networks.truncate(3);
    networks.sort_unstable();
    networks.dedup();
    assert_eq!(networks.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn session_reaches_listed_hosts_and_counts_the_refusals_of_each_call() {
    let workspace = TestWorkspace::new();
    let cache = cache();
    let (listed, other) = (server(), server());
    let in_session = |target: &str| {
        let script = format!("({})", tunnel(target));
        let spec = sandboxed(&workspace, &script, plan(&workspace, &[&listed]));
        spec.session(SessionName("s".into()))
    };
    let (_, counted) = run(&cache, &in_session(&other)).await;
    assert_eq!(counted, refused(&other, 1));
    let (out, counted) = run(&cache, &in_session(&listed)).await;
    assert!(out.ends_with("answered\n"), "{out}");
    assert_eq!(counted, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn trial_reaches_listed_hosts_in_a_network_of_its_own() {
    let workspace = TestWorkspace::new();
    let cache = cache();
    let listed = server();
    let held = tempfile::tempdir().unwrap();
    let [upper, work] = ["upper", "work"].map(|name| held.path().join(name));
    for directory in [&upper, &work] {
        fs::create_dir(directory).unwrap();
    }
    let script = format!("{}; readlink /proc/self/ns/net", tunnel(&listed));
    let call = sandboxed(&workspace, &script, plan(&workspace, &[&listed]));
    let trial = call.clone().trial(Arc::new(Overlay {
        root: workspace.workspace.clone(),
        upper,
        work,
    }));
    // The call's network remains for the next call. The kernel gives the number of a network that
    // has ended to another one.
    let (out, _) = run(&cache, &call).await;
    let (held_back, _) = run(&cache, &trial).await;
    assert!(held_back.contains("answered\n"), "{held_back}");
    assert_ne!(held_back.lines().last(), out.lines().last());
}

#[tokio::test(flavor = "multi_thread")]
async fn proxy_ends_with_its_host() {
    let workspace = TestWorkspace::new();
    let listed = server();
    let cache = cache();
    // The process survives its call, and so the host. The proxy ends in a thread of its own, so
    // the kernel may still accept connections for a moment. The process sends nothing by these
    // connections: SIGPIPE would end it.
    let script = format!(
        "setsid bash -c '({}) >reached; touch started; until test -e go; do sleep 0.05; done; \
         while test -e go && ({CONNECT}); do sleep 0.05; done; touch ended' >out 2>&1 &",
        tunnel(&listed).replace('\'', "\"")
    );
    run(
        &cache,
        &sandboxed(&workspace, &script, plan(&workspace, &[&listed])),
    )
    .await;
    let exists = |name: &str| workspace.workspace.join(name).exists();
    let text = |name: &str| fs::read_to_string(workspace.workspace.join(name)).unwrap();
    assert!(support::soon(|| exists("started")).await);
    assert!(text("reached").ends_with("answered\n"), "{}", text("out"));
    drop(cache);
    fs::write(workspace.workspace.join("go"), "").unwrap();
    assert!(support::soon(|| exists("ended")).await);
    let out = text("out");
    let is_refused = out.contains("Connection refused") || out.contains("Connection reset");
    assert!(is_refused, "{out}");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_list_starts_nothing() {
    let workspace = TestWorkspace::new();
    let spec = sandboxed(&workspace, "touch started", plan(&workspace, &["no host"]));
    let error = run_with(&cache(), &spec, &Cancel::new()).await.unwrap_err();
    assert!(
        error.to_string().contains("`no host` is no host"),
        "{error}"
    );
    assert!(!workspace.workspace.join("started").exists());
}
