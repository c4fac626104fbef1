//! Calls that continue as tasks, for clients of revision 2026-07-28 that accept them.

use super::{SOON, ask, text, world};
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use agent_bash_tests::{poll, product};
use anyhow::{Context, Result};
use serde_json::{Value, json};

const LONG: &str = "echo begun; until test -e go; do sleep 0.01; done; echo done; exit 7";

fn server(world: &World, handle_after: &str) -> Result<ServerClient> {
    let mut command = world.command(product::agent_bash()?);
    command
        .arg("mcp")
        .env("AGENT_BASH_MCP_HANDLE_AFTER", handle_after);
    ServerClient::start(command)
}

/// Parameters of a request of a client that accepts tasks, or of one that does not.
fn params(mut params: Value, accepts_tasks: bool) -> Value {
    let capabilities = if accepts_tasks {
        json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})
    } else {
        json!({})
    };
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    });
    params
}

fn bash(arguments: &Value, accepts_tasks: bool) -> Value {
    params(
        json!({"name": "bash", "arguments": arguments}),
        accepts_tasks,
    )
}

/// The response to a request about a task.
fn about(server: &mut ServerClient, method: &str, task: &Value) -> Result<Value> {
    ask(server, method, &params(json!({"taskId": task}), true))
}

/// The last state of a task.
fn end(server: &mut ServerClient, task: &Value) -> Result<Value> {
    let ended = poll::until(SOON, || {
        let state = about(server, "tasks/get", task);
        let is_working = state
            .as_ref()
            .is_ok_and(|state| state["result"]["status"] == "working");
        (!is_working).then_some(state)
    });
    Ok(ended.context("the task did not end")??["result"].clone())
}

#[test]
fn long_call_is_a_task_with_the_result_of_the_call() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "300ms")?;
    let hello = ask(&mut server, "server/discover", &params(json!({}), true))?;
    let extensions = &hello["result"]["capabilities"]["extensions"];
    assert_eq!(extensions["io.modelcontextprotocol/tasks"], json!({}));
    // A client that accepts tasks also waits for a call that has to be waited for.
    let call = bash(&json!({"command": LONG, "wait": true}), true);
    let task = &ask(&mut server, "tools/call", &call)?["result"];
    assert_eq!(task["resultType"], "task", "{task}");
    assert_eq!(task["status"], "working");
    assert_eq!(task["statusMessage"], "The command is running as call-1.");
    assert_eq!(
        (&task["ttlMs"], &task["pollIntervalMs"]),
        (&json!(null), &json!(1000))
    );
    assert_eq!(task["taskId"].as_str().map(str::len), Some(32));
    let state = about(&mut server, "tasks/get", &task["taskId"])?;
    let state = &state["result"];
    assert_eq!(state["resultType"], "complete");
    for field in ["status", "taskId", "createdAt", "lastUpdatedAt", "ttlMs"] {
        assert_eq!(state[field], task[field], "{field}");
    }
    // The model may look at the call meanwhile.
    let begun = json!({"job": "call-1", "until": {"line": "begun"}, "wait": 50});
    let output = params(json!({"name": "bash_output", "arguments": begun}), true);
    let output = ask(&mut server, "tools/call", &output)?;
    assert!(
        text(&output["result"]).starts_with("begun\n\n[call-1 is running"),
        "{output}"
    );
    let ack = about(&mut server, "tasks/update", &task["taskId"])?;
    assert_eq!(
        ack["error"]["code"], -32602,
        "a response has `inputResponses`"
    );
    std::fs::write(world.cwd().join("go"), "")?;
    let state = end(&mut server, &task["taskId"])?;
    assert_eq!(state["status"], "completed", "{state}");
    assert_eq!(state["result"]["isError"], true);
    assert_eq!(
        text(&state["result"]),
        "begun\ndone\n\nCommand exited with code 7"
    );
    assert!(
        state["lastUpdatedAt"].as_str() >= state["createdAt"].as_str(),
        "{state}"
    );
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn cancelled_task_ends_its_processes() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "300ms")?;
    let call = bash(
        &json!({"command": "misbehave ignore-term & sleep 600"}),
        true,
    );
    let task = ask(&mut server, "tools/call", &call)?["result"]["taskId"].clone();
    let answers = params(json!({"taskId": task, "inputResponses": {}}), true);
    for (method, params) in [
        ("tasks/update", &answers),
        ("tasks/cancel", &params(json!({"taskId": task}), true)),
    ] {
        let ack = ask(&mut server, method, params)?;
        assert_eq!(ack["result"], json!({"resultType": "complete"}), "{ack}");
    }
    let state = end(&mut server, &task)?;
    assert_eq!(state["status"], "cancelled", "{state}");
    assert!(state.get("result").is_none(), "{state}");
    // The server lives; the processes do not.
    let jobs = params(json!({"name": "bash_jobs", "arguments": {}}), true);
    let jobs = ask(&mut server, "tools/call", &jobs)?;
    assert!(
        text(&jobs["result"]).starts_with("call-1  was cancelled"),
        "{jobs}"
    );
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn only_long_calls_of_clients_that_accept_tasks_are_tasks() -> Result<()> {
    let world = world()?;
    let mut patient = server(&world, "0")?;
    let short = ask(
        &mut patient,
        "tools/call",
        &bash(&json!({"command": "echo hi"}), true),
    )?;
    assert_eq!(text(&short["result"]), "hi\n");
    drop(patient);
    let mut server = server(&world, "300ms")?;
    // The model types on a terminal, so it gets the screen.
    let screen = bash(&json!({"command": "read -rp 'Name: '", "pty": true}), true);
    let screen = ask(&mut server, "tools/call", &screen)?;
    assert!(
        text(&screen["result"]).contains("[call-1 runs on a terminal"),
        "{screen}"
    );
    let long = ask(
        &mut server,
        "tools/call",
        &bash(&json!({"command": LONG}), false),
    )?;
    assert!(
        text(&long["result"]).contains("goes on as call-2."),
        "{long}"
    );
    for (about, accepts_tasks, code) in [("0", true, -32602), ("0", false, -32021)] {
        for method in ["tasks/get", "tasks/cancel"] {
            let refused = params(json!({"taskId": about}), accepts_tasks);
            let refused = ask(&mut server, method, &refused)?;
            assert_eq!(refused["error"]["code"], code, "{refused}");
        }
    }
    drop(server);
    // An earlier revision has no such answer, whatever the client says it accepts.
    let mut server = self::server(&world, "300ms")?;
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
        "clientInfo": {"name": "t", "version": "1"},
    });
    ask(&mut server, "initialize", &hello)?;
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
    let call = json!({"name": "bash", "arguments": {"command": LONG}});
    let long = ask(&mut server, "tools/call", &call)?;
    assert!(
        text(&long["result"]).contains("goes on as call-1."),
        "{long}"
    );
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}
