//! Over `docker exec`, into a container that has bash and busybox. Its first process reaps no
//! orphans.

use crate::Test;
use agent_bash_tests::conformance::shake_hands;
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::targets::running::SOON;
use agent_bash_tests::targets::{Docker, NAME, command, on};
use agent_bash_tests::world::World;
use agent_bash_tests::{poll, product};
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::sync::Arc;

/// The tests.
pub(crate) const TESTS: &[Test] = &[(
    "runs it in a container of bash and leaves no zombie",
    in_a_container,
)];

fn in_a_container() -> Result<()> {
    let engine = Arc::new(Docker::start()?);
    let container = engine.with_bash_only()?;
    let world = World::new()?;
    container.add_target(&world, None, None)?;

    let first = on(&world, &["run", "echo $BASH_VERSION; exit 3"])?;
    assert_eq!(first.code, 3, "{first:?}");
    let long = on(&world, &["run", "--json", "seq 50000"])?;
    let long: serde_json::Value = serde_json::from_str(&long.stdout)?;
    let path = long["artifacts"][0]["path"].as_str().context("a path")?;
    // The container has a path of that name, which succeeds for the next command.
    let lines = on(&world, &["run", &format!("wc -l < {path}")])?;
    assert_eq!(lines.stdout.trim(), "50000", "{lines:?}");
    let sent = {
        std::fs::write(world.cwd().join("file"), "over")?;
        let mut command = world.command(product::agent_bash()?);
        command.args(["cp", "file", &format!("{NAME}:/tmp/")]);
        product::run(command, None)?
    };
    assert_eq!(sent.code, 0, "{sent:?}");
    assert_eq!(container.run(&["cat", "/tmp/file"])?, "over");

    // A process that outlives its call and its host.
    let left = on(&world, &["run", "sleep 3 > /dev/null 2>&1 &"])?;
    assert_eq!(left.code, 0, "{left:?}");
    let job = on(&world, &["run", "--mode", "background", "sleep 3"])?;
    assert_eq!(job.code, 0, "{job:?}");
    let alone = poll::until(SOON, || {
        let printed = container.run(&["cat", "/proc/[0-9]*/stat"]);
        let printed = printed.or_else(|_| container.run(&["sh", "-c", "cat /proc/[0-9]*/stat"]));
        // PID 1, the shell of this check, and its `cat`.
        printed
            .ok()
            .filter(|printed| !printed.contains("agent-bash") && !printed.contains("(sleep) Z"))
            .filter(|printed| printed.lines().count() <= 3)
    });
    ensure!(alone.is_some(), "left there: {:?}", container.run(&["ps"]));
    by_mcp(&world)?;
    behind_a_banner(&world)?;
    drop(container);
    world.assert_nothing_left(SOON);
    Ok(())
}

/// Text that the connection prints first is not taken for the bootstrap script's, even in the
/// script's words: the script marks its lines with a nonce.
fn behind_a_banner(world: &World) -> Result<()> {
    let docker = world.home().join("docker-itself");
    std::fs::rename(world.program("docker"), &docker)?;
    let docker = docker.display();
    let banner = "printf 'welcome\\nneed\\n0123456789abcdef run\\nno newline '";
    world.script("docker", &format!("{banner}; exec {docker} \"$@\"\n"))?;
    let ran = on(world, &["run", "exit 6"])?;
    ensure!(ran.code == 6, "{ran:?}");
    // Control: the same words without the nonce.
    let without = "sed -u 's/^[0-9a-f]* run$/run/'";
    world.script("docker", &format!("{docker} \"$@\" | {without}\n"))?;
    let ran = on(world, &["run", "exit 6"])?;
    ensure!(ran.code == 125, "{ran:?}");
    ensure!(ran.stdout.contains("was not reached"), "{ran:?}");
    Ok(())
}

/// A client of the Model Context Protocol uses the container like the local machine.
fn by_mcp(world: &World) -> Result<()> {
    let mut server = ServerClient::start(command(world, &["mcp"])?)?;
    shake_hands(&mut server)?;
    let mut call = |script: &str| -> Result<serde_json::Value> {
        let id = server.new_id();
        server.send(&json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "bash", "arguments": {"command": script}},
        }))?;
        let answer = server.next_where(SOON, |line| line["id"] == id)?;
        Ok(answer["result"].clone())
    };
    let printed = call("cat /etc/passwd; exit 9")?;
    let text = printed["content"][0]["text"].as_str().unwrap_or_default();
    ensure!(text.contains("root:x:0:0:root:/root:/bin/sh"), "{printed}");
    ensure!(printed["isError"] == true, "{printed}");
    Ok(())
}
