//! By default, an agent gets only the complete text. Agents that find structured data in an answer
//! show their model its JSON instead of the text.

use super::{SOON, ask, call, text, world};
use agent_bash_core::ToolResult;
use agent_bash_tests::conformance::shake_hands_as;
use agent_bash_tests::product;
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use anyhow::{Context, Result};
use serde_json::{Value, json};

const PROFILES: [&str; 4] = ["standard", "modes", "paged", "workspace"];

/// Size limit of `tools/list`, which is part of every request to a model.
const LONGEST_LIST: usize = 6 * 1024;

/// A server as an agent starts it.
fn server(
    world: &World,
    profile: &str,
    client: &str,
    structured: Option<&str>,
) -> Result<ServerClient> {
    let mut command = world.command(product::agent_bash()?);
    command.args(["mcp", "--profile", profile]);
    if let Some(value) = structured {
        command.env("AGENT_BASH_MCP_STRUCTURED", value);
    }
    let mut server = ServerClient::start(command)?;
    shake_hands_as(&mut server, client)?;
    Ok(server)
}

/// A server with the tools of an adapter.
fn adapted(world: &World, adapter: &str, client: &str) -> Result<ServerClient> {
    let mut command = world.command(product::agent_bash()?);
    command.args(["mcp", "--adapter", adapter]);
    let mut server = ServerClient::start(command)?;
    shake_hands_as(&mut server, client)?;
    Ok(server)
}

fn tools(server: &mut ServerClient) -> Result<Vec<Value>> {
    let answer = ask(server, "tools/list", &json!({}))?;
    let tools = answer["result"]["tools"].as_array();
    Ok(tools.context("tools")?.clone())
}

#[test]
fn answer_has_structured_data_only_if_requested() -> Result<()> {
    for (setting, has_data) in [(None, false), (Some("off"), false), (Some("on"), true)] {
        let world = world()?;
        let mut server = server(&world, "standard", "test", setting)?;
        let schemas = tools(&mut server)?
            .iter()
            .filter(|tool| tool["outputSchema"].is_object())
            .count();
        assert_eq!(schemas, usize::from(has_data), "{setting:?}");
        let job = json!({"command": "sleep 100", "mode": "background"});
        call(&mut server, "bash", &job)?;
        for (tool, arguments, want) in [
            ("bash", json!({"command": "echo hi"}), "hi\n"),
            (
                "bash",
                json!({"command": "echo no; exit 3"}),
                "no\n\nCommand exited with code 3",
            ),
            ("bash_output", json!({"job": "1"}), "[Job 1 is running.]"),
            (
                "bash_kill",
                json!({"job": "1"}),
                "Job 1 was ended by SIGTERM.",
            ),
            ("bash_jobs", json!({}), "1  pid "),
        ] {
            let answer = call(&mut server, tool, &arguments)?;
            assert!(text(&answer).starts_with(want), "{answer}");
            assert_eq!(
                answer["content"].as_array().map(Vec::len),
                Some(1),
                "{answer}"
            );
            assert_eq!(
                answer.get("structuredContent").is_some(),
                has_data,
                "{answer}"
            );
        }
        call(&mut server, "bash", &json!({"command": "seq 50000"}))?;
        let page = call(
            &mut server,
            "read_artifact",
            &json!({"id": "0", "limit": 1}),
        )?;
        assert!(text(&page).starts_with("1\n"), "{page}");
        assert_eq!(page.get("structuredContent").is_some(), has_data, "{page}");
        drop(server);
        world.assert_nothing_left(SOON);
    }
    Ok(())
}

#[test]
fn tool_list_is_short_and_announces_result_sizes() -> Result<()> {
    let world = world()?;
    for profile in PROFILES {
        let mut server = server(&world, profile, "test", None)?;
        let tools = tools(&mut server)?;
        // No model reads `_meta`.
        let mut read = tools.clone();
        for tool in &mut read {
            tool.as_object_mut().context("a tool")?.remove("_meta");
        }
        let bytes = serde_json::to_vec(&json!({"tools": read}))?.len();
        assert!(bytes <= LONGEST_LIST, "{profile}: {bytes} bytes");
        let loaded = |tool: &Value| tool["_meta"]["anthropic/alwaysLoad"] == true;
        assert!(tools.iter().all(loaded), "{tools:?}");
        let limit = |tool: &Value| tool["_meta"]["anthropic/maxResultSizeChars"].as_u64();
        let limits: Option<Vec<u64>> = tools.iter().map(limit).collect();
        let limits = limits.context("every tool says how long its answers are")?;
        // Claude Code caps announced sizes at this.
        assert!(limits.iter().all(|limit| *limit <= 500_000), "{limits:?}");
        // The maximum of both streams.
        let flood = "seq 200000; seq 200000 >&2";
        let cut = call(&mut server, "bash", &json!({"command": flood}))?;
        assert!(text(&cut).chars().count() as u64 <= limits[0], "{profile}");
        drop(server);
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn tool_descriptions_are_written_for_models() -> Result<()> {
    let world = world()?;
    for profile in PROFILES {
        let mut server = server(&world, profile, "test", None)?;
        let tools = tools(&mut server)?;
        let names: Vec<&str> = tools
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        let fields = tools[0]["inputSchema"]["properties"]
            .as_object()
            .context("fields")?;
        for tool in &tools {
            let printed = tool.to_string();
            for word in ["::", "crate", "rustdoc", "[`", "ToolResult"] {
                assert!(!printed.contains(word), "{profile}: {word}: {printed}");
            }
            for (field, word) in [
                ("mode", "mode="),
                ("mode", "`mode"),
                ("stdin", "`stdin"),
                ("session", "session"),
                ("cwd", "`cwd`"),
                ("timeout", "`timeout`"),
            ] {
                let allowed = fields.contains_key(field) || !printed.contains(word);
                assert!(allowed, "{profile} has no `{field}`: {printed}");
            }
            for reader in ["view", "read_artifact"] {
                let allowed = names.contains(&reader) || !printed.contains(reader);
                assert!(allowed, "{profile} has no `{reader}`: {printed}");
            }
        }
        let unknown = ask(
            &mut server,
            "tools/call",
            &json!({"name": "sh", "arguments": {}}),
        )?;
        let want = format!("there is no tool `sh`; offered are {}", names.join(", "));
        assert_eq!(unknown["error"]["message"], want);
        drop(server);
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

/// Agents that truncate results, and what they pass on: bytes and lines.
const CUTTING: [(&str, usize, usize); 3] = [
    // 40,000 bytes, in which line ends may count twice.
    ("codex-mcp-client", 35_000, usize::MAX),
    // The limit without the agent's tags.
    ("gemini-cli-mcp-client", 40_000 - 42, usize::MAX),
    ("opencode", 51_200, 2000),
];

#[test]
fn texts_fit_the_limits_of_agents_that_truncate() -> Result<()> {
    let floods = [
        "seq 30000; exit 3",
        "seq 30000; seq 30000 >&2; exit 3",
        // Almost nothing but line ends.
        "yes '' | head -n 60000 | cat; exit 3",
        "head -c 300000 /dev/zero | tr '\\0' x; exit 3",
        "yes é | head -n 50000 | cat; exit 3",
    ];
    for profile in PROFILES {
        let world = world()?;
        let known = CUTTING.into_iter().map(Some);
        for client in known.chain([None]) {
            let (name, bytes, lines) = client.unwrap_or(("test", usize::MAX, usize::MAX));
            let mut server = server(&world, profile, name, None)?;
            let mut longest = 0;
            let mut most = 0;
            for flood in floods {
                let cut = call(
                    &mut server,
                    "bash",
                    &json!({"command": flood, "timeout": 1_000_000}),
                )?;
                let text = text(&cut);
                longest = longest.max(text.len());
                most = most.max(text.lines().count());
                let failed = ["code 3", "code: 3", "Exit code 3"]
                    .iter()
                    .any(|end| text.contains(end));
                assert!(failed, "{profile}, {name}: {flood}");
                let linked = text.contains("artifact://") || text.contains("Full output saved to:");
                let names_it = matches!(profile, "standard" | "paged");
                let noticed = text.contains("[A timeout of ");
                assert!(noticed || profile != "standard", "{name}: {flood}");
                assert!(linked || !names_it, "{profile}, {name}: {flood}");
            }
            assert!(
                longest <= bytes && most <= lines,
                "{profile}, {name}: {longest}, {most}"
            );
            // The text is not shorter than necessary.
            let shown = if profile == "modes" {
                0
            } else {
                bytes.min(40_000) / 3
            };
            assert!(longest > shown, "{profile}, {name}: {longest}");
            if client.is_none() {
                assert!(
                    longest > 51_200 || profile == "modes",
                    "{profile}: nothing is cut here"
                );
            }
            drop(server);
        }
        world.assert_nothing_left(SOON);
    }
    Ok(())
}

#[test]
fn failed_call_is_no_error_for_agents_that_would_not_show_its_text() -> Result<()> {
    for (name, is_marked, is_long_marked) in [
        ("gemini-cli-mcp-client", false, false),
        ("qwen-cli-mcp-client-agent-bash", false, false),
        ("claude-code", true, false),
        ("codex-mcp-client", true, true),
        ("test", true, true),
    ] {
        let world = world()?;
        let mut server = server(&world, "standard", name, None)?;
        for (command, end, is_error) in [
            (json!("exit 3"), "Command exited with code 3", is_marked),
            (json!("git push --force"), "git push --force", is_marked),
            (json!(1), "", is_marked),
            (
                json!("seq 3000; exit 3"),
                "Command exited with code 3",
                is_long_marked,
            ),
        ] {
            let answer = call(&mut server, "bash", &json!({ "command": command }))?;
            assert_eq!(answer["isError"] == true, is_error, "{name}: {answer}");
            assert!(text(&answer).ends_with(end), "{name}: {answer}");
        }
        drop(server);
        world.assert_nothing_left(SOON);
    }
    Ok(())
}

#[test]
fn adapter_texts_fit_the_limits_of_agents_that_truncate() -> Result<()> {
    let tools = [
        ("anthropic-agent", "bash", "command"),
        ("claude-code", "Bash", "command"),
        ("codex", "exec_command", "cmd"),
        ("gemini", "run_shell_command", "command"),
        ("openai-shell", "shell", "commands"),
    ];
    for (adapter, tool, field) in tools {
        let world = world()?;
        let known = CUTTING.into_iter().map(Some);
        for client in known.chain([None]) {
            let (name, bytes, lines) = client.unwrap_or(("test", usize::MAX, usize::MAX));
            let mut server = adapted(&world, adapter, name)?;
            let mut longest = 0;
            for flood in ["seq 30000", "yes '' | head -n 60000 | cat"] {
                let flood = match field {
                    "commands" => json!([flood, flood]),
                    _ => json!(flood),
                };
                let cut = call(&mut server, tool, &json!({ field: flood }))?;
                let text = text(&cut);
                longest = longest.max(text.len());
                assert!(
                    text.len() <= bytes && text.lines().count() <= lines,
                    "{adapter}, {name}: {}, {}",
                    text.len(),
                    text.lines().count()
                );
                let linked = ["artifact://", "/artifacts/"]
                    .iter()
                    .any(|link| text.contains(link));
                assert!(linked || client.is_none(), "{adapter}, {name}: {text}");
            }
            // The text is not shorter than necessary. Control: other clients get the adapter's full
            // text.
            let least = if client.is_some() { 10_000 } else { 39_000 };
            assert!(longest > least, "{adapter}, {name}: {longest}");
            drop(server);
        }
        world.assert_nothing_left(SOON);
    }
    Ok(())
}

#[test]
fn pages_fit_the_limits_and_name_the_next_page() -> Result<()> {
    for (name, bytes, lines) in CUTTING {
        let world = world()?;
        let mut server = server(&world, "standard", name, None)?;
        let fits = |answer: &Value| {
            let text = text(answer);
            assert!(
                text.len() <= bytes && text.lines().count() <= lines,
                "{name}: {}",
                text.len()
            );
        };
        call(&mut server, "bash", &json!({"command": "seq 30000"}))?;
        // The whole output, page by page.
        let mut seen = 0;
        while seen < 30_000 {
            let page = json!({"id": "artifact://0", "offset": seen + 1, "limit": 100_000});
            let page = call(&mut server, "read_artifact", &page)?;
            fits(&page);
            for line in text(&page).lines().take_while(|line| !line.is_empty()) {
                seen += 1;
                assert_eq!(line, seen.to_string(), "{name}");
            }
        }
        let search = json!({"id": "0", "pattern": "5", "limit": 100_000, "context": 3});
        let found = call(&mut server, "read_artifact", &search)?;
        fits(&found);
        assert!(text(&found).contains("to go on.]"), "{found}");
        // A job's output is read in the same way.
        let job = json!({"command": "seq 30000", "mode": "background"});
        call(&mut server, "bash", &job)?;
        let mut seen = 0;
        while seen < 30_000 {
            let part = call(&mut server, "bash_output", &json!({"job": "1", "wait": 30}))?;
            fits(&part);
            for line in text(&part).lines().take_while(|line| !line.is_empty()) {
                seen += 1;
                assert_eq!(line, seen.to_string(), "{name}");
            }
        }
        let tail = call(
            &mut server,
            "bash_output",
            &json!({"job": "1", "tail": 30_000}),
        )?;
        fits(&tail);
        assert!(text(&tail).contains("\n30000\n"), "{name}");
        drop(server);
        world.assert_nothing_left(SOON);
    }
    Ok(())
}

/// Protocol version 2026-07-28, in which every request names its client.
#[test]
fn client_without_handshake_is_recognised_by_its_requests() -> Result<()> {
    let world = world()?;
    let mut command = world.command(product::agent_bash()?);
    command.arg("mcp");
    let mut server = ServerClient::start(command)?;
    let mut most_lines = |name: &str| -> Result<usize> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"},
        });
        let params = json!({"name": "bash", "arguments": {"command": "seq 50000"}, "_meta": meta});
        let answer = ask(&mut server, "tools/call", &params)?;
        Ok(text(&answer["result"]).lines().count())
    };
    assert!(most_lines("opencode")? <= 2000);
    assert!(most_lines("test")? > 8000);
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

/// As for any result: the counts are consistent, and the text says what is shown.
#[test]
fn running_call_has_consistent_counts() -> Result<()> {
    let world = world()?;
    for (client, printed, shown) in [
        ("test", 30_000_u64, 16 * 1024_u64),
        ("opencode", 30_000, 16 * 1024),
        ("test", 3, 16 * 1024),
    ] {
        let mut command = world.command(product::agent_bash()?);
        command
            .arg("mcp")
            // By then, a busy machine has printed everything, too.
            .env("AGENT_BASH_MCP_HANDLE_AFTER", "3s")
            .env("AGENT_BASH_MCP_STRUCTURED", "on");
        let mut server = ServerClient::start(command)?;
        shake_hands_as(&mut server, client)?;
        let _ = std::fs::remove_file(world.cwd().join("go"));
        let script = format!("seq {printed}; until test -e go; do sleep 0.01; done; exit 4");
        let answer = call(&mut server, "bash", &json!({"command": script}))?;
        let result: ToolResult = serde_json::from_value(answer["structuredContent"].clone())?;
        let output = &result.output;
        let bytes: u64 = (1..=printed).map(|n| n.to_string().len() as u64 + 1).sum();
        assert_eq!((output.total_bytes, output.total_lines), (bytes, printed));
        assert_eq!(output.shown_bytes + output.dropped_bytes, bytes);
        assert_eq!(output.shown_lines + output.dropped_lines, printed);
        assert_eq!(
            output.shown_ranges,
            [[printed + 1 - output.shown_lines, printed]]
        );
        assert_eq!(output.truncated, printed > 3);
        assert_eq!(output.truncated_by.is_some(), printed > 3);
        assert!(output.shown_bytes <= shown);
        let [first, _] = output.shown_ranges[0];
        assert!(
            result.text.starts_with(&format!("{first}\n")),
            "{}",
            result.text
        );
        let expected_text =
            format!("[Showing lines {first}-{printed} of {printed} so far.]\n[The command is");
        assert_eq!(
            result.text.contains(&expected_text),
            printed > 3,
            "{}",
            result.text
        );
        // No new output; the last lines are unchanged.
        let output = |server: &mut ServerClient, more: Value| -> Result<Value> {
            let mut arguments = json!({"job": "call-1"});
            arguments
                .as_object_mut()
                .context("an object")?
                .extend(more.as_object().context("an object")?.clone());
            call(server, "bash_output", &arguments)
        };
        let none = output(&mut server, json!({}))?;
        assert_eq!(
            text(&none),
            format!("[call-1 is running: {bytes} bytes so far.]")
        );
        let tail = output(&mut server, json!({"tail": 2}))?;
        let [last, before] = [printed, printed - 1];
        let want = format!(
            "{before}\n{last}\n\n[call-1 is running: {bytes} bytes so far. Showing lines {before}-{last} of {last}.]"
        );
        assert_eq!(text(&tail), want);
        assert_eq!(
            tail["structuredContent"]["from"],
            bytes - format!("{before}\n{last}\n").len() as u64
        );
        std::fs::write(world.cwd().join("go"), "")?;
        let end = output(&mut server, json!({"wait": 50}))?;
        assert!(
            text(&end).ends_with("\n\nCommand exited with code 4"),
            "{}",
            text(&end)
        );
        drop(server);
    }
    world.assert_nothing_left(SOON);
    Ok(())
}
