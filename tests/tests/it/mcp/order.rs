//! Concurrent requests: the order in which they start, and their ids.

use super::{SOON, begin, call, server, text, world};
use agent_bash_tests::conformance::shake_hands;
use agent_bash_tests::product;
use agent_bash_tests::server_client::ServerClient;
use anyhow::{Context, Result};
use serde_json::json;

/// Calls sent at once.
const CALLS: u64 = 20;

#[test]
fn calls_of_one_session_run_in_sending_order() -> Result<()> {
    let world = world()?;
    let mut plain = server(&world, "0")?;
    let mut command = world.command(product::agent_bash()?);
    command.args(["mcp", "--adapter", "anthropic-bash"]);
    let mut adapter = ServerClient::start(command)?;
    shake_hands(&mut adapter)?;
    let script = "echo $((++n))";
    for (server, arguments) in [
        (&mut plain, json!({"command": script, "session": "s"})),
        (&mut adapter, json!({"command": script})),
    ] {
        let params = json!({"name": "bash", "arguments": arguments});
        let mut ids = Vec::new();
        for _ in 0..CALLS {
            ids.push(begin(server, "tools/call", &params)?);
        }
        let mut printed = Vec::new();
        for _ in 0..CALLS {
            let answer = server.next_where(SOON, |line| line["result"].is_object())?;
            let id = answer["id"].as_u64().context("an id")?;
            let number: u64 = text(&answer["result"]).trim().parse()?;
            printed.push((id, number));
        }
        printed.sort_unstable();
        let want: Vec<_> = ids.into_iter().zip(1..).collect();
        assert_eq!(printed, want);
    }
    drop((plain, adapter));
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn id_in_flight_cannot_be_reused() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "0")?;
    for id in [json!(1000), json!("thousand")] {
        let call = |command: &str| {
            let params = json!({"name": "bash", "arguments": {"command": command}});
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
        };
        let next = |server: &ServerClient| server.next_where(SOON, |line| line["id"] == id);
        let go = world.cwd().join(id.to_string().replace('"', ""));
        let until = format!("until [ -e {} ]; do sleep 0.02; done", go.display());
        server.send(&call(&format!("{until}; echo first")))?;
        server.send(&call("echo second"))?;
        let refused = next(&server)?;
        let error = refused["error"]["message"].as_str();
        let error = error.with_context(|| refused.to_string())?;
        assert!(error.contains("is in flight"), "{error}");
        assert_eq!(refused["error"]["code"], -32600);
        std::fs::write(go, "")?;
        assert_eq!(text(&next(&server)?["result"]), "first\n");
        for _ in 0..20 {
            server.send(&call("echo third"))?;
            assert_eq!(text(&next(&server)?["result"]), "third\n");
        }
    }
    assert_eq!(
        text(&call(&mut server, "bash", &json!({"command": "echo x"}))?),
        "x\n"
    );
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}
