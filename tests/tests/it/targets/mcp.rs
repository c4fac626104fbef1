//! A client of the Model Context Protocol with a target: jobs and stored outputs are the target's.

use super::SOON;
use agent_bash_tests::conformance::shake_hands;
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::targets::{Sshd, command};
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

/// A tool's answer: its text, and whether it is an error.
fn call(server: &mut ServerClient, tool: &str, arguments: &Value) -> Result<(String, bool)> {
    let id = server.new_id();
    server.send(&json!({
        "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments },
    }))?;
    let answer = server.next_where(SOON, |line| line["id"] == id)?;
    let text = answer["result"]["content"][0]["text"].as_str();
    let text = text.with_context(|| answer.to_string())?;
    Ok((text.to_owned(), answer["result"]["isError"] == true))
}

#[test]
fn mcp_tools_use_jobs_and_outputs_of_the_target() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    let mut server = ServerClient::start(command(&world, &["mcp"])?)?;
    shake_hands(&mut server)?;
    let mut call = |tool: &str, arguments: Value| call(&mut server, tool, &arguments);
    let says = |answer: &(String, bool), text: &str| -> Result<()> {
        ensure!(answer.0.contains(text) && !answer.1, "{text}: {answer:?}");
        Ok(())
    };

    let started = call(
        "bash",
        json!({
            "command": "echo begun; read -r line; echo got $line; sleep 600", "mode": "background", "stdin": "pipe",
        }),
    )?;
    says(&started, "job 1")?;
    says(
        &call("bash_jobs", json!({}))?,
        "is running  echo begun; read",
    )?;
    says(
        &call("bash_input", json!({ "job": 1, "text": "it\n" }))?,
        "3 bytes were written to job 1",
    )?;
    let mut read = String::new();
    while !read.contains("got it") {
        let part = call("bash_output", json!({ "job": 1, "wait": 1 }))?;
        says(&part, "[Job 1 is running.]")?;
        read.push_str(&part.0);
    }
    ensure!(read.matches("begun").count() == 1, "each part once: {read}");
    says(
        &call("bash_kill", json!({ "job": 1 }))?,
        "Job 1 was ended by",
    )?;
    says(&call("bash_jobs", json!({}))?, "was ended by")?;
    let none = call("bash_kill", json!({ "job": 7 }))?;
    ensure!(none.1 && none.0.contains('7'), "{none:?}");

    says(
        &call("bash", json!({ "command": "seq 50000" }))?,
        "artifact://0",
    )?;
    let page = call(
        "read_artifact",
        json!({ "id": "artifact://0", "offset": 49_999 }),
    )?;
    says(&page, "49999\n50000")?;
    let found = call("read_artifact", json!({ "id": 0, "pattern": "^4242.$" }))?;
    says(&found, "42420:42420")?;
    let id = server.new_id();
    server.send(&json!({
        "jsonrpc": "2.0", "id": id, "method": "resources/read", "params": { "uri": "artifact://0" },
    }))?;
    let answer = server.next_where(SOON, |line| line["id"] == id)?;
    let text = answer["result"]["contents"][0]["text"].as_str();
    ensure!(
        text.is_some_and(|text| text.starts_with("1\n2\n")),
        "{answer}"
    );

    let mut ask = |method: &str, params: Value| -> Result<Value> {
        let id = server.new_id();
        server.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        server.next_where(SOON, |line| line["id"] == id)
    };
    let listed = ask("resources/list", json!({}))?;
    let only = listed["result"]["resources"].as_array();
    let only = only.filter(|all| all.len() == 1).context("one output")?;
    ensure!(only[0]["uri"] == "artifact://0", "{listed}");
    ensure!(only[0]["title"] == "Output of `seq 50000`", "{listed}");
    let changes = ask("resources/read", json!({ "uri": "changes://0" }))?;
    let why = changes["error"]["message"].as_str().unwrap_or_default();
    ensure!(why.contains("run `agent-bash changes` there"), "{changes}");

    drop(server);
    drop(sshd);
    world.assert_nothing_left(SOON);
    Ok(())
}
