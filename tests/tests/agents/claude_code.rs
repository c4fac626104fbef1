//! Claude Code.

use crate::agent::{Agent, AgentHome, Integration, Package, Shown};
use crate::model::Ask;
use crate::shell::refused_line;
use crate::wire::MESSAGES;
use anyhow::Result;
use serde_json::{Value, json};
use std::process::Command;
use std::sync::OnceLock;

static PACKAGE: Package = Package {
    version: "2.1.332",
    spec: |cpu| format!("@anthropic-ai/claude-code-linux-{cpu}@2.1.332"),
    program: |cpu, _| format!("@anthropic-ai/claude-code-linux-{cpu}/claude"),
    found: OnceLock::new(),
};

/// The tools that need no permission.
const TOOLS: &str = "mcp__agent-bash__bash,mcp__agent-bash__bash_changes,Bash,Read";

/// Claude Code, with the tool `Bash`.
pub(crate) const CLAUDE_CODE: Agent = Agent {
    name: "Claude Code",
    package: &PACKAGE,
    wire: &MESSAGES,
    tool: "mcp__agent-bash__bash",
    shell: ("Bash", "command"),
    other: |file| Ask::new("Read", json!({"file_path": file})),
    hook: "claude-code",
    start,
    install_plugin: |home| home.install_from_marketplace("install"),
    reads,
    inside: |returned| {
        Ok(Shown {
            text: reads(returned),
            error: Some(returned["is_error"] == true),
        })
    },
};

fn start(home: &AgentHome<'_>) -> Result<Command> {
    let mut servers = json!({"mcpServers": home.mcp_servers(&json!({}))});
    let mut settings = json!({"hooks": home.hooks("PreToolUse", "Bash")});
    if let Integration::McpWithUser(action) = home.integration {
        let answer = json!({"hookEventName": "Elicitation", "action": action, "content": {}});
        let answer = json!({"hookSpecificOutput": answer});
        let hook = json!({"type": "command", "command": format!("echo '{answer}'")});
        settings["hooks"] = json!({"Elicitation": [{"hooks": [hook]}]});
    }
    if let Some(prefix) = home.shell("agent-bash-shell") {
        settings["env"] = json!({"CLAUDE_CODE_SHELL_PREFIX": prefix});
        let hook = json!({"type": "command", "command": refused_line("started-hook", "hook")});
        settings["hooks"] = json!({"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]});
        let server = refused_line("started-server", "server");
        servers["mcpServers"] = json!({"a": {"command": "sh", "args": ["-c", server]}});
    }
    let servers = home.write("servers.json", &servers.to_string())?;
    home.write(".claude/settings.json", &settings.to_string())?;
    let mut command = home.command(home.program)?;
    command
        .args(["-p", "go on", "--strict-mcp-config", "--mcp-config"])
        .arg(servers)
        .args(["--allowedTools", TOOLS])
        .env("ANTHROPIC_BASE_URL", &home.model)
        .env("ANTHROPIC_API_KEY", "none")
        .env("CLAUDE_CODE_TMPDIR", home.world.home().join("tmp"))
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
