//! Tools of adapters: calls that are answered before they end, and their leftovers.
//!
//! The results of single calls are tested by the conformance cases of each adapter.

use super::{SOON, answer, ask, data, server, world};
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::{poll, product};
use anyhow::{Context, Result};
use serde_json::{Value, json};

fn call(server: &mut ServerClient, tool: &str, input: &Value) -> Result<Value> {
    let call = json!({"type": "adapter_call", "adapter": "codex", "tool": tool, "input": input});
    data(server, call)
}

fn output(answer: &Value) -> &str {
    answer["structured"]["output"].as_str().unwrap_or_default()
}

/// Reads until the command has ended. Returns its complete output, and the last answer.
fn read_to_end(server: &mut ServerClient, first: &Value) -> Result<(String, Value)> {
    let (mut all, mut last) = (output(first).to_owned(), first.clone());
    while let Some(session) = last["structured"]["session_id"].as_u64() {
        last = call(server, "write_stdin", &json!({ "session_id": session }))?;
        all.push_str(output(&last));
    }
    Ok((all, last))
}

#[test]
fn command_continues_after_its_first_answer_until_it_ends() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    // The command waits for a file, not for a time, so it cannot have ended before its first
    // answer.
    let script = "echo start; until test -e go; do sleep 0.02; done; echo end; exit 3";
    let input = json!({ "cmd": script, "yield_time_ms": 250 });
    let first = call(&mut server, "exec_command", &input)?;
    assert_eq!(first["structured"]["session_id"], 1);
    assert_eq!(first["result"], Value::Null, "{first}");
    assert!(
        first["content"]
            .as_str()
            .unwrap()
            .contains("Process running with session ID 1\n")
    );
    // Other requests are served meanwhile.
    call(&mut server, "exec_command", &json!({ "cmd": "touch go" }))?;
    let (all, last) = read_to_end(&mut server, &first)?;
    assert_eq!(all, "start\nend\n");
    assert_eq!(last["structured"]["exit_code"], 3);
    assert_eq!(
        last["result"]["status"],
        json!({"kind": "exited", "code": 3})
    );
    let gone = call(&mut server, "write_stdin", &json!({ "session_id": 1 }))?;
    assert_eq!(gone["content"], "write_stdin failed: Unknown process id 1");
    assert!(server.end()?.status.success());
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn input_reaches_the_terminal_of_codex_size() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    let script = "stty size; read -r line; echo \"got $line\"; read -r line || echo over";
    let input = json!({ "cmd": script, "tty": true, "yield_time_ms": 250 });
    let first = call(&mut server, "exec_command", &input)?;
    let session = first["structured"]["session_id"]
        .as_u64()
        .context("it reads")?;
    let mut all = output(&first).to_owned();
    for chars in ["hello\n", "\u{4}"] {
        let input = json!({ "session_id": session, "chars": chars, "yield_time_ms": 30_000 });
        let typed = match chars {
            // The program continues reading; its output arrives eventually.
            "hello\n" => json!({ "session_id": session, "chars": chars, "yield_time_ms": 250 }),
            _ => input,
        };
        let answer = call(&mut server, "write_stdin", &typed)?;
        all.push_str(output(&answer));
        if chars == "\u{4}" {
            assert_eq!(answer["structured"]["exit_code"], 0, "{answer}");
        }
    }
    let lines: Vec<&str> = all.lines().collect();
    assert_eq!(lines[0], "24 80", "{all}");
    assert!(
        lines.contains(&"got hello") && lines.contains(&"over"),
        "{all}"
    );
    assert!(server.end()?.status.success());
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn running_command_ends_with_its_client_and_on_cancellation() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    let input = json!({ "cmd": "touch begun; sleep 600 & sleep 600", "yield_time_ms": 250 });
    let first = call(&mut server, "exec_command", &input)?;
    assert_eq!(first["structured"]["session_id"], 1);
    server.send(
        &json!({"id": "long", "type": "adapter_call", "adapter": "codex", "tool": "exec_command",
        "input": {"cmd": "echo part; touch called; sleep 600", "yield_time_ms": 30_000}}),
    )?;
    let called = world.cwd().join("called");
    poll::until(SOON, || called.exists().then_some(())).context("it has not begun")?;
    let cancelled = ask(&mut server, json!({"type": "cancel", "target": "long"}))?;
    assert_eq!(cancelled["data"]["cancelled"], true);
    let ended = answer(&server, &json!("long"))?["data"].clone();
    assert_eq!(ended["result"]["status"]["kind"], "cancelled", "{ended}");
    assert!(output(&ended).starts_with("part\n"));
    // The other session still exists, with its background processes.
    assert!(server.end()?.status.success());
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn truncated_output_links_to_the_whole() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    let script = "seq 100000; until test -e go; do sleep 0.02; done; seq 100001 200000";
    let input = json!({ "cmd": script, "yield_time_ms": 5_000, "max_output_tokens": 20 });
    let first = call(&mut server, "exec_command", &input)?;
    let printed = output(&first).to_owned();
    assert!(
        printed.contains("tokens truncated…") && printed.ends_with("has the link]"),
        "{printed}"
    );
    call(&mut server, "exec_command", &json!({ "cmd": "touch go" }))?;
    let (_, last) = read_to_end(&mut server, &first)?;
    let link = output(&last)
        .rsplit_once("[Full output: ")
        .context("no link")?
        .1;
    let link = link.trim_end_matches(']');
    let shown = data(
        &mut server,
        json!({"type": "artifact.show", "artifact": link, "tail": 1}),
    )?;
    assert_eq!(
        (&shown["text"], &shown["total_lines"]),
        (&json!("200000\n"), &json!(200_000))
    );
    assert!(server.end()?.status.success());
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn tools_of_hello_are_proposed_to_adapters() -> Result<()> {
    let world = world()?;
    std::fs::write(world.cwd().join("notes"), "a line\n")?;
    let mut command = world.command(product::agent_bash()?);
    command
        .arg("rpc")
        .env("AGENT_BASH_INTERCEPTOR_MODE", "block");
    let mut server = ServerClient::start(command)?;
    for (tools, kind) in [(json!([]), "exited"), (json!(["read"]), "blocked")] {
        data(&mut server, json!({"type": "hello", "tools": tools}))?;
        let answer = call(&mut server, "exec_command", &json!({ "cmd": "cat notes" }))?;
        assert_eq!(answer["result"]["status"]["kind"], kind, "{answer}");
    }
    assert!(server.end()?.status.success());
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn task_can_be_stopped_only_once() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    let mut claude = |tool: &str, input: Value| {
        let call =
            json!({"type": "adapter_call", "adapter": "claude-code", "tool": tool, "input": input});
        data(&mut server, call)
    };
    let begun = claude(
        "Bash",
        json!({"command": "sleep 600", "run_in_background": true}),
    )?;
    let task = begun["structured"]["backgroundTaskId"].clone();
    let stopped = claude("TaskStop", json!({ "task_id": task }))?;
    assert_eq!(
        (&stopped["is_error"], &stopped["structured"]["task_id"]),
        (&json!(false), &task)
    );
    let again = claude("TaskStop", json!({ "task_id": task }))?;
    assert_eq!(again["content"], "task 1 is not running: it has ended");
    assert_eq!(again["is_error"], true);
    assert!(server.end()?.status.success());
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn unknown_names_are_errors_of_the_request() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    for (adapter, tool, want) in [
        (
            "cursor",
            "bash",
            "there is no adapter `cursor`; there are anthropic-bash, ",
        ),
        (
            "codex",
            "bash",
            "`codex` has no tool `bash`; its tools: exec_command, write_stdin",
        ),
    ] {
        let call = json!({"type": "adapter_call", "adapter": adapter, "tool": tool, "input": {}});
        let answer = ask(&mut server, call)?;
        assert_eq!(answer["success"], false);
        assert!(
            answer["error"].as_str().unwrap().starts_with(want),
            "{answer}"
        );
    }
    let answer = ask(&mut server, json!({"type": "schema", "adapter": "cursor"}))?;
    assert_eq!(answer["success"], false);
    let tools = data(
        &mut server,
        json!({"type": "schema", "adapter": "anthropic-bash"}),
    )?;
    assert_eq!(
        tools,
        json!({"tools": [{"type": "bash_20250124", "name": "bash"}]})
    );
    assert!(server.end()?.status.success());
    world.assert_nothing_left(SOON);
    Ok(())
}
