//! Messages that a client library would not send, and the two ways to start a session.

use super::{SOON, ask, begin, call, server, text, world};
use agent_bash_tests::conformance::shake_hands;
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::{poll, product};
use anyhow::Result;
use serde_json::json;

#[test]
fn handshake_negotiates_version_and_names_the_server() -> Result<()> {
    let world = world()?;
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut command = world.command(product::agent_bash()?);
        command.arg("mcp");
        let mut server = ServerClient::start(command)?;
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
    world.assert_nothing_left(SOON);
    Ok(())
}

/// Version 2026-07-28 has no handshake: every request names its client.
#[test]
fn client_without_handshake_can_call_see_progress_and_cancel() -> Result<()> {
    let world = world()?;
    let mut command = world.command(product::agent_bash()?);
    command.arg("mcp");
    let mut server = ServerClient::start(command)?;
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
    poll::exists(&world.cwd().join("started"), SOON)?;
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
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn server_continues_after_invalid_messages_and_bad_calls() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "0")?;
    server.send_bytes(b"garbage\n\n\xff\xfe\n{\"half\": \n")?;
    for _ in 0..3 {
        assert_eq!(server.next(SOON)?["error"]["code"], -32700);
    }
    let long = "x".repeat(9 << 20);
    let long = format!("{{\"method\":\"ping\",\"x\":\"{long}\",\"id\":\"long\"}}\n");
    server.send_bytes(long.as_bytes())?;
    let lost = server.next(SOON)?;
    assert_eq!(
        (&lost["id"], &lost["error"]["message"]),
        (
            &json!("long"),
            &json!("the message is longer than 8 MiB and was not read")
        )
    );
    server.send(&json!({"id": "a", "method": "ping"}))?;
    let answer = server.next(SOON)?;
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!("a"), &json!(-32600))
    );
    assert_eq!(ask(&mut server, "ping", &json!({}))?["result"], json!({}));
    let unknown = ask(
        &mut server,
        "tools/call",
        &json!({"name": "sh", "arguments": {}}),
    )?;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    for (method, params, code, want) in [
        ("tools/call", json!({}), -32602, "missing field `name`"),
        (
            "tools/call",
            json!({"name": "bash", "arguments": []}),
            -32602,
            "`params` of tools/call",
        ),
        (
            "resources/read",
            json!({"uri": 5}),
            -32602,
            "`params` of resources/read",
        ),
        ("logging/setLevel", json!({"level": "loud"}), -32602, "loud"),
        ("tools/dance", json!({}), -32601, "tools/dance"),
    ] {
        let error = ask(&mut server, method, &params)?["error"].take();
        assert_eq!(error["code"], code, "{error}");
        assert!(
            error["message"].as_str().unwrap_or_default().contains(want),
            "{error}"
        );
    }
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
            json!({"id": 0, "limit": -1}),
            "`limit`: invalid value",
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
    world.assert_nothing_left(SOON);
    Ok(())
}

/// Messages before the handshake must not end the session.
#[test]
fn server_continues_after_messages_before_the_handshake() -> Result<()> {
    let world = world()?;
    let mut command = world.command(product::agent_bash()?);
    command.arg("mcp");
    let mut server = ServerClient::start(command)?;
    server.send_bytes(b"garbage\n")?;
    assert_eq!(server.next(SOON)?["error"]["code"], -32700);
    for early in [
        "notifications/initialized", "notifications/cancelled", "notifications/made_up",
    ] {
        server.send(&json!({"jsonrpc": "2.0", "method": early, "params": {"requestId": 1}}))?;
    }
    server.send(&json!({"jsonrpc": "2.0", "id": "x", "result": {}}))?;
    assert_eq!(ask(&mut server, "ping", &json!({}))?["result"], json!({}));
    assert!(ask(&mut server, "tools/list", &json!({}))?["error"].is_object());
    shake_hands(&mut server)?;
    assert_eq!(
        text(&call(
            &mut server,
            "bash",
            &json!({"command": "echo hello"})
        )?),
        "hello\n"
    );
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}
