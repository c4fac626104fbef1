//! Questions to the user of a client of revision 2026-07-28, which takes no requests: the server
//! answers the call with the question, and the client repeats the call with the answer.

use super::{ask, text, world};
use agent_bash_tests::product;
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use anyhow::Result;
use serde_json::{Value, json};
use std::fs;

fn server(world: &World, arguments: &[&str]) -> Result<ServerClient> {
    fs::create_dir_all(world.cwd().join(".git"))?;
    let mut command = world.command(product::agent_bash()?);
    command
        .arg("mcp")
        .args(arguments)
        .env("AGENT_BASH_SANDBOX_LEVEL", "workspace_write")
        .env("AGENT_BASH_SANDBOX_ESCALATION", "ask");
    ServerClient::start(command)
}

fn form() -> Value {
    json!({"elicitation": {"form": {}}})
}

/// Calls a tool of a client with these capabilities. `retry`: fields of a repeated call.
fn call(
    server: &mut ServerClient,
    capabilities: &Value,
    tool: &str,
    arguments: &Value,
    retry: &Value,
) -> Result<Value> {
    let mut params = json!({"name": tool, "arguments": arguments, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    }});
    for (name, value) in retry.as_object().into_iter().flatten() {
        params[name] = value.clone();
    }
    Ok(ask(server, "tools/call", &params)?["result"].clone())
}

/// The question of an answer, and the fields of a repeated call with `answer`.
fn question(response: &Value, answer: &Value) -> (String, Value) {
    assert_eq!(response["resultType"], "input_required", "{response}");
    let request = &response["inputRequests"]["approval"];
    assert_eq!(request["method"], "elicitation/create", "{response}");
    let message = request["params"]["message"].as_str().unwrap_or_default();
    let state = &response["requestState"];
    let retry = json!({"requestState": state, "inputResponses": {"approval": answer}});
    (message.to_owned(), retry)
}

#[test]
fn commit_is_answered_with_a_question_and_repeated_with_the_answer() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, &[])?;
    let trial = json!({"command": "echo new > new", "trial": true});
    let held = call(&mut server, &form(), "bash", &trial, &json!({}))?;
    assert!(
        text(&held).contains("[Trial 1: nothing applied yet."),
        "{held}"
    );
    let commit = json!({"action": "commit", "id": 1});
    let made = world.cwd().join("new");
    let accept = json!({"action": "accept", "content": {}});
    for (answer, expected) in [
        (json!({"action": "decline"}), "declined committing it"),
        (json!({"action": "cancel"}), "gave no answer"),
        (json!("accept"), "gave no answer"),
    ] {
        let response = call(&mut server, &form(), "bash_changes", &commit, &json!({}))?;
        let (message, retry) = question(&response, &answer);
        assert!(
            message.starts_with("Apply what trial 1 held back to "),
            "{message}"
        );
        let done = call(&mut server, &form(), "bash_changes", &commit, &retry)?;
        assert!(text(&done).contains(expected), "{done}");
        assert!(!made.exists());
    }
    // Without forms, the answer says how a user decides.
    let done = call(&mut server, &json!({}), "bash_changes", &commit, &json!({}))?;
    assert!(
        text(&done).contains("no approver is available here"),
        "{done}"
    );
    // An answer counts for its question only, and once.
    let response = call(&mut server, &form(), "bash_changes", &commit, &json!({}))?;
    let (_, retry) = question(&response, &accept);
    let trial = json!({"command": "echo other > other", "trial": true});
    call(&mut server, &form(), "bash", &trial, &json!({}))?;
    let other = json!({"action": "commit", "id": 2});
    let response = call(&mut server, &form(), "bash_changes", &other, &retry)?;
    assert!(
        question(&response, &accept).0.contains("trial 2"),
        "{response}"
    );
    let response = call(&mut server, &form(), "bash_changes", &commit, &retry)?;
    let (_, retry) = question(&response, &accept);
    assert!(!made.exists());
    let done = call(&mut server, &form(), "bash_changes", &commit, &retry)?;
    assert_eq!(text(&done), "[Trial 1 applied: 1 created.]");
    assert!(made.exists());
    assert!(server.end()?.status.success());
    Ok(())
}

#[test]
fn leaving_the_sandbox_is_asked_before_anything_runs() -> Result<()> {
    let outside = json!({"level": "off", "reason": "it must"});
    for (arguments, tool, input) in [
        (
            &[][..],
            "bash",
            json!({"command": "touch ../outside", "sandbox": outside}),
        ),
        (
            &["--adapter", "codex"],
            "exec_command",
            json!({"cmd": "touch ../outside", "sandbox_permissions": "require_escalated", "justification": "it must"}),
        ),
    ] {
        let world = world()?;
        let made = world.cwd().join("../outside");
        let mut server = server(&world, arguments)?;
        let answer = call(&mut server, &form(), tool, &input, &json!({}))?;
        let (message, retry) = question(&answer, &json!({"action": "decline"}));
        assert!(
            message.contains("touch ../outside\n\nThe reason given: it must"),
            "{message}"
        );
        let done = call(&mut server, &form(), tool, &input, &retry)?;
        assert!(
            text(&done).contains("the user was asked, and declined"),
            "{done}"
        );
        assert!(!made.exists());
        let answer = call(&mut server, &form(), tool, &input, &json!({}))?;
        let (_, retry) = question(&answer, &json!({"action": "accept"}));
        assert!(!made.exists());
        call(&mut server, &form(), tool, &input, &retry)?;
        assert!(made.exists(), "{tool}");
        assert!(server.end()?.status.success());
    }
    Ok(())
}

#[test]
fn exception_from_a_rule_is_asked_for_and_counts_once() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, &[])?;
    let input = json!({"command": "touch made; git push --force"});
    let made = world.cwd().join("made");
    for (answer, expected) in [
        (json!({"action": "decline"}), "declined running it"),
        (json!({"action": "cancel"}), "gave no answer"),
    ] {
        let response = call(&mut server, &form(), "bash", &input, &json!({}))?;
        let (message, retry) = question(&response, &answer);
        assert!(
            message.starts_with("Run this once, although the rule no_force_push refuses it, in "),
            "{message}"
        );
        assert!(
            message.contains("touch made; git push --force"),
            "{message}"
        );
        let done = call(&mut server, &form(), "bash", &input, &retry)?;
        assert!(text(&done).contains(expected), "{done}");
        assert!(!made.exists());
    }
    let accept = json!({"action": "accept", "content": {}});
    let response = call(&mut server, &form(), "bash", &input, &json!({}))?;
    let (_, retry) = question(&response, &accept);
    // The answer counts for its command only.
    let other = json!({"command": "touch other; git push --force"});
    let response = call(&mut server, &form(), "bash", &other, &retry)?;
    question(&response, &accept);
    let response = call(&mut server, &form(), "bash", &input, &json!({}))?;
    let (_, retry) = question(&response, &accept);
    call(&mut server, &form(), "bash", &input, &retry)?;
    assert!(made.exists());
    assert!(!world.cwd().join("other").exists());
    let response = call(&mut server, &form(), "bash", &input, &json!({}))?;
    question(&response, &accept);
    // Without forms, the refusal stands.
    let done = call(&mut server, &json!({}), "bash", &input, &json!({}))?;
    assert!(
        text(&done).starts_with("Blocked: permission denied"),
        "{done}"
    );
    assert!(server.end()?.status.success());
    Ok(())
}
