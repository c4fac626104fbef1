//! opencode.

use crate::agent::{Agent, AgentHome, Package, Shown};
use crate::model::Ask;
use crate::wire::CHAT;
use anyhow::Result;
use serde_json::{Value, json};
use std::process::Command;
use std::sync::OnceLock;

static PACKAGE: Package = Package {
    version: "1.18.33",
    spec: |cpu| format!("{}@1.18.33", package(cpu)),
    program: |cpu, _| format!("{}/bin/opencode", package(cpu)),
    found: OnceLock::new(),
};

/// opencode, with the tool `bash`.
pub(crate) const OPENCODE: Agent = Agent {
    name: "opencode",
    package: &PACKAGE,
    wire: &CHAT,
    tool: "agent-bash_bash",
    shell: ("bash", "command"),
    other: |file| Ask::new("read", json!({"filePath": file})),
    hook: "opencode",
    start,
    install_plugin: |_| Ok(Vec::new()),
    reads,
    inside: |returned| {
        Ok(Shown {
            text: reads(returned),
            error: None,
        })
    },
};

/// The build for any CPU of that architecture.
fn package(cpu: &str) -> String {
    match cpu {
        "x64" => "opencode-linux-x64-baseline".to_owned(),
        cpu => format!("opencode-linux-{cpu}"),
    }
}

fn start(home: &AgentHome<'_>) -> Result<Command> {
    let mut settings = json!({
        "autoupdate": false,
        "share": "disabled",
        "permission": "allow",
        "model": "stand-in/model",
        "small_model": "stand-in/model",
        "provider": {"stand-in": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "stand-in",
            "options": {"baseURL": format!("{}/v1", home.model), "apiKey": "none"},
            "models": {"model": {
                "name": "model", "tool_call": true, "limit": {"context": 200_000, "output": 8000},
            }},
        }},
    });
    if let Some(environment) = home.server_environment() {
        let command = ["agent-bash", "mcp"];
        settings["mcp"] = json!({"agent-bash": {
            "type": "local", "command": command, "environment": environment, "enabled": true,
        }});
    }
    if let Some(bash) = home.shell("bash") {
        settings["shell"] = json!(bash);
    }
    home.write(".config/opencode/opencode.json", &settings.to_string())?;
    let mut command = home.command(home.program)?;
    command
        .args(["run", "go on"])
        .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
        .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
        .env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")
        .env("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1");
    Ok(command)
}

fn reads(returned: &Value) -> String {
    returned["content"].as_str().unwrap_or_default().to_owned()
}
