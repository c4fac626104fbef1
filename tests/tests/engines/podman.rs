//! Over `podman exec`, into a container that has bash and busybox: checks for leftovers in the
//! container after a local process is killed.

use crate::Test;
use agent_bash_tests::targets::running::{ENDING, SOON, client_of, signal};
use agent_bash_tests::targets::{self, NAME, Podman, command, on};
use agent_bash_tests::world::World;
use agent_bash_tests::{poll, product};
use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;
use std::process::{Child, Stdio};

/// The tests.
pub(crate) const TESTS: &[Test] = &[(
    "runs it in a container and leaves nothing there",
    in_a_container,
)];

/// Starts a container, and checks that podman alone can run commands in it. Some machines have
/// podman, but not the control groups that it needs.
fn usable() -> Result<Podman> {
    let container = Podman::start()?;
    let mut last = None;
    poll::until(SOON, || {
        let ran = container.run(&["true"]);
        last = ran.as_ref().err().map(|error| format!("{error:#}"));
        ran.ok()
    })
    .with_context(|| format!("podman runs no command in its container: {last:?}"))?;
    Ok(container)
}

#[expect(clippy::print_stderr, reason = "for the reader of the test's output")]
fn in_a_container() -> Result<()> {
    let container = match usable() {
        Ok(container) => container,
        Err(why) => {
            let test = targets::not_run("podman", &format!("{why:#}"));
            eprintln!("{test}");
            return targets::may_be_skipped("podman");
        }
    };
    let world = World::new()?;
    container.add_target(&world)?;
    run_in_container(&container, &world)?;

    let mut host = running(&container, &world, "4001")?;
    host.kill()?;
    host.wait()?;
    ensure!(ended(&container, "4001"), "left by a killed host");

    let host = running(&container, &world, "4002")?;
    signal(client_of(host.id(), "podman")?, Signal::KILL)?;
    let lost = product::CommandResult::from(host.wait_with_output()?);
    let result: Value = serde_json::from_str(&lost.stdout).with_context(|| format!("{lost:?}"))?;
    ensure!(result["status"]["kind"] == "lost", "{result}");
    ensure!(result["status"]["may_have_run"] == true, "{result}");
    ensure!(ended(&container, "4002"), "left by a killed podman");

    // Control: the same deadline for a process that podman alone runs.
    let mut plain = container.command(&["exec", "--interactive", &container.id, "sleep", "4003"]);
    let mut plain = plain.stdin(Stdio::piped()).spawn()?;
    ensure!(begun(&container, "4003"), "it was not started");
    plain.kill()?;
    plain.wait()?;
    ensure!(!ended(&container, "4003"), "podman ends it by itself");

    drop(container);
    world.assert_nothing_left(SOON);
    Ok(())
}

fn run_in_container(container: &Podman, world: &World) -> Result<()> {
    let first = on(world, &["run", "echo $BASH_VERSION; exit 3"])?;
    ensure!(first.code == 3 && first.stdout.contains('.'), "{first:?}");
    let long = on(world, &["run", "--json", "seq 50000"])?;
    let long: Value = serde_json::from_str(&long.stdout)?;
    let path = long["artifacts"][0]["path"].as_str().context("a path")?;
    let lines = container.run(&["sh", "-c", &format!("wc -l < {path}")])?;
    ensure!(lines == "50000", "{lines}");
    std::fs::write(world.cwd().join("file"), "over")?;
    let mut copy = world.command(product::agent_bash()?);
    copy.args(["cp", "file", &format!("{NAME}:/tmp/")]);
    let copied = product::run(copy, None)?;
    ensure!(copied.code == 0, "{copied:?}");
    ensure!(container.run(&["cat", "/tmp/file"])? == "over");
    Ok(())
}

/// A remote call that sleeps for this time.
fn running(container: &Podman, world: &World, seconds: &str) -> Result<Child> {
    let mut host = command(world, &["run", "--json", &format!("sleep {seconds}; true")])?;
    let host = host.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    ensure!(begun(container, seconds), "it does not begin");
    Ok(host)
}

/// True if a process sleeps for this time in the container; `None` if that is unknown.
fn sleeps(container: &Podman, seconds: &str) -> Option<bool> {
    let lines = container.run(&["ps", "-o", "args"]).ok()?;
    let wanted = format!("sleep {seconds}");
    Some(lines.lines().any(|line| line.trim() == wanted))
}

fn begun(container: &Podman, seconds: &str) -> bool {
    poll::until(SOON, || sleeps(container, seconds)?.then_some(())).is_some()
}

fn ended(container: &Podman, seconds: &str) -> bool {
    poll::until(ENDING, || (!sleeps(container, seconds)?).then_some(())).is_some()
}
