//! Copilot CLI, Kimi Code and Qwen Code: agents that can use any provider of chat completions.

use crate::agent::{Agent, AgentHome, Package, Shown};
use crate::model::Ask;
use crate::wire::CHAT;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

static COPILOT_PACKAGE: Package = Package {
    version: "1.0.102",
    spec: |cpu| format!("@github/copilot-linux-{cpu}@1.0.102"),
    program: |cpu, _| format!("@github/copilot-linux-{cpu}/copilot"),
    found: OnceLock::new(),
};

static KIMI_PACKAGE: Package = Package {
    version: "2.1.0",
    spec: |_| "@moonshot-ai/kimi-code@2.1.0".to_owned(),
    program: |_, _| "@moonshot-ai/kimi-code/dist/main.mjs".to_owned(),
    found: OnceLock::new(),
};

static QWEN_PACKAGE: Package = Package {
    version: "0.24.4",
    spec: |_| "@qwen-code/qwen-code@0.24.4".to_owned(),
    program: |_, _| "@qwen-code/qwen-code/cli-entry.js".to_owned(),
    found: OnceLock::new(),
};

/// Kimi Code, Qwen Code and pi need a newer Node than many machines have.
static NODE: Package = Package {
    version: "22.23.3",
    spec: |cpu| format!("node-linux-{cpu}@22.23.3"),
    program: |cpu, _| format!("node-linux-{cpu}/bin/node"),
    found: OnceLock::new(),
};

/// Copilot CLI, with the tool `bash`.
pub(crate) const COPILOT: Agent = Agent {
    name: "Copilot CLI",
    package: &COPILOT_PACKAGE,
    wire: &CHAT,
    tool: "agent-bash-bash",
    shell: ("bash", "command"),
    other: |file| Ask::new("view", json!({"path": file})),
    hook: "copilot",
    start: |home| {
        let servers = home.mcp_servers(&json!({"type": "local", "tools": ["*"]}));
        let servers = json!({"mcpServers": servers});
        home.write(".copilot/mcp-config.json", &servers.to_string())?;
        let mut command = home.command(home.program)?;
        command
            .args(["-p", "go on", "--trust-folder"])
            .args(["--allow-all-tools", "--allow-all-paths"])
            .env("COPILOT_OFFLINE", "true")
            .env("COPILOT_AUTO_UPDATE", "false")
            .env("COPILOT_MODEL", "stand-in")
            .env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", home.model));
        Ok(command)
    },
    install_plugin: |home| home.install_from_marketplace("install"),
    reads,
    inside: |returned| {
        let text = reads(returned);
        let error = text.strip_prefix("MCP server 'agent-bash': ");
        Ok(Shown {
            text: error.unwrap_or(&text).to_owned(),
            error: Some(error.is_some()),
        })
    },
};

/// Kimi Code, with the tool `Bash`.
pub(crate) const KIMI: Agent = Agent {
    name: "Kimi Code",
    package: &KIMI_PACKAGE,
    wire: &CHAT,
    tool: "mcp__agent-bash__bash",
    shell: ("Bash", "command"),
    other: |file| Ask::new("Read", json!({"path": file})),
    hook: "kimi",
    start: |home| {
        let settings = format!(
            "default_model = \"m\"\n\n[providers.p]\ntype = \"openai\"\nbase_url = \"{}/v1\"\napi_key = \"none\"\n\n\
             [models.m]\nprovider = \"p\"\nmodel = \"m\"\nmax_context_size = 200000\n",
            home.model
        );
        home.write(".kimi-code/config.toml", &settings)?;
        let servers = json!({"mcpServers": home.mcp_servers(&json!({}))});
        home.write(".kimi-code/mcp.json", &servers.to_string())?;
        by_node(home, &["-p", "go on"])
    },
    install_plugin: |_| Ok(Vec::new()),
    reads,
    inside: |returned| {
        let text = reads(returned);
        let (head, text) = text.split_once('\n').with_context(|| text.clone())?;
        anyhow::ensure!(head.starts_with("Wall time: "), "another frame: {head}");
        let error = text.strip_prefix("<system>ERROR: Tool execution failed.</system>\n");
        Ok(Shown {
            text: error.unwrap_or(text).to_owned(),
            error: Some(error.is_some()),
        })
    },
};

/// Qwen Code, with the tool `run_shell_command`.
pub(crate) const QWEN: Agent = Agent {
    name: "Qwen Code",
    package: &QWEN_PACKAGE,
    wire: &CHAT,
    tool: "mcp__agent-bash__bash",
    shell: ("run_shell_command", "command"),
    other: |file| Ask::new("read_file", json!({"file_path": file})),
    hook: "qwen",
    start: |home| {
        let settings = json!({
            "mcpServers": home.mcp_servers(&json!({"trust": true})),
            "security": {"auth": {"selectedType": "openai"}},
            "privacy": {"usageStatisticsEnabled": false},
            "telemetry": {"enabled": false},
            "general": {"enableAutoUpdate": false},
        });
        home.write(".qwen/settings.json", &settings.to_string())?;
        let mut command = by_node(home, &["--yolo", "-p", "go on"])?;
        command
            .env("OPENAI_API_KEY", "none")
            .env("OPENAI_BASE_URL", format!("{}/v1", home.model))
            .env("OPENAI_MODEL", "stand-in");
        home.put_shell_first(&mut command);
        Ok(command)
    },
    install_plugin: |_| Ok(Vec::new()),
    reads,
    // The server marks no answer as an error: the agent would show the answer as JSON.
    inside: |returned| {
        Ok(Shown {
            text: reads(returned),
            error: None,
        })
    },
};

pub(crate) fn by_node(home: &AgentHome<'_>, words: &[&str]) -> Result<Command> {
    let node: &Path = NODE.program()?;
    let mut command = home.command(node)?;
    command.arg(home.program).args(words);
    Ok(command)
}

/// A string or a list of texts.
pub(crate) fn reads(returned: &Value) -> String {
    match &returned["content"] {
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect()
        }
        text => text.as_str().unwrap_or_default().to_owned(),
    }
}
