//! Many requests at once and in a row, clients that read nothing, clients that die.

use super::{SOON, assert_nothing_left, data, exists, server, world};
use agent_bash_tests::world::World;
use agent_bash_tests::{poll, procfs, product};
use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Child, Stdio};
use std::time::Duration;

#[test]
fn two_hundred_calls_are_in_flight_and_too_many_are_refused() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    for id in 0..300 {
        let script = format!("until test -e go; do sleep 0.2; done; echo {id}");
        server.send(&json!({"id": id, "type": "tool_call", "request": script}))?;
    }
    // 44 of them are too many, and said so at once.
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
    assert_nothing_left(world);
    Ok(())
}

/// Resident memory of a process, in KiB.
fn resident(pid: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.context("the kernel says how much")?.parse()?)
}

#[test]
fn calls_in_a_row_leave_no_memory_behind() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    let mut run = |count: u64| -> Result<u64> {
        for _ in 0..count {
            let result = data(&mut server, json!({"type": "tool_call", "request": "true"}))?;
            ensure!(
                result["status"] == json!({"kind": "exited", "code": 0}),
                "{result}"
            );
        }
        resident(server.pid())
    };
    let warm = run(200)?;
    let after = run(800)?;
    assert!(
        after < warm + 8 * 1024,
        "{warm} KiB, after 800 more {after} KiB"
    );
    drop(server);
    assert_nothing_left(world);
    Ok(())
}

/// A server whose client is ours alone: nothing reads what it says.
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
fn a_client_that_never_reads_costs_bounded_memory_and_can_be_left() -> Result<()> {
    let world = world()?;
    let mut child = unread(&world)?;
    let mut input = child.stdin.take().context("stdin is piped")?;
    // Each answer has 50 KB, so a few hundred fill every queue; then nothing more is read, and this write waits.
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
    let full = poll::until(SOON, || {
        let first = resident(child.id()).ok()?;
        let grows = poll::until(Duration::from_secs(2), || {
            (resident(child.id()).ok()? > first + 1024).then_some(())
        });
        grows.is_none().then_some(first)
    });
    let full = full.context("its memory does not come to rest")?;
    assert!(full < 200 * 1024, "{full} KiB");
    assert!(
        !writer.is_finished(),
        "all was read although nothing is written"
    );
    let pid = Pid::from_child(&child);
    rustix::process::kill_process(pid, Signal::TERM)?;
    let ended = poll::until(SOON, || child.try_wait().ok().flatten());
    assert!(ended.context("it does not end")?.success());
    drop(child);
    drop(writer.join());
    assert_nothing_left(world);
    Ok(())
}

#[test]
fn a_client_that_dies_takes_its_commands_along() -> Result<()> {
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
        exists(&world.cwd().join("started"))?;
        // Both ends go at once, as when a client is killed.
        drop(child.stdout.take());
    }
    let ended = poll::until(SOON, || child.try_wait().ok().flatten());
    assert!(ended.is_some(), "it goes on without a client");
    assert!(
        procfs::processes()
            .iter()
            .all(|process| !process.environment_has(&world.mark()))
    );
    assert_nothing_left(world);
    Ok(())
}
