//! Many concurrent requests, clients that do not read, clients that die. For many sequential
//! requests see `soak.rs`.

use super::{SOON, server, world};
use agent_bash_tests::world::World;
use agent_bash_tests::{poll, procfs, product, unread};
use anyhow::{Context, Result};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Child, Stdio};

#[test]
fn two_hundred_calls_are_in_flight_and_too_many_are_refused() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    for id in 0..300 {
        let script = format!("until test -e go; do sleep 0.2; done; echo {id}");
        server.send(&json!({"id": id, "type": "tool_call", "request": script}))?;
    }
    // 44 of the calls exceed the limit and are refused at once.
    for _ in 0..44 {
        let refusal = server.next(SOON)?;
        assert_eq!(refusal["success"], false, "{refusal}");
        assert!(
            refusal["error"]
                .as_str()
                .unwrap_or_default()
                .contains("256 requests are in flight")
        );
    }
    std::fs::write(world.cwd().join("go"), "")?;
    let mut answered = BTreeSet::new();
    for _ in 0..256 {
        let response = server.next(SOON)?;
        let id = response["id"].as_u64().context("an id")?;
        assert_eq!(response["data"]["text"], format!("{id}\n"));
        answered.insert(id);
    }
    assert_eq!(answered, (0..256).collect());
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

/// A server with a client that never reads.
fn unread(world: &World) -> Result<Child> {
    let mut command = world.command(product::agent_bash()?);
    command
        .arg("rpc")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    Ok(command.spawn()?)
}

#[test]
fn server_with_unreading_client_bounds_memory_and_exits() -> Result<()> {
    let world = world()?;
    let mut child = unread(&world)?;
    let mut input = child.stdin.take().context("stdin is piped")?;
    // Each answer has 50 KB, so a few hundred fill all queues; then the server stops reading, and
    // this write blocks.
    let writer = std::thread::spawn(move || {
        let line = format!(
            "{}\n",
            json!({"type": "tool_call", "request": "seq 8000", "stream": true})
        );
        for _ in 0..20_000 {
            if input.write_all(line.as_bytes()).is_err() {
                break;
            }
        }
        input
    });
    unread::assert_memory_stable_and_end(child, writer, 200 * 1024, SOON)?;
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn killed_client_ends_its_commands() -> Result<()> {
    let world = world()?;
    let mut child = unread(&world)?;
    {
        let mut input = child.stdin.take().context("stdin is piped")?;
        let script = "touch started; misbehave ignore-term & setsid misbehave linger & sleep 60";
        writeln!(
            input,
            "{}",
            json!({"type": "tool_call", "request": script, "stream": true})
        )?;
        poll::exists(&world.cwd().join("started"), SOON)?;
        // Both ends at once, as when a client is killed.
        drop(child.stdout.take());
    }
    let ended = poll::until(SOON, || child.try_wait().ok().flatten());
    assert!(ended.is_some(), "it goes on without a client");
    // A supervisor that was just being started in advance notices by itself that its host has
    // exited; checked below.
    let is_command = |process: &procfs::Process| {
        process.environment_has(&world.mark()) && process.command != "agent-bash-supervisor"
    };
    assert!(!procfs::processes().iter().any(is_command));
    world.assert_nothing_left(SOON);
    Ok(())
}
