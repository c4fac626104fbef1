//! `agent-bash mcp`, line by line: what a well-meant client library does not do, and what is left when one of the two goes
//! away. The official Python SDK talks to it in `clients.rs`.

use agent_bash_tests::conformance::shake_hands;
use agent_bash_tests::conversation::Conversation;
use agent_bash_tests::world::World;
use agent_bash_tests::{poll, product};
use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// What a slow machine may take.
const SOON: Duration = Duration::from_secs(60);

fn world() -> Result<World> {
    World::new()?.with_program(Path::new(env!("CARGO_BIN_EXE_misbehave")))
}

/// A server that gives handles after `handle_after`, with the handshake done.
fn server(world: &World, handle_after: &str) -> Result<Conversation> {
    let mut command = world.command(product::agent_bash()?);
    command
        .arg("mcp")
        .env("AGENT_BASH_MCP_HANDLE_AFTER", handle_after);
    let mut server = Conversation::start(command)?;
    shake_hands(&mut server)?;
    Ok(server)
}

fn begin(server: &mut Conversation, method: &str, params: &Value) -> Result<u64> {
    let id = server.new_id();
    server.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
    Ok(id)
}

fn ask(server: &mut Conversation, method: &str, params: &Value) -> Result<Value> {
    let id = begin(server, method, params)?;
    server.next_where(SOON, |line| line["id"] == id)
}

fn call(server: &mut Conversation, tool: &str, arguments: &Value) -> Result<Value> {
    let params = json!({"name": tool, "arguments": arguments});
    let response = ask(server, "tools/call", &params)?;
    ensure!(response["result"].is_object(), "{response}");
    Ok(response["result"].clone())
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

fn exists(path: &Path) -> Result<()> {
    let there = poll::until(SOON, || path.exists().then_some(()));
    there.with_context(|| format!("{} was not made", path.display()))
}

fn assert_nothing_left(world: World) {
    let left = world.end(SOON);
    assert!(left.is_empty(), "left behind:\n{left}");
}

#[test]
fn versions_are_negotiated_and_the_server_says_who_it_is() -> Result<()> {
    let world = world()?;
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut command = world.command(product::agent_bash()?);
        command.arg("mcp");
        let mut server = Conversation::start(command)?;
        let hello = json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let answer = ask(&mut server, "initialize", &hello)?;
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], given, "{answer}");
        assert_eq!(result["serverInfo"]["name"], "agent-bash");
        for capability in ["tools", "resources", "logging"] {
            assert!(result["capabilities"][capability].is_object(), "{answer}");
        }
        let instructions = result["instructions"].as_str().unwrap_or_default();
        for tool in ["bash_output", "bash_kill", "read_artifact"] {
            assert!(instructions.contains(tool), "{instructions}");
        }
    }
    assert_nothing_left(world);
    Ok(())
}

/// The version of 2026-07-28 has no handshake: every request says who asks.
#[test]
fn a_client_without_a_handshake_calls_is_told_of_progress_and_calls_off() -> Result<()> {
    let world = world()?;
    let mut command = world.command(product::agent_bash()?);
    command.arg("mcp");
    let mut server = Conversation::start(command)?;
    let meta = json!({
        "progressToken": "p",
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    });
    let hello = ask(&mut server, "server/discover", &json!({"_meta": meta}))?;
    let versions = hello["result"]["supportedVersions"].as_array();
    assert!(
        versions.is_some_and(|all| all.contains(&json!("2026-07-28"))),
        "{hello}"
    );
    let bash =
        |command: &str| json!({"name": "bash", "arguments": {"command": command}, "_meta": meta});
    let id = begin(&mut server, "tools/call", &bash("echo hello"))?;
    let progress = server.next(SOON)?;
    assert_eq!(
        progress["params"],
        json!({"progressToken": "p", "progress": 6.0, "message": "hello\n"})
    );
    let answer = server.next(SOON)?;
    assert_eq!(
        (&answer["id"], text(&answer["result"])),
        (&json!(id), "hello\n")
    );
    let id = begin(&mut server, "tools/call", &bash("touch started; sleep 60"))?;
    exists(&world.cwd().join("started"))?;
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}))?;
    let gone = poll::until(SOON, || {
        let there = agent_bash_tests::procfs::processes();
        let sleeps = there.iter().any(|process| {
            process.is_alive()
                && process.command.starts_with("sleep 60")
                && process.environment_has(&world.mark())
        });
        (!sleeps).then_some(())
    });
    assert!(gone.is_some(), "it goes on");
    drop(server);
    assert_nothing_left(world);
    Ok(())
}

#[test]
fn each_profile_has_its_tools_and_paged_a_view() -> Result<()> {
    let world = world()?;
    for (profile, reader, argument) in [
        ("standard", "read_artifact", "id"),
        ("modes", "read_artifact", "id"),
        ("paged", "view", "file_path"),
        ("workspace", "read_artifact", "id"),
    ] {
        let mut command = world.command(product::agent_bash()?);
        command.args(["mcp", "--profile", profile]);
        let mut server = Conversation::start(command)?;
        shake_hands(&mut server)?;
        let answer = ask(&mut server, "tools/list", &json!({}))?;
        let tools = answer["result"]["tools"].as_array().context("tools")?;
        let names: Vec<&str> = tools
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        assert_eq!(
            names,
            [
                "bash",
                "bash_output",
                "bash_input",
                "bash_kill",
                "bash_jobs",
                reader
            ]
        );
        assert!(
            tools[5]["inputSchema"]["properties"][argument].is_object(),
            "{}",
            tools[5]
        );
        let mut schema = world.command(product::agent_bash()?);
        schema.args(["schema", "--profile", profile]);
        let schema: Value = serde_json::from_str(&product::run(schema, None)?.stdout)?;
        assert_eq!(tools[0]["description"], schema["description"]);
        assert_eq!(tools[0]["inputSchema"], schema["input_schema"]);
        if profile == "paged" {
            let cut = call(&mut server, "bash", &json!({"command": "seq 5000"}))?;
            let path = cut["structuredContent"]["artifacts"][0]["path"].clone();
            assert!(text(&cut).contains("Use the view tool with offset/limit"));
            let page = call(
                &mut server,
                "view",
                &json!({"file_path": path, "offset": 700, "limit": 2}),
            )?;
            assert_eq!(text(&page).lines().next(), Some("700"), "{page}");
        }
        drop(server);
    }
    assert_nothing_left(world);
    Ok(())
}

#[test]
fn what_is_no_message_is_survived_and_a_bad_call_is_an_answer() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "0")?;
    server.send_bytes(b"garbage\n\n\xff\xfe\n{\"half\": \n")?;
    server.send_bytes(&[b"{\"x\":\"", "x".repeat(9 << 20).as_bytes(), b"\"}\n"].concat())?;
    assert_eq!(ask(&mut server, "ping", &json!({}))?["result"], json!({}));
    let unknown = ask(
        &mut server,
        "tools/call",
        &json!({"name": "sh", "arguments": {}}),
    )?;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    for (tool, arguments, want) in [
        ("bash", json!({}), "`command` is missing"),
        ("bash", json!({"command": "ls", "comand": 1}), "comand"),
        ("bash_output", json!({}), "missing field `job`"),
        ("bash_output", json!({"job": "77"}), "there is no job `77`"),
        (
            "bash_output",
            json!({"job": "call-7"}),
            "there is no job `call-7`",
        ),
        ("bash_kill", json!({"job": 77}), "there is no job `77`"),
        (
            "bash_input",
            json!({"job": "1", "txt": ""}),
            "unknown field `txt`",
        ),
        (
            "read_artifact",
            json!({"id": "artifact://x"}),
            "artifact:// ID must be numeric, got: x",
        ),
        (
            "read_artifact",
            json!({"path": "/etc/passwd"}),
            "neither an artifact nor",
        ),
    ] {
        let answer = call(&mut server, tool, &arguments)?;
        assert_eq!(answer["isError"], true, "{answer}");
        assert!(text(&answer).contains(want), "{answer}");
    }
    let missing = ask(
        &mut server,
        "resources/read",
        &json!({"uri": "artifact://9"}),
    )?;
    assert_eq!(missing["error"]["code"], -32002, "{missing}");
    drop(server);
    assert_nothing_left(world);
    Ok(())
}

#[test]
fn a_call_that_takes_long_goes_on_by_a_handle() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "300ms")?;
    let script = "echo begun; until test -e go; do sleep 0.01; done; echo done; exit 7";
    let answer = call(&mut server, "bash", &json!({"command": script}))?;
    let status = &answer["structuredContent"]["status"];
    assert_eq!(
        (&status["kind"], &status["job"]),
        (&json!("moved_to_background"), &json!("call-1"))
    );
    assert_eq!(answer["isError"], false);
    assert!(
        text(&answer).starts_with(
            "begun\n\n[The command is still running after 300ms and goes on as call-1."
        )
    );
    let pid = i32::try_from(status["pid"].as_u64().context("a pid")?)?;
    let pid = Pid::from_raw(pid).context("not 0")?;
    rustix::process::test_kill_process(pid)?;
    assert_eq!(
        rustix::process::getpgid(Some(pid))?,
        pid,
        "it leads the group that is named"
    );
    let jobs = call(&mut server, "bash_jobs", &json!({}))?;
    assert!(
        text(&jobs).starts_with("call-1  is running  echo begun;"),
        "{jobs}"
    );
    let soon = call(
        &mut server,
        "bash_output",
        &json!({"job": "call-1", "wait": 0.01}),
    )?;
    assert_eq!(text(&soon), "[call-1 is running: 6 bytes so far.]");
    let tail = call(
        &mut server,
        "bash_output",
        &json!({"job": "call-1", "tail": 5}),
    )?;
    assert!(text(&tail).starts_with("begun\n\n["), "{tail}");
    std::fs::write(world.cwd().join("go"), "")?;
    let end = call(
        &mut server,
        "bash_output",
        &json!({"job": "call-1", "wait": 50}),
    )?;
    assert_eq!(text(&end), "begun\ndone\n\nCommand exited with code 7");
    assert_eq!(end["isError"], true);
    assert_eq!(
        end["structuredContent"]["result"]["status"],
        json!({"kind": "exited", "code": 7})
    );

    let answer = call(
        &mut server,
        "bash",
        &json!({"command": "echo x; misbehave ignore-term & sleep 60"}),
    )?;
    assert_eq!(answer["structuredContent"]["status"]["job"], "call-2");
    let killed = call(&mut server, "bash_kill", &json!({"job": "call-2"}))?;
    assert_eq!(
        killed["structuredContent"]["result"]["status"]["kind"],
        "cancelled"
    );
    assert!(text(&killed).ends_with("[call-2 has ended.]"), "{killed}");
    // One that is left behind ends with its server.
    call(&mut server, "bash", &json!({"command": "sleep 60"}))?;
    drop(server);
    assert_nothing_left(world);
    Ok(())
}

#[test]
fn a_request_that_is_called_off_ends_its_command_alone() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "0")?;
    let script = "touch started; misbehave ignore-term & setsid misbehave linger & sleep 60";
    let id = begin(
        &mut server,
        "tools/call",
        &json!({"name": "bash", "arguments": {"command": script}}),
    )?;
    exists(&world.cwd().join("started"))?;
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
    // The next answer is the other's: there is none for what was called off.
    let next = server.next_where(SOON, |line| line.get("id").is_some())?;
    assert_eq!(
        (&next["id"], text(&next["result"])),
        (&json!(other), "other\n")
    );
    drop(server);
    assert_nothing_left(world);
    Ok(())
}

#[test]
fn the_end_of_input_or_a_signal_ends_it_and_jobs_live_on() -> Result<()> {
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
        exists(&world.cwd().join("started"))?;
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
        assert_nothing_left(world);
    }
    Ok(())
}

#[test]
fn notable_ends_are_logged_from_the_level_on_that_was_asked_for() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "0")?;
    let level = |server: &mut Conversation, level: &str| {
        ask(server, "logging/setLevel", &json!({"level": level}))
    };
    for (wanted, command, logged) in [
        ("notice", json!({"command": "true"}), None),
        (
            "notice",
            json!({"command": "git push --force"}),
            Some("notice"),
        ),
        ("warning", json!({"command": "git push --force"}), None),
        (
            "warning",
            json!({"command": "true", "cwd": "/nowhere"}),
            Some("warning"),
        ),
        ("debug", json!({"command": "true"}), Some("debug")),
    ] {
        level(&mut server, wanted)?;
        let id = begin(
            &mut server,
            "tools/call",
            &json!({"name": "bash", "arguments": command}),
        )?;
        let mut seen = None;
        loop {
            let line = server.next(SOON)?;
            if line["id"] == id {
                break;
            }
            assert_eq!(line["method"], "notifications/message", "{line}");
            seen = Some(line["params"]["level"].clone());
        }
        assert_eq!(seen, logged.map(|level| json!(level)), "{command}");
    }
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
fn a_client_that_never_reads_costs_bounded_memory_and_can_be_left() -> Result<()> {
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
    let full = poll::until(SOON, || {
        let first = resident(child.id()).ok()?;
        let grows = poll::until(Duration::from_secs(2), || {
            (resident(child.id()).ok()? > first + 1024).then_some(())
        });
        grows.is_none().then_some(first)
    });
    let full = full.context("its memory does not come to rest")?;
    assert!(full < 300 * 1024, "{full} KiB");
    assert!(
        !writer.is_finished(),
        "all was read although nothing is written"
    );
    rustix::process::kill_process(Pid::from_child(&child), Signal::TERM)?;
    let ended = poll::until(SOON, || child.try_wait().ok().flatten());
    assert!(ended.context("it does not end")?.success());
    drop(child);
    drop(writer.join());
    assert_nothing_left(world);
    Ok(())
}
