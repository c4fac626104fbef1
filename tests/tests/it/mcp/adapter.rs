//! A server that offers the tools of an adapter.

use super::{SOON, ask, call, text, world};
use agent_bash_tests::conformance::shake_hands;
use agent_bash_tests::product;
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use anyhow::{Context, Result};
use serde_json::{Value, json};

fn server(world: &World, adapter: &str, structured: &str) -> Result<ServerClient> {
    let mut command = world.command(product::agent_bash()?);
    command
        .args(["mcp", "--adapter", adapter])
        .env("AGENT_BASH_MCP_STRUCTURED", structured);
    let mut server = ServerClient::start(command)?;
    shake_hands(&mut server)?;
    Ok(server)
}

#[test]
fn server_offers_only_the_tools_of_the_adapter() -> Result<()> {
    let world = world()?;
    for (adapter, names) in [
        ("codex", &["exec_command", "write_stdin"][..]),
        ("claude-code", &["Bash", "TaskStop"]),
        ("anthropic-bash", &["bash"]),
    ] {
        let mut server = server(&world, adapter, "off")?;
        let answer = ask(&mut server, "tools/list", &json!({}))?;
        let tools = answer["result"]["tools"].as_array().context("tools")?;
        let offered: Vec<_> = tools
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        assert_eq!(offered, names);
        for tool in tools {
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        }
        let params = json!({"name": "bash_jobs", "arguments": {}});
        let refused = ask(&mut server, "tools/call", &params)?;
        let error = refused["error"]["message"].as_str().context("an error")?;
        assert!(
            error.contains("has no tool `bash_jobs`") && error.contains(names[0]),
            "{error}"
        );
        assert!(server.end()?.status.success());
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn adapter_answer_has_structured_data_only_if_requested() -> Result<()> {
    let world = world()?;
    for (structured, has_data) in [("off", false), ("on", true)] {
        let mut server = server(&world, "codex", structured)?;
        let input = json!({ "cmd": "echo start; sleep 600", "yield_time_ms": 250 });
        let begun = call(&mut server, "exec_command", &input)?;
        assert!(
            text(&begun).contains("Process running with session ID 1\n"),
            "{begun}"
        );
        assert_eq!(
            begun["structuredContent"]["session_id"] == 1,
            has_data,
            "{begun}"
        );
        assert_eq!(begun.get("structuredContent").is_some(), has_data);
        let input = json!({ "session_id": 1, "chars": "\u{3}", "yield_time_ms": 30_000 });
        let ended = call(&mut server, "write_stdin", &input)?;
        assert!(
            text(&ended).contains("Process exited with code 130\n"),
            "{ended}"
        );
        let wrong = call(&mut server, "exec_command", &json!({ "command": "ls" }))?;
        assert_eq!(wrong["isError"], true);
        assert!(
            text(&wrong).contains("unknown field `command` (given \"ls\")"),
            "{wrong}"
        );
        assert_eq!(wrong.get("structuredContent"), None::<&Value>);
        assert!(server.end()?.status.success());
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn running_command_ends_with_its_client() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "codex", "off")?;
    let input = json!({ "cmd": "sleep 600 & sleep 600", "yield_time_ms": 250 });
    let begun = call(&mut server, "exec_command", &input)?;
    assert!(text(&begun).contains("session ID 1"), "{begun}");
    assert!(server.end()?.status.success());
    world.assert_nothing_left(SOON);
    Ok(())
}
