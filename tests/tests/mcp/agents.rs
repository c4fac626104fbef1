//! What an agent gets that is told nothing: text, whole and alone. Agents that find data in an answer show their model the JSON
//! of it in place of the text.

use super::{SOON, ask, call, text, world};
use agent_bash_tests::conformance::shake_hands_as;
use agent_bash_tests::conversation::Conversation;
use agent_bash_tests::product;
use agent_bash_tests::world::World;
use anyhow::{Context, Result};
use serde_json::{Value, json};

const PROFILES: [&str; 4] = ["standard", "modes", "paged", "workspace"];

/// Bytes of `tools/list`, which every request to a model carries.
const LONGEST_LIST: usize = 6 * 1024;

/// A server as an agent starts it.
fn server(
    world: &World,
    profile: &str,
    client: &str,
    structured: Option<&str>,
) -> Result<Conversation> {
    let mut command = world.command(product::agent_bash()?);
    command.args(["mcp", "--profile", profile]);
    if let Some(value) = structured {
        command.env("AGENT_BASH_MCP_STRUCTURED", value);
    }
    let mut server = Conversation::start(command)?;
    shake_hands_as(&mut server, client)?;
    Ok(server)
}

fn tools(server: &mut Conversation) -> Result<Vec<Value>> {
    let answer = ask(server, "tools/list", &json!({}))?;
    let tools = answer["result"]["tools"].as_array();
    Ok(tools.context("tools")?.clone())
}

#[test]
fn an_answer_is_text_alone_unless_data_is_asked_for() -> Result<()> {
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
fn what_every_request_carries_is_short_and_says_how_long_answers_are() -> Result<()> {
    let world = world()?;
    for profile in PROFILES {
        let mut server = server(&world, profile, "test", None)?;
        let tools = tools(&mut server)?;
        let bytes = serde_json::to_vec(&json!({"tools": tools}))?.len();
        assert!(bytes <= LONGEST_LIST, "{profile}: {bytes} bytes");
        let limit = |tool: &Value| tool["_meta"]["anthropic/maxResultSizeChars"].as_u64();
        let limits: Option<Vec<u64>> = tools.iter().map(limit).collect();
        let limits = limits.context("every tool says how long its answers are")?;
        // Beyond this Claude Code takes no one's word.
        assert!(limits.iter().all(|limit| *limit <= 500_000), "{limits:?}");
        // Of both streams as much as there can be.
        let flood = "seq 200000; seq 200000 >&2";
        let cut = call(&mut server, "bash", &json!({"command": flood}))?;
        assert!(text(&cut).chars().count() as u64 <= limits[0], "{profile}");
        drop(server);
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn the_descriptions_are_for_a_model() -> Result<()> {
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
            let said = tool.to_string();
            for word in ["::", "crate", "rustdoc", "[`", "ToolResult"] {
                assert!(!said.contains(word), "{profile}: {word}: {said}");
            }
            for (field, word) in [
                ("mode", "mode="),
                ("mode", "`mode"),
                ("stdin", "`stdin"),
                ("session", "session"),
                ("cwd", "`cwd`"),
                ("timeout", "`timeout`"),
            ] {
                let allowed = fields.contains_key(field) || !said.contains(word);
                assert!(allowed, "{profile} has no `{field}`: {said}");
            }
            for reader in ["view", "read_artifact"] {
                let allowed = names.contains(&reader) || !said.contains(reader);
                assert!(allowed, "{profile} has no `{reader}`: {said}");
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
