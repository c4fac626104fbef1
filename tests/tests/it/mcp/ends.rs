//! The ends of calls, and leftovers after client or server disconnects.

use super::{SOON, begin, call, server, text, world};
use agent_bash_tests::{poll, product, unread};
use anyhow::{Context, Result};
use rustix::process::{Pid, Signal};
use serde_json::json;
use std::io::Write as _;
use std::process::Stdio;

#[test]
fn cancelled_request_ends_only_its_command() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "0")?;
    let script = "touch started; misbehave ignore-term & setsid misbehave linger & sleep 60";
    let id = begin(
        &mut server,
        "tools/call",
        &json!({"name": "bash", "arguments": {"command": script}}),
    )?;
    poll::exists(&world.cwd().join("started"), SOON)?;
    let other = begin(
        &mut server,
        "tools/call",
        &json!({"name": "bash", "arguments": {"command": "until test -e go; do sleep 0.01; done; echo other"}}),
    )?;
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}))?;
    let gone = poll::until(SOON, || {
        let there = agent_bash_tests::procfs::processes();
        let helper = there.iter().any(|process| {
            process.is_alive()
                && process.command.contains("misbehave")
                && process.environment_has(&world.mark())
        });
        (!helper).then_some(())
    });
    assert!(gone.is_some(), "its processes live on");
    std::fs::write(world.cwd().join("go"), "")?;
    // The next answer belongs to the other request: a cancelled request gets none.
    let next = server.next_where(SOON, |line| line.get("id").is_some())?;
    assert_eq!(
        (&next["id"], text(&next["result"])),
        (&json!(other), "other\n")
    );
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn end_of_input_or_signal_ends_server_but_not_jobs() -> Result<()> {
    for by_signal in [false, true] {
        let world = world()?;
        let mut first = server(&world, "0")?;
        let job = call(
            &mut first,
            "bash",
            &json!({"command": "sleep 1000", "mode": "background"}),
        )?;
        let job = job["structuredContent"]["status"]["job"].clone();
        let script = "touch started; misbehave ignore-term & sleep 60";
        let id = begin(
            &mut first,
            "tools/call",
            &json!({"name": "bash", "arguments": {"command": script}}),
        )?;
        poll::exists(&world.cwd().join("started"), SOON)?;
        if by_signal {
            let pid = Pid::from_raw(i32::try_from(first.pid())?).context("a pid")?;
            rustix::process::kill_process(pid, Signal::TERM)?;
        }
        let ended = first.end()?;
        assert!(ended.status.success(), "{ended:?}");
        let answer = ended.rest.iter().find(|line| line["id"] == id);
        let answer = answer.context("what runs is answered at the end")?;
        assert_eq!(
            answer["result"]["structuredContent"]["status"]["kind"],
            "cancelled"
        );
        let mut second = server(&world, "0")?;
        let jobs = call(&mut second, "bash_jobs", &json!({}))?;
        assert_eq!(
            jobs["structuredContent"]["jobs"][0]["state"]["kind"], "running",
            "{jobs}"
        );
        let killed = call(&mut second, "bash_kill", &json!({"job": job}))?;
        assert_eq!(
            text(&killed),
            format!(
                "Job {} was ended by SIGTERM.",
                job.as_str().unwrap_or_default()
            )
        );
        drop(second);
        world.assert_nothing_left(SOON);
    }
    Ok(())
}

#[test]
fn server_with_unreading_client_bounds_memory_and_exits() -> Result<()> {
    let world = world()?;
    let mut command = world.command(product::agent_bash()?);
    command
        .arg("mcp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn()?;
    let mut input = child.stdin.take().context("stdin is piped")?;
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    writeln!(input, "{hello}\n{initialized}")?;
    let writer = std::thread::spawn(move || {
        for id in 1..20_000 {
            let line = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
                "params": {"name": "bash", "arguments": {"command": "seq 8000"}}});
            if writeln!(input, "{line}").is_err() {
                break;
            }
        }
        input
    });
    unread::assert_memory_stable_and_end(child, writer, 300 * 1024, SOON)?;
    world.assert_nothing_left(SOON);
    Ok(())
}
