//! The real `kubectl exec`, against a server that simulates a pod without a kubelet.

mod cluster;
mod exec;

use crate::Test;
use agent_bash_tests::product;
use agent_bash_tests::targets::running::{
    ENDING, SOON, has_ended, is_alive, set_lease, start_call,
};
use agent_bash_tests::targets::{kube, on};
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use cluster::{Cluster, ConnectionEvent, InputMode};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// The tests.
pub(crate) const TESTS: &[Test] = &[
    ("runs it in a pod", in_a_pod),
    ("hands the end of the input on", half_closed),
    ("that carries nothing more is a lost call", frozen),
    (
        "that says exit 0 in the middle is a lost call",
        false_success,
    ),
];

/// The shortest lease.
const LEASE: Duration = Duration::from_secs(25);

/// Returns why kubectl is missing. On CI it must exist.
#[expect(
    clippy::disallowed_methods,
    reason = "a test program is a user of its own environment"
)]
pub(crate) fn cannot_run() -> Option<String> {
    let why = kubectl().err()?;
    let on_ci = std::env::var_os("CI").is_some();
    (!on_ci).then(|| format!("{why:#}"))
}

fn kubectl() -> Result<PathBuf> {
    kube::kubectl(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

/// A world with the pod as its target; the pod is in that world, too. The program is stored next to
/// kubectl, so that only one test uploads it.
fn pod(input_mode: InputMode) -> Result<(World, Cluster)> {
    let world = World::new()?;
    let cluster = Cluster::start(&world, input_mode)?;
    kube::add_target(&world, &kubectl()?, &cluster.url())?;
    Ok((world, cluster))
}

/// Runs `kubectl` alone with these arguments in the pod.
fn alone(world: &World, pod: &str, words: &[&str]) -> Result<product::CommandResult> {
    let mut command = world.command("kubectl");
    command
        .args(["exec", "-i", "-q", "-n", kube::NAMESPACE, pod, "--"])
        .args(words);
    product::run(command, None)
}

fn in_a_pod() -> Result<()> {
    let (world, cluster) = pod(InputMode::Faithful)?;
    // Kubectl exits with the code that the server sends at the end.
    let plain = alone(
        &world,
        kube::POD,
        &["sh", "-c", "echo out; echo err >&2; exit 7"],
    )?;
    ensure!(plain.code == 7 && plain.stdout == "out\n", "{plain:?}");
    ensure!(plain.stderr.starts_with("err\n"), "{plain:?}");

    let first = on(&world, &["run", "cat; pwd; exit 3"])?;
    let cwd = world.cwd().display().to_string();
    ensure!(
        first.code == 3 && first.stdout.starts_with(&cwd),
        "{first:?}"
    );
    let killed = on(&world, &["run", "kill -TERM $$"])?;
    ensure!(killed.code == 128 + 15, "{killed:?}");
    let long = on(&world, &["run", "seq 50000 | tail -n 1"])?;
    ensure!(long.code == 0 && long.stdout.contains("50000"), "{long:?}");

    // A pod that does not exist.
    let config = world.home().join(".config/agent-bash/config.toml");
    let text = std::fs::read_to_string(&config)?;
    let to = format!("{}/{}", kube::NAMESPACE, kube::POD);
    std::fs::write(&config, text.replace(&to, "ns/missing"))?;
    let missing = on(&world, &["run", "touch ran"])?;
    ensure!(missing.code == 125, "{missing:?}");
    ensure!(
        missing.stdout.contains("pods \"missing\" not found"),
        "{missing:?}"
    );
    ensure!(!world.cwd().join("ran").exists());
    drop(cluster);
    world.assert_nothing_left(SOON);
    Ok(())
}

fn half_closed() -> Result<()> {
    let (world, cluster) = pod(InputMode::Faithful)?;
    let ran = on(&world, &["run", "exit 4"])?;
    ensure!(ran.code == 4, "{ran:?}");
    // The worker has exited without a signal, and kubectl with it.
    let events = cluster.events_until(SOON, |events| {
        events.last() == Some(&ConnectionEvent::Ended(0))
    });
    ensure!(
        events == [ConnectionEvent::EndOfInput, ConnectionEvent::Ended(0)],
        "{events:?}"
    );
    drop(cluster);
    world.assert_nothing_left(SOON);

    // Control: a server of the protocol's earlier version, which cannot signal the end of input.
    let (world, cluster) = pod(InputMode::KnowsNoEndOfInput)?;
    set_lease(&world, "25s")?;
    let ran = on(&world, &["run", "exit 4"])?;
    ensure!(ran.code == 4, "{ran:?}");
    let events = cluster.events_until(SOON, |events| {
        events.last() == Some(&ConnectionEvent::Disconnected)
    });
    ensure!(
        events == [ConnectionEvent::EndOfInput, ConnectionEvent::Disconnected],
        "{events:?}"
    );
    // Only the lease ends the worker.
    let there = cluster.started().context("it was started")?;
    ensure!(is_alive(there), "it needs no end of input");
    ensure!(
        has_ended(there, LEASE + ENDING),
        "it lives on after its lease"
    );
    drop(cluster);
    world.assert_nothing_left(SOON);
    Ok(())
}

fn frozen() -> Result<()> {
    let (world, cluster) = pod(InputMode::Faithful)?;
    let (host, shell) = start_call(&world, "600s")?;
    cluster.freeze();
    let ended = product::CommandResult::from(host.wait_with_output()?);
    ensure!(ended.code == 70, "{ended:?}");
    lost(&ended)?;
    ensure!(
        ended.stdout.contains("the target sent nothing for"),
        "{ended:?}"
    );
    ensure!(has_ended(shell, ENDING), "the call goes on");
    drop(cluster);
    world.assert_nothing_left(SOON);
    Ok(())
}

fn lost(ended: &product::CommandResult) -> Result<()> {
    let result: Value =
        serde_json::from_str(&ended.stdout).with_context(|| format!("{ended:?}"))?;
    ensure!(result["status"]["kind"] == "lost", "{result}");
    ensure!(result["status"]["may_have_run"] == true, "{result}");
    Ok(())
}

fn false_success() -> Result<()> {
    let (world, cluster) = pod(InputMode::Faithful)?;
    let (host, shell) = start_call(&world, "60s")?;
    cluster.report_success();
    let ended = product::CommandResult::from(host.wait_with_output()?);
    ensure!(ended.code == 70, "{ended:?}");
    lost(&ended)?;
    ensure!(has_ended(shell, ENDING), "the call goes on");

    // Control: kubectl believes the server.
    let mut plain = world.command("kubectl");
    plain.args([
        "exec",
        "-i",
        "-q",
        "-n",
        kube::NAMESPACE,
        kube::POD,
        "--",
        "sh",
        "-c",
        "touch begun; sleep 600",
    ]);
    let plain = plain
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    agent_bash_tests::poll::exists(&world.cwd().join("begun"), SOON)?;
    cluster.report_success();
    let plain = product::CommandResult::from(plain.wait_with_output()?);
    ensure!(plain.code == 0, "{plain:?}");
    drop(cluster);
    world.sweep();
    world.assert_nothing_left(SOON);
    Ok(())
}
