//! Gemini CLI.

use crate::agent::{Agent, AgentHome, PLUGINS, Package, Shown};
use crate::model::Ask;
use crate::wire::GENERATE_CONTENT;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

static PACKAGE: Package = Package {
    version: "0.61.0",
    spec: |_| "@google/gemini-cli@0.61.0".to_owned(),
    program: |_, _| "@google/gemini-cli/bundle/gemini.js".to_owned(),
    found: OnceLock::new(),
};

/// Gemini CLI, with the tool `run_shell_command`.
pub(crate) const GEMINI_CLI: Agent = Agent {
    name: "Gemini CLI",
    package: &PACKAGE,
    wire: &GENERATE_CONTENT,
    tool: "mcp_agent-bash_bash",
    shell: ("run_shell_command", "command"),
    other: |file| Ask::new("read_file", json!({"file_path": file})),
    hook: "gemini-cli",
    start,
    install_plugin: |home| {
        let mut command = home.command(Path::new("node"))?;
        let plugin = format!("{PLUGINS}/gemini-cli");
        command.arg(home.program);
        command.args(["extensions", "install", "--consent", &plugin]);
        // Gemini CLI asks whether the directory is trusted.
        Ok(vec![(command, "y\n")])
    },
    reads,
    inside,
};

fn start(home: &AgentHome<'_>) -> Result<Command> {
    let settings = json!({
        "mcpServers": home.mcp_servers(&json!({"trust": true})),
        "hooks": home.hooks("BeforeTool", "run_shell_command"),
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
    });
    home.write(".gemini/settings.json", &settings.to_string())?;
    let mut command = home.command(Path::new("node"))?;
    command
        .arg(home.program)
        .args([
            "--model", "gemini-2.5-pro", "--yolo", "--skip-trust", "--prompt", "go on",
        ])
        .env("GEMINI_API_KEY", "none")
        .env("GOOGLE_GEMINI_BASE_URL", &home.model);
    home.put_shell_first(&mut command);
    Ok(command)
}

fn reads(returned: &Value) -> String {
    let response = &returned["response"];
    let text = response["output"].as_str().or(response["error"].as_str());
    text.unwrap_or_default().to_owned()
}

/// An answer is marked as untrusted. The server marks none as an error: the agent would show the
/// answer as JSON.
fn inside(returned: &Value) -> Result<Shown> {
    let text = reads(returned);
    let text = text.strip_prefix("<untrusted_context>\n");
    let text = text.and_then(|text| text.strip_suffix("\n</untrusted_context>"));
    Ok(Shown {
        text: text.with_context(|| reads(returned))?.to_owned(),
        error: None,
    })
}
