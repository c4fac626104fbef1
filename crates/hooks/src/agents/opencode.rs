//! opencode.

use crate::agent::{Agent, HookForm, SettingsPath, same_directory};
use crate::answer_format::AnswerFormat;
use crate::json_form::{JsonForm, LENIENT};
use crate::mcp_agent::{McpAgent, McpForm};
use crate::sandboxed_agent::{AgentState, SandboxedAgent};
use crate::supported_agent::SupportedAgent;
use crate::take_over::{ShellLink, ShellSetting, ShellWay};

/// Hooks of opencode are functions, so a plugin file calls agent-bash.
pub(super) const HOOK: Agent = Agent {
    name: "opencode",
    program: "opencode",
    tested_with: "opencode-ai 1.18.33",
    format: Some(AnswerFormat::Plugin),
    settings: SettingsPath {
        file: "plugins/agent-bash.js",
        other_file: None,
        ..CONFIG
    },
    form: HookForm::Plugin(include_str!("opencode.js")),
    install_hint: "opencode reads its plugins when it starts.",
    ..Agent::UNKNOWN
};

/// opencode inserts this member into a settings file that lacks it, unless a comment comes first.
const JSON: JsonForm = JsonForm {
    inserted_at_start: Some("\n  \"$schema\": \"https://opencode.ai/config.json\","),
    ..LENIENT
};

/// The path of opencode's settings file.
const CONFIG: SettingsPath = SettingsPath {
    below_variable: "opencode",
    below_project: Some(".opencode"),
    other_file: Some("opencode.jsonc"),
    ..same_directory("XDG_CONFIG_HOME", ".config/opencode", "opencode.json")
};

/// The providers of models are the most common ones; others are added by `--network`.
const SANDBOX: SandboxedAgent = SandboxedAgent {
    state: &[
        AgentState {
            below_variable: Some("opencode"),
            ..AgentState::directory("XDG_DATA_HOME", ".local/share/opencode")
        },
        AgentState {
            below_variable: Some("opencode"),
            ..AgentState::directory("XDG_STATE_HOME", ".local/state/opencode")
        },
        AgentState {
            below_variable: Some("opencode"),
            ..AgentState::directory("XDG_CACHE_HOME", ".cache/opencode")
        },
        AgentState {
            below_variable: Some("opencode"),
            // opencode runs the files of `tool`, and reads two earlier names of its settings.
            protected: &[
                "opencode.json", "opencode.jsonc", "config.json", "config", "plugin", "plugins",
                "tool", "tools",
            ],
            ..AgentState::directory("XDG_CONFIG_HOME", ".config/opencode")
        },
    ],
    hosts: &[
        "opencode.ai", "models.dev", "api.anthropic.com", "api.openai.com", "openrouter.ai", "npm",
    ],
    temp_variable: None,
};

/// The form of the entry for an MCP server.
pub(super) const fn server(json: JsonForm) -> McpForm {
    McpForm::Json {
        json,
        keys: &["mcp", "agent-bash"],
        entry: "{\n  \"type\": \"local\",\n  \"command\": [PROGRAM, \"mcp\"],\n  \"enabled\": true\n}",
    }
}

/// The setting that names the shell.
pub(super) const SHELL: ShellSetting = ShellSetting {
    agent: "opencode",
    settings: CONFIG,
    json: JSON,
    keys: &["shell"],
    member: None,
    is_for_tasks: false,
    link: ShellLink::Bash,
    install_hint: "opencode reads the setting when it starts.",
};

/// All that is known of the agent.
pub(super) const AGENT: SupportedAgent = SupportedAgent {
    sandbox: Some(SANDBOX),
    mcp: Some(McpAgent::of(&HOOK, CONFIG, server(JSON))),
    shell: Some(ShellWay::Setting(SHELL)),
    ..SupportedAgent::with_hook(HOOK)
};
