//! `agent-bash mcp` at the level of lines: messages that a client library would not send, and
//! leftovers after either side disconnects. `clients` tests it with the official Python SDK.

mod adapter;
mod agents;
mod approval;
mod changes;
mod ends;
mod messages;
mod order;
mod tasks;
mod terminal;
mod until;

use agent_bash_tests::conformance::shake_hands;
use agent_bash_tests::product;
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use rustix::process::Pid;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// Time limit on a slow machine.
const SOON: Duration = Duration::from_secs(60);

fn world() -> Result<World> {
    World::new()?.with_program(Path::new(env!("CARGO_BIN_EXE_misbehave")))
}

/// A server that returns handles after `handle_after` and structured data, already initialised.
fn server(world: &World, handle_after: &str) -> Result<ServerClient> {
    let mut command = world.command(product::agent_bash()?);
    command
        .arg("mcp")
        .env("AGENT_BASH_MCP_HANDLE_AFTER", handle_after)
        .env("AGENT_BASH_MCP_STRUCTURED", "on");
    let mut server = ServerClient::start(command)?;
    shake_hands(&mut server)?;
    Ok(server)
}

fn begin(server: &mut ServerClient, method: &str, params: &Value) -> Result<u64> {
    let id = server.new_id();
    server.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
    Ok(id)
}

fn ask(server: &mut ServerClient, method: &str, params: &Value) -> Result<Value> {
    let id = begin(server, method, params)?;
    server.next_where(SOON, |line| line["id"] == id)
}

pub(crate) fn call(server: &mut ServerClient, tool: &str, arguments: &Value) -> Result<Value> {
    let params = json!({"name": tool, "arguments": arguments});
    let response = ask(server, "tools/call", &params)?;
    ensure!(response["result"].is_object(), "{response}");
    Ok(response["result"].clone())
}

pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
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
        command
            .args(["mcp", "--profile", profile])
            .env("AGENT_BASH_MCP_STRUCTURED", "on");
        let mut server = ServerClient::start(command)?;
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
                "bash", "bash_output", "bash_input", "bash_kill", "bash_jobs", reader,
                "bash_changes"
            ]
        );
        assert!(
            tools[5]["inputSchema"]["properties"][argument].is_object(),
            "{}",
            tools[5]
        );
        let mut schema = world.command(product::agent_bash()?);
        schema.args(["schema", "--profile", profile]);
        let mut schema: Value = serde_json::from_str(&product::run(schema, None)?.stdout)?;
        if profile == "standard" {
            // Calls of this server may use a terminal that its model drives.
            let text = schema["description"].as_str().context("description")?;
            let (before, after) = text
                .split_once("There is no terminal,")
                .context("terminal")?;
            schema["description"] =
                format!("{before}Without `pty` there is no terminal,{after}").into();
            schema["input_schema"]["properties"]["pty"]["description"] =
                "On a terminal, which bash_input types on: for programs that ask or draw".into();
        }
        assert_eq!(tools[0]["description"], schema["description"]);
        // The program that prints a schema cannot know the capabilities of a server.
        let mut shown = tools[0]["inputSchema"].clone();
        let fields = shown["properties"].as_object_mut();
        let trial = fields.context("fields")?.remove("trial");
        assert_eq!(trial.is_some(), profile != "modes");
        assert_eq!(shown, schema["input_schema"]);
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
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn long_call_returns_a_handle_and_continues() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "2s")?;
    let script = "echo begun; until test -e go; do sleep 0.01; done; echo done; exit 7";
    let answer = call(&mut server, "bash", &json!({"command": script}))?;
    let status = &answer["structuredContent"]["status"];
    assert_eq!(
        (&status["kind"], &status["job"]),
        (&json!("moved_to_background"), &json!("call-1"))
    );
    assert_eq!(answer["isError"], false);
    assert!(
        text(&answer)
            .starts_with("begun\n\n[The command is still running after 2s and goes on as call-1.")
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
    // A call that is still running ends with its server.
    call(&mut server, "bash", &json!({"command": "sleep 60"}))?;
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn call_ends_are_logged_at_their_level() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "0")?;
    let level = |server: &mut ServerClient, level: &str| {
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
    world.assert_nothing_left(SOON);
    Ok(())
}
