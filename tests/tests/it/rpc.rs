//! `agent-bash rpc` as a client sees it: responses, and leftovers after either side disconnects.
//!
//! The conformance cases test the results of single calls, also through RPC.

mod adapters;
mod changes;
mod checks;
mod jobs_and_outputs;
mod load;
mod order;
mod terminal;
mod worker;

use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use agent_bash_tests::{poll, product};
use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Time limit on a slow machine.
const SOON: Duration = Duration::from_secs(60);

fn world() -> Result<World> {
    World::new()?.with_program(Path::new(env!("CARGO_BIN_EXE_misbehave")))
}

fn server(world: &World) -> Result<ServerClient> {
    let mut command = world.command(product::agent_bash()?);
    command.arg("rpc");
    ServerClient::start(command)
}

/// Sends a request and waits for its response.
fn ask(server: &mut ServerClient, mut request: Value) -> Result<Value> {
    let id = server.new_id();
    request["id"] = json!(id);
    server.send(&request)?;
    answer(server, &json!(id))
}

fn answer(server: &ServerClient, id: &Value) -> Result<Value> {
    server.next_where(SOON, |line| line["id"] == *id && line["type"] == "response")
}

/// Sends a request as `ask` does; the request must succeed.
fn data(server: &mut ServerClient, request: Value) -> Result<Value> {
    let answer = ask(server, request)?;
    ensure!(answer["success"] == true, "{answer}");
    Ok(answer["data"].clone())
}

#[test]
fn responses_have_id_and_command_and_bash_has_its_own_format() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    server
        .send(&json!({"id": "a", "type": "bash", "command": "cd /tmp; printf 'x\\ny'; exit 3"}))?;
    let mut first = server.next(SOON)?;
    // As after the shell of a named session has died.
    let notices = first["data"]["notices"].take();
    assert_eq!(notices[0]["kind"], "session_reset", "{notices}");
    assert_eq!(
        first,
        json!({"id": "a", "type": "response", "command": "bash", "success": true, "data": {
            "output": "x\ny", "exit_code": 3, "cancelled": false, "truncated": false,
            "total_lines": 2, "total_bytes": 3, "output_lines": 2, "output_bytes": 3,
            "exitCode": 3, "totalLines": 2, "totalBytes": 3, "outputLines": 2, "outputBytes": 3,
            "notices": null}})
    );
    let cut = data(&mut server, json!({"type": "bash", "command": "seq 30000"}))?;
    assert_eq!(
        (&cut["truncated"], &cut["totalLines"]),
        (&json!(true), &json!(30000))
    );
    assert!(cut["outputBytes"].as_u64() < cut["totalBytes"].as_u64());
    assert_eq!(cut["artifact_id"], cut["artifactId"]);
    let whole = data(
        &mut server,
        json!({"type": "artifact.show", "artifact": cut["artifactId"], "limit": 1}),
    )?;
    assert_eq!(
        (&whole["text"], &whole["total_lines"]),
        (&json!("1\n"), &json!(30000))
    );
    // A request without an id gets a response without one.
    server.send(&json!({"type": "ping"}))?;
    let pong = server.next(SOON)?;
    assert!(
        pong.get("id").is_none() && pong["command"] == "ping" && pong["success"] == true,
        "{pong}"
    );
    // The command line reports the same of the program.
    let pong_data = &pong["data"];
    let version = format!(
        "agent-bash {} (protocol {}, build {})\n",
        pong_data["version"].as_str().unwrap_or_default(),
        pong_data["protocol"],
        pong_data["build"].as_str().unwrap_or_default()
    );
    let mut command = world.command(product::agent_bash()?);
    command.arg("--version");
    assert_eq!(product::run(command, None)?.stdout, version);
    assert!(server.end()?.status.success());
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn tools_come_from_call_hello_or_option_in_this_order() -> Result<()> {
    let world = world()?;
    std::fs::write(world.cwd().join("notes"), "a line\n")?;
    let mut command = world.command(product::agent_bash()?);
    command
        .args(["rpc", "--tools", "grep"])
        .env("AGENT_BASH_INTERCEPTOR_MODE", "block");
    let mut server = ServerClient::start(command)?;
    let is_blocked = |server: &mut ServerClient, script: &str, tools: Value| -> Result<bool> {
        let request = json!({"type": "tool_call", "request": script, "tools": tools});
        let result = data(server, request)?;
        let checked = data(
            server,
            json!({"type": "check", "command": script, "tools": tools}),
        )?;
        let streamed = data(
            server,
            json!({"type": "tool_call", "request": script, "tools": tools, "stream": true}),
        )?;
        ensure!(result["status"] == streamed["status"], "{streamed}");
        ensure!(
            result["suggested_tool"] == checked["suggested_tool"],
            "{checked}"
        );
        Ok(result["status"]["kind"] == "blocked")
    };
    let nothing = Value::Null;
    // The option names the tools.
    ensure!(is_blocked(&mut server, "grep a notes", nothing.clone())?);
    ensure!(!is_blocked(&mut server, "cat notes", nothing.clone())?);
    // The call names the tools, which takes precedence.
    ensure!(is_blocked(&mut server, "cat notes", json!(["read"]))?);
    ensure!(!is_blocked(&mut server, "grep a notes", json!(["read"]))?);
    ensure!(!is_blocked(&mut server, "grep a notes", json!([]))?);
    // `hello` names the tools of later requests.
    let before = data(&mut server, json!({"type": "hello"}))?;
    ensure!(before["tools"] == json!(["grep"]), "{before}");
    let hello = data(&mut server, json!({"type": "hello", "tools": ["read"]}))?;
    ensure!(hello["tools"] == json!(["read"]), "{hello}");
    ensure!(hello["profile"] == "standard", "{hello}");
    ensure!(is_blocked(&mut server, "cat notes", nothing.clone())?);
    ensure!(!is_blocked(&mut server, "grep a notes", nothing.clone())?);
    ensure!(!is_blocked(&mut server, "cat notes", json!(["grep"]))?);
    // A value that is not a list is an error.
    let wrong = ask(
        &mut server,
        json!({"type": "tool_call", "request": "ls", "tools": "read"}),
    )?;
    let error = wrong["error"].as_str().unwrap_or_default();
    ensure!(error.contains("`tools`"), "{wrong}");
    ensure!(server.end()?.status.success());
    Ok(())
}

#[test]
fn one_bash_command_runs_at_a_time_and_abort_always_succeeds() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    let aborted = json!({"id": "z", "type": "response", "command": "abort_bash", "success": true});
    server.send(&json!({"id": "z", "type": "abort_bash"}))?;
    assert_eq!(server.next(SOON)?, aborted, "nothing runs");
    server.send(
        &json!({"id": "a", "type": "bash", "command": "echo begun; touch started; sleep 60"}),
    )?;
    poll::exists(&world.cwd().join("started"), SOON)?;
    let second = ask(
        &mut server,
        json!({"type": "bash", "command": "echo second"}),
    )?;
    assert_eq!(
        second["error"],
        "A bash command is already running. Press Esc to cancel it first."
    );
    server.send(&json!({"id": "z", "type": "abort_bash", "target": "other"}))?;
    assert_eq!(server.next(SOON)?, aborted, "another is meant");
    server.send(&json!({"id": "z", "type": "abort_bash", "target": "a"}))?;
    let (first, then) = (server.next(SOON)?, server.next(SOON)?);
    assert_eq!(first, aborted);
    assert_eq!((&then["id"], &then["success"]), (&json!("a"), &json!(true)));
    assert_eq!(then["data"]["cancelled"], true);
    for name in ["exit_code", "exitCode"] {
        assert!(then["data"].get(name).is_none(), "{then}");
    }
    assert!(
        then["data"]["output"]
            .as_str()
            .unwrap_or_default()
            .contains("begun"),
        "{then}"
    );
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn bash_command_of_user_is_recorded_and_waits_for_the_turn() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    let bash = |command: &str| json!({"type": "bash", "command": command});
    let commands = |data: &Value| -> Vec<String> {
        let messages = data["messages"].as_array().into_iter().flatten();
        messages
            .map(|message| message["command"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    data(&mut server, bash("cd /; here=1"))?;
    assert_eq!(
        data(&mut server, bash("pwd; echo $here"))?["output"],
        "/\n1\n",
        "one shell"
    );
    ask(&mut server, json!({"type": "session.begin_turn"}))?;
    data(
        &mut server,
        json!({"type": "bash", "command": "true", "exclude_from_context": true}),
    )?;
    let so_far = data(&mut server, json!({"type": "session.messages"}))?;
    assert_eq!(commands(&so_far), ["cd /; here=1", "pwd; echo $here"]);
    assert!(
        so_far["messages"][1]["text"]
            .as_str()
            .unwrap_or_default()
            .starts_with("Ran `pwd")
    );
    let held = data(&mut server, json!({"type": "session.end_turn"}))?;
    assert_eq!(commands(&held), ["true"]);
    assert_eq!(held["messages"][0]["text"], Value::Null, "excluded");
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn updates_come_before_the_response_as_snapshots_or_deltas() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    let script = "echo one; touch a; until test -e b; do sleep 0.01; done; echo two";
    for (kind, stream, field) in [
        ("tool_call", json!(true), "text"),
        ("tool_call", json!("delta"), "delta"),
        ("bash", json!("delta"), "delta"),
    ] {
        let mut request = json!({"id": 1, "type": kind, "stream": stream});
        if kind == "bash" {
            request["command"] = json!(script);
        } else {
            request["request"] = json!({"command": script});
        }
        server.send(&request)?;
        let first = server.next(SOON)?;
        assert_eq!(
            (&first["id"], &first["type"], &first[field]),
            (&json!(1), &json!("update"), &json!("one\n"))
        );
        std::fs::write(world.cwd().join("b"), "")?;
        let second = server.next(SOON)?;
        let want = if field == "text" {
            "one\ntwo\n"
        } else {
            "two\n"
        };
        assert_eq!(
            (&second[field], &second["total_bytes"]),
            (&json!(want), &json!(8)),
            "{second}"
        );
        assert_eq!(server.next(SOON)?["type"], "response");
        std::fs::remove_file(world.cwd().join("b"))?;
    }
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn requests_run_concurrently_and_are_cancelled_one_by_one() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    for id in ["a", "b"] {
        let script = format!("touch {id}; until test -e go; do sleep 0.01; done; echo {id}");
        server.send(&json!({"id": id, "type": "tool_call", "request": {"command": script}}))?;
    }
    poll::exists(&world.cwd().join("a"), SOON)?;
    poll::exists(&world.cwd().join("b"), SOON)?;
    assert_eq!(
        data(&mut server, json!({"type": "cancel", "target": "nobody"}))?["cancelled"],
        false
    );
    server.send(&json!({"id": "c", "type": "cancel", "target": "a"}))?;
    assert_eq!(server.next(SOON)?["data"]["cancelled"], true);
    let a = server.next(SOON)?;
    assert_eq!(
        (&a["id"], &a["data"]["status"]["kind"]),
        (&json!("a"), &json!("cancelled"))
    );
    std::fs::write(world.cwd().join("go"), "")?;
    let b = server.next(SOON)?;
    assert_eq!((&b["id"], &b["data"]["text"]), (&json!("b"), &json!("b\n")));
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn invalid_line_gets_an_error_and_has_no_other_effect() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    let script = "until test -e go; do sleep 0.01; done; echo done";
    server.send(&json!({"id": "call", "type": "tool_call", "request": script}))?;
    let too_long = format!(
        "{{\"type\":\"ping\",\"x\":\"{}\",\"id\":1}}",
        "x".repeat(8 << 20)
    );
    let bad: [(&[u8], Value, &str, &str); 7] = [
        (b"{", Value::Null, "", "not JSON"),
        (b"\xff\xfe", Value::Null, "", "not JSON"),
        (b"[]", Value::Null, "", "an object"),
        (
            b"{\"id\":\"q\",\"type\":\"dance\"}",
            json!("q"),
            "dance",
            "unknown type",
        ),
        (
            b"{\"id\":5,\"type\":\"cancel\"}",
            json!(5),
            "cancel",
            "missing field `target`",
        ),
        (
            b"{\"id\":6,\"type\":\"bash\",\"command\":\"\\ud83d\"}",
            json!(6),
            "bash",
            "not JSON",
        ),
        (too_long.as_bytes(), json!(1), "ping", "longer than 8 MiB"),
    ];
    for (line, id, command, error) in bad {
        server.send_bytes(line)?;
        server.send_bytes(b"\n\n  \r\n")?;
        let refusal = server.next(SOON)?;
        assert_eq!(refusal["id"], id, "{refusal}");
        assert_eq!(
            (&refusal["type"], &refusal["command"]),
            (&json!("response"), &json!(command))
        );
        assert_eq!(refusal["success"], false);
        assert!(
            refusal["error"]
                .as_str()
                .unwrap_or_default()
                .contains(error),
            "{refusal}"
        );
    }
    // Half a line, two at once, and one of maximum length.
    server.send_bytes(b"{\"id\":1,\"ty")?;
    server.send_bytes(b"pe\":\"ping\"}\n{\"id\":2,\"type\":\"ping\"}\n{\"id\":3,")?;
    server.send_bytes(b"\"type\":\"ping\"}\n")?;
    let ids: BTreeSet<u64> = (0..3)
        .map(|_| Ok(server.next(SOON)?["id"].as_u64().unwrap_or_default()))
        .collect::<Result<_>>()?;
    assert_eq!(ids, BTreeSet::from([1, 2, 3]));
    let padding = (8 << 20) - "{\"id\":4,\"type\":\"ping\",\"x\":\"\"}".len();
    let longest = format!(
        "{{\"id\":4,\"type\":\"ping\",\"x\":\"{}\"}}\n",
        "x".repeat(padding)
    );
    assert_eq!(longest.len(), (8 << 20) + 1);
    server.send_bytes(longest.as_bytes())?;
    assert_eq!(server.next(SOON)?["id"], 4);
    std::fs::write(world.cwd().join("go"), "")?;
    assert_eq!(answer(&server, &json!("call"))?["data"]["text"], "done\n");
    // The last line needs no line end.
    server.send_bytes(b"{\"id\":\"last\",\"type\":\"ping\"}")?;
    let ended = server.end()?;
    assert_eq!(ended.rest.len(), 1, "{ended:?}");
    assert_eq!(ended.rest[0]["id"], "last");
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn end_of_input_or_signal_cancels_calls_but_not_jobs() -> Result<()> {
    for by_signal in [false, true] {
        let world = world()?;
        let mut first = server(&world)?;
        let started = data(
            &mut first,
            json!({"type": "tool_call", "request": {"command": "echo job; sleep 1000", "mode": "background"}}),
        )?;
        let job = started["status"]["job"].clone();
        let script = "echo partial; touch started; misbehave ignore-term >/dev/null & sleep 60";
        first.send(&json!({"id": "call", "type": "tool_call", "request": script}))?;
        poll::exists(&world.cwd().join("started"), SOON)?;
        if by_signal {
            let pid = Pid::from_raw(i32::try_from(first.pid())?).context("a pid")?;
            rustix::process::kill_process(pid, Signal::TERM)?;
            let call = answer(&first, &json!("call"))?;
            assert_eq!(call["data"]["status"]["kind"], "cancelled", "{call}");
            assert!(first.end()?.status.success());
        } else {
            let ended = first.end()?;
            assert!(ended.status.success(), "{ended:?}");
            assert_eq!(ended.rest.len(), 1, "{ended:?}");
            assert_eq!(
                ended.rest[0]["data"]["text"],
                "[Command cancelled]\npartial\n"
            );
        }
        let mut second = server(&world)?;
        let jobs = data(&mut second, json!({"type": "jobs.list"}))?;
        assert_eq!(jobs["jobs"][0]["state"]["kind"], "running", "{jobs}");
        let killed = data(&mut second, json!({"type": "jobs.kill", "job": job}))?;
        assert_eq!(
            killed["job"]["state"]["ending"]["kind"], "signaled",
            "{killed}"
        );
        drop(second);
        world.assert_nothing_left(SOON);
    }
    Ok(())
}

#[test]
fn logs_are_written_to_stderr() -> Result<()> {
    let world = world()?;
    let mut command = world.command(product::agent_bash()?);
    command.arg("rpc").env("AGENT_BASH_LOG", "trace");
    let mut server = ServerClient::start(command)?;
    data(
        &mut server,
        json!({"type": "tool_call", "request": "echo hello"}),
    )?;
    let ended = server.end()?;
    assert!(
        ended.rest.is_empty() && !ended.stderr.is_empty(),
        "{ended:?}"
    );
    world.assert_nothing_left(SOON);
    Ok(())
}
