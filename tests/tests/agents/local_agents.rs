//! Cline and pi, which are tried with their hooks only, and Droid.

use crate::agent::{Agent, AgentHome, Package, Shown};
use crate::chat_agents::{by_node, reads};
use crate::model::Ask;
use crate::wire::CHAT;
use agent_bash_tests::product;
use anyhow::{Result, bail, ensure};
use serde_json::{Value, json};
use std::process::Command;
use std::sync::OnceLock;

static CLINE_PACKAGE: Package = Package {
    version: "3.0.65",
    spec: |cpu| format!("@cline/cli-linux-{cpu}@3.0.65"),
    program: |cpu, _| format!("@cline/cli-linux-{cpu}/bin/cline"),
    found: OnceLock::new(),
};

static DROID_PACKAGE: Package = Package {
    version: "0.225.2",
    spec: |cpu| format!("{}@0.225.2", droid_package(cpu)),
    program: |cpu, _| format!("{}/bin/droid", droid_package(cpu)),
    found: OnceLock::new(),
};

static PI_PACKAGE: Package = Package {
    version: "1.6.0",
    spec: |_| "@earendil-works/pi-coding-agent@1.6.0".to_owned(),
    program: |_, _| "@earendil-works/pi-coding-agent/dist/bundle/cli.js".to_owned(),
    found: OnceLock::new(),
};

/// Cline's command line, with the tool `run_commands`.
pub(crate) const CLINE: Agent = Agent {
    name: "Cline",
    package: &CLINE_PACKAGE,
    wire: &CHAT,
    tool: "",
    shell: ("run_commands", "commands"),
    other: |file| Ask::new("read_files", json!({"files": [{"path": file}]})),
    hook: "cline",
    start: |home| {
        let mut sign_in = cline(home)?;
        sign_in
            .args([
                "auth", "--provider", "openai-compatible", "--apikey", "none",
            ])
            .args(["--modelid", "m", "--baseurl", &format!("{}/v1", home.model)]);
        let ran = product::run(sign_in, None)?;
        ensure!(ran.code == 0, "{ran:?}");
        let mut command = cline(home)?;
        command.args(["--json", "--auto-approve", "true", "go on"]);
        Ok(command)
    },
    install_plugin: |_| Ok(Vec::new()),
    // Cline answers with a list of results as JSON.
    reads: |returned| {
        let text = reads(returned);
        let results: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
        let shown = results
            .iter()
            .filter_map(|result| result["result"].as_str());
        shown.collect::<Vec<_>>().join("\n")
    },
    inside: no_server,
};

/// Factory Droid with a model of the user's own, with the tool `Execute`.
pub(crate) const DROID: Agent = Agent {
    name: "Droid",
    package: &DROID_PACKAGE,
    wire: &CHAT,
    tool: "agent-bash___bash",
    shell: ("Execute", "command"),
    other: |file| Ask::new("Read", json!({"file_path": file})),
    hook: "droid",
    start: |place| {
        let model = json!({
            "model": "m", "displayName": "m", "baseUrl": format!("{}/v1", place.model),
            "apiKey": "none", "provider": "generic-chat-completion-api", "maxOutputTokens": 8000,
        });
        let settings = json!({"customModels": [model]});
        place.write(".factory/settings.json", &settings.to_string())?;
        let servers = json!({"mcpServers": place.mcp_servers(&json!({"type": "stdio"}))});
        place.write(".factory/mcp.json", &servers.to_string())?;
        let mut command = place.command(place.program)?;
        command.args(["exec", "--model", "custom:m", "--auto", "high", "go on"]);
        Ok(command)
    },
    install_plugin: |_| Ok(Vec::new()),
    reads,
    inside: |returned| {
        let text = reads(returned);
        let error = text.strip_prefix("Error: MCP tool agent-bash___bash returned an error: ");
        Ok(Shown {
            text: error.unwrap_or(&text).to_owned(),
            error: Some(error.is_some()),
        })
    },
};

/// pi, with the tool `bash`.
pub(crate) const PI: Agent = Agent {
    name: "pi",
    package: &PI_PACKAGE,
    wire: &CHAT,
    tool: "",
    shell: ("bash", "command"),
    other: |file| Ask::new("read", json!({"path": file})),
    hook: "pi",
    start: |home| {
        let model = json!({
            "id": "m", "name": "m", "reasoning": false, "input": ["text"],
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
            "contextWindow": 200_000, "maxTokens": 8000,
        });
        let provider = json!({
            "baseUrl": format!("{}/v1", home.model), "api": "openai-completions",
            "apiKey": "none", "models": [model],
        });
        let providers = json!({"providers": {"stand-in": provider}});
        home.write(".pi/agent/models.json", &providers.to_string())?;
        let words = ["--provider", "stand-in", "--model", "m", "-p", "go on"];
        let mut command = by_node(home, &words)?;
        command.env("PI_OFFLINE", "1");
        Ok(command)
    },
    install_plugin: |_| Ok(Vec::new()),
    reads,
    inside: no_server,
};

/// The build of Droid for any CPU of that architecture.
fn droid_package(cpu: &str) -> String {
    match cpu {
        "x64" => "@factory/cli-linux-x64-baseline".to_owned(),
        cpu => format!("@factory/cli-linux-{cpu}"),
    }
}

/// Returns a command of Cline that leaves no daemon.
fn cline(home: &AgentHome<'_>) -> Result<Command> {
    let mut command = home.command(home.program)?;
    command.env("CLINE_SESSION_BACKEND_MODE", "local");
    Ok(command)
}

fn no_server(_: &Value) -> Result<Shown> {
    bail!("this agent is tried without a server")
}
