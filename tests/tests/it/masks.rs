//! Masked secrets over RPC and MCP: updates, stored outputs, outputs of jobs and of calls that
//! continue, and the journal. The conformance cases have the texts of single calls.

use agent_bash_tests::poll;
use agent_bash_tests::product::{self, CommandResult};
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::Duration;

const SECRET: &str = "correct-horse-battery";
const MASK: &str = "‹MY_API_TOKEN›";
const SOON: Duration = Duration::from_secs(60);

/// A script that prints the first bytes of a secret, waits for the file `go`, and prints the rest.
const IN_TWO_PARTS: &str = "printf 'one '; head -c 9 secret; touch begun; \
     until test -e go; do sleep 0.02; done; tail -c +10 secret; echo ' two'";

fn masked(world: &World, words: &[&str]) -> Result<Command> {
    std::fs::write(world.cwd().join("secret"), SECRET)?;
    let mut command = world.command(product::agent_bash()?);
    command
        .args(words)
        .env("MY_API_TOKEN", SECRET)
        .env("AGENT_BASH_OUTPUT_MASK_SECRETS", "known")
        .env("AGENT_BASH_JOURNAL_LEVEL", "full");
    Ok(command)
}

fn rpc(server: &mut ServerClient, mut request: Value) -> Result<Value> {
    let id = server.new_id();
    request["id"] = json!(id);
    server.send(&request)?;
    let is_answer = |line: &Value| line["id"] == json!(id) && line["type"] == "response";
    let answer = server.next_where(SOON, is_answer)?;
    ensure!(answer["success"] == true, "{answer}");
    Ok(answer["data"].clone())
}

fn run(command: Command) -> Result<CommandResult> {
    product::run(command, None)
}

#[test]
fn updates_have_no_part_of_a_value_that_arrives_in_parts() -> Result<()> {
    let world = World::new()?;
    for (stream, field) in [(json!(true), "text"), (json!("delta"), "delta")] {
        let mut server = ServerClient::start(masked(&world, &["rpc"])?)?;
        let request = json!({"command": IN_TWO_PARTS});
        server
            .send(&json!({"id": 1, "type": "tool_call", "stream": stream, "request": request}))?;
        let first = server.next(SOON)?;
        assert_eq!(first[field], "one ", "{first}");
        std::fs::write(world.cwd().join("go"), "")?;
        let mut shown = "one ".to_owned();
        let result = loop {
            let line = server.next(SOON)?;
            if line["type"] == "response" {
                break line["data"].clone();
            }
            let text = line[field].as_str().context("a text")?;
            if field == "text" {
                shown = text.to_owned();
            } else {
                shown.push_str(text);
            }
        };
        assert_eq!(shown, format!("one {MASK} two\n"));
        let text = result["text"].as_str().context("a text")?;
        ensure!(text.starts_with(&shown), "{text}");
        assert_eq!(result["output"]["total_bytes"], 9 + SECRET.len());
        std::fs::remove_file(world.cwd().join("go"))?;
        drop(server);
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn job_output_over_rpc_is_masked_in_parts_and_offsets_are_of_the_output() -> Result<()> {
    let world = World::new()?;
    let mut server = ServerClient::start(masked(&world, &["rpc"])?)?;
    let request = json!({"command": IN_TWO_PARTS, "mode": "background"});
    let job = rpc(
        &mut server,
        json!({"type": "tool_call", "request": request}),
    )?;
    let job = job["status"]["job"].clone();
    let output = |server: &mut ServerClient, more: Value| {
        let mut request = json!({"type": "jobs.output", "job": job});
        for (name, value) in more.as_object().context("an object")? {
            request[name] = value.clone();
        }
        rpc(server, request)
    };
    ensure!(poll::until(SOON, || world.cwd().join("begun").exists().then_some(())).is_some());
    let first = output(&mut server, json!({}))?;
    // A text that may begin a value is left for the next part.
    assert_eq!(
        (&first["text"], &first["next"]),
        (&json!("one "), &json!(4))
    );
    std::fs::write(world.cwd().join("go"), "")?;
    rpc(&mut server, json!({"type": "jobs.wait", "job": job}))?;
    let rest = output(&mut server, json!({"offset": first["next"]}))?;
    assert_eq!(rest["text"], format!("{MASK} two\n"));
    assert_eq!(rest["next"], 9 + SECRET.len());
    // A part that begins inside the value.
    let inside = output(&mut server, json!({"offset": 10}))?;
    assert_eq!(inside["text"], format!("{MASK} two\n"));
    let line = json!({"type": "jobs.wait", "job": job, "until": {"line": "one"}});
    let waited = rpc(&mut server, line)?;
    ensure!(!waited.to_string().contains(SECRET), "{waited}");
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn output_of_a_continuing_call_over_mcp_is_masked_and_counted_as_printed() -> Result<()> {
    let world = World::new()?;
    let mut command = masked(&world, &["mcp"])?;
    command
        .env("AGENT_BASH_MCP_HANDLE_AFTER", "50ms")
        .env("AGENT_BASH_MCP_STRUCTURED", "on");
    let mut server = ServerClient::start(command)?;
    agent_bash_tests::conformance::shake_hands(&mut server)?;
    let mut call = |tool: &str, arguments: Value| crate::mcp::call(&mut server, tool, &arguments);
    call("bash", json!({"command": IN_TWO_PARTS}))?;
    ensure!(poll::until(SOON, || world.cwd().join("begun").exists().then_some(())).is_some());
    let shown = poll::until(SOON, || {
        let shown = call("bash_output", json!({"job": "call-1", "offset": 0})).ok()?;
        (shown["structuredContent"]["text"] != "").then_some(shown)
    });
    let shown = shown.context("no output")?;
    let data = &shown["structuredContent"];
    assert_eq!((&data["text"], &data["next"]), (&json!("one "), &json!(4)));
    ensure!(
        crate::mcp::text(&shown).contains("13 bytes so far"),
        "{shown}"
    );
    std::fs::write(world.cwd().join("go"), "")?;
    let end = call("bash_output", json!({"job": "call-1", "wait": 50}))?;
    let text = crate::mcp::text(&end);
    ensure!(text.starts_with(&format!("one {MASK} two\n")), "{text}");
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn change_sets_over_mcp_are_masked() -> Result<()> {
    let world = World::new()?;
    let mut server = ServerClient::start(masked(&world, &["mcp"])?)?;
    agent_bash_tests::conformance::shake_hands(&mut server)?;
    let mut call = |tool: &str, arguments: Value| crate::mcp::call(&mut server, tool, &arguments);
    call("bash", json!({"command": "cp secret $(cat secret)"}))?;
    for action in ["show", "diff"] {
        let answer = call("bash_changes", json!({"action": action, "id": "1"}))?;
        let text = crate::mcp::text(&answer);
        ensure!(text.contains(MASK), "{answer}");
        ensure!(!text.contains(SECRET), "{answer}");
    }
    Ok(())
}

#[test]
fn stored_outputs_stay_as_printed_and_are_read_masked() -> Result<()> {
    let world = World::new()?;
    // The second one is divided by a control character, which pages leave out.
    let divided = r"head -c 5 secret; printf '\a'; tail -c +6 secret; echo";
    let script = format!("seq 1 30000; cat secret; echo; {divided}; seq 1 30000");
    let mut server = ServerClient::start(masked(&world, &["rpc", "--state", "chat"])?)?;
    let result = rpc(
        &mut server,
        json!({"type": "tool_call", "request": {"command": script}}),
    )?;
    let text = result["text"].as_str().context("a text")?;
    ensure!(text.contains("has the output as printed"), "{text}");
    let artifact = &result["artifacts"][0];
    let path = artifact["path"].as_str().context("a path")?.to_owned();
    let stored = std::fs::read_to_string(&path)?;
    ensure!(stored.contains(SECRET), "the stored output is as printed");
    assert_eq!(
        std::fs::metadata(&path)?.permissions().mode() & 0o777,
        0o600
    );
    let page = json!({"type": "artifact.show", "artifact": path, "offset": 30_001, "limit": 2});
    assert_eq!(rpc(&mut server, page)?["text"], format!("{MASK}\n{MASK}\n"));
    let found = json!({"type": "artifact.grep", "artifact": path, "pattern": "[a-z]"});
    let found = rpc(&mut server, found)?;
    ensure!(!found.to_string().contains(SECRET), "{found}");
    drop(server);
    let journal = run(masked(&world, &["log", "chat", "--json"])?)?;
    ensure!(journal.stdout.contains("seq 1 30000"), "{}", journal.stdout);
    ensure!(!journal.stdout.contains(SECRET), "{}", journal.stdout);
    Ok(())
}

#[test]
fn command_line_masks_streamed_output_and_stored_pages() -> Result<()> {
    let world = World::new()?;
    let streamed = run(masked(
        &world,
        &["run", "--stream", "cat secret; seq 1 40000"],
    )?)?;
    ensure!(streamed.stdout.starts_with(&format!("{MASK}1\n")), "masked");
    let script = "cat secret; seq 1 40000";
    run(masked(&world, &["run", script])?)?;
    let page = run(masked(&world, &["artifact", "show", "1", "--limit", "1"])?)?;
    ensure!(page.stdout.contains(MASK), "{}", page.stdout);
    run(masked(
        &world,
        &["run", "--mode", "background", "cat secret; sleep 1"],
    )?)?;
    let output = run(masked(&world, &["jobs", "output", "1", "--follow"])?)?;
    assert_eq!(output.stdout, MASK);
    Ok(())
}
