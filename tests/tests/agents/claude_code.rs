//! Claude Code.

use crate::agent::{Agent, AgentHome, Package, Shown};
use crate::wire::MESSAGES;
use anyhow::Result;
use serde_json::{Value, json};
use std::process::Command;
use std::sync::OnceLock;

static PACKAGE: Package = Package {
    version: "2.1.197",
    spec: |cpu| format!("@anthropic-ai/claude-code-linux-{cpu}@2.1.197"),
    program: |cpu, _| format!("@anthropic-ai/claude-code-linux-{cpu}/claude"),
    found: OnceLock::new(),
};

/// Claude Code, with the tool `Bash`.
pub(crate) const CLAUDE_CODE: Agent = Agent {
    name: "Claude Code",
    package: &PACKAGE,
    wire: &MESSAGES,
    tool: "mcp__agent-bash__bash",
    shell: ("Bash", "command"),
    hook: "claude-code",
    start,
    reads,
    inside: |returned| {
        Ok(Shown {
            text: reads(returned),
            error: Some(returned["is_error"] == true),
        })
    },
};

fn start(place: &AgentHome<'_>) -> Result<Command> {
    let servers = json!({"mcpServers": place.mcp_servers(&json!({}))});
    let servers = place.write("servers.json", &servers.to_string())?;
    let hooks = json!({"hooks": place.hooks("PreToolUse", "Bash")});
    place.write(".claude/settings.json", &hooks.to_string())?;
    let mut command = place.command(place.program)?;
    command
        .args(["-p", "go on", "--strict-mcp-config", "--mcp-config"])
        .arg(servers)
        .args(["--allowedTools", "mcp__agent-bash__bash,Bash"])
        .env("ANTHROPIC_BASE_URL", &place.model)
        .env("ANTHROPIC_API_KEY", "none")
        .env("CLAUDE_CODE_TMPDIR", place.world.home().join("tmp"))
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("DISABLE_TELEMETRY", "1")
        .env("DISABLE_ERROR_REPORTING", "1");
    Ok(command)
}

/// A string or a list of blocks.
fn reads(returned: &Value) -> String {
    match &returned["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|block| block["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}
