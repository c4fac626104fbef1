//! Codex, with a model that calls tools directly, and with one that calls them from scripts.

use crate::agent::{Agent, AgentHome, Package, Shown};
use crate::model::Ask;
use crate::wire::{RESPONSES, RESPONSES_BY_SCRIPT};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::Command;
use std::sync::OnceLock;

static PACKAGE: Package = Package {
    version: "0.171.0",
    spec: |cpu| format!("@openai/codex@0.171.0-linux-{cpu}"),
    program: |_, machine| format!("@openai/codex/vendor/{machine}-unknown-linux-musl/bin/codex"),
    found: OnceLock::new(),
};

/// The model calls a tool and reads its answer.
pub(crate) const CODEX: Agent = Agent {
    name: "Codex",
    package: &PACKAGE,
    wire: &RESPONSES,
    tool: "mcp__agent_bash/bash",
    shell: ("exec_command", "cmd"),
    other: |_| Ask::new("get_goal", json!({})),
    hook: "codex",
    start: |home| start(home, "gpt-5.5"),
    install_plugin: |home| home.install_from_marketplace("add"),
    reads,
    inside: |returned| {
        let text = reads(returned);
        let (head, text) = text.split_once("\nOutput:").with_context(|| text.clone())?;
        ensure!(head.starts_with("Wall time: "), "another frame: {head}");
        let text = text.strip_prefix('\n').unwrap_or(text);
        Ok(Shown {
            text: text.to_owned(),
            error: None,
        })
    },
};

/// The model writes a script that calls a tool, and reads the script's output: here the whole
/// answer, as JSON.
pub(crate) const CODEX_BY_SCRIPT: Agent = Agent {
    name: "Codex (code mode)",
    wire: &RESPONSES_BY_SCRIPT,
    tool: "mcp__agent_bash__bash",
    start: |home| start(home, "gpt-6.1-sol"),
    inside: |returned| {
        let text = reads(returned);
        let (head, answer) = text
            .split_once("\nOutput:\n")
            .with_context(|| text.clone())?;
        ensure!(
            head.starts_with("Script completed\nWall time "),
            "another frame: {head}"
        );
        let answer: Value = serde_json::from_str(answer).with_context(|| answer.to_owned())?;
        let fields = answer.as_object().context("an answer is an object")?;
        let known = |name: &String| ["content", "isError"].contains(&name.as_str());
        ensure!(
            fields.keys().all(known),
            "the model reads more than the text: {answer}"
        );
        let text = answer["content"][0]["text"].as_str().context("no text")?;
        Ok(Shown {
            text: text.to_owned(),
            error: Some(answer["isError"] == true),
        })
    },
    ..CODEX
};

fn start(home: &AgentHome<'_>, model: &str) -> Result<Command> {
    let mut settings = format!(
        "model = {model:?}\nmodel_provider = \"stand-in\"\n\
         approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\ncheck_for_update_on_startup = false\n\
         [analytics]\nenabled = false\n\
         [model_providers.stand-in]\nname = \"stand-in\"\nbase_url = \"{}/v1\"\nwire_api = \"responses\"\n",
        home.model
    );
    if let Some(environment) = home.server_environment() {
        settings.push_str("[mcp_servers.agent-bash]\ncommand = \"agent-bash\"\nargs = [\"mcp\"]\n");
        settings.push_str("[mcp_servers.agent-bash.env]\n");
        for (name, value) in environment {
            let _ = writeln!(settings, "{name} = {value:?}");
        }
    }
    home.write(".codex/config.toml", &settings)?;
    let hooks = json!({"hooks": home.hooks("PreToolUse", "Bash")});
    home.write(".codex/hooks.json", &hooks.to_string())?;
    let mut command = home.command(home.program)?;
    // A user would have to approve the hook once; the test cannot.
    command.args([
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-hook-trust",
        "go on",
    ]);
    Ok(command)
}

/// A string or a list of them.
fn reads(returned: &Value) -> String {
    match &returned["output"] {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let texts = items.iter().filter_map(|item| item["text"].as_str());
            texts.collect::<Vec<_>>().concat()
        }
        _ => String::new(),
    }
}
