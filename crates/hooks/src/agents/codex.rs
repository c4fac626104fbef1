//! Codex.

use crate::agent::{Agent, HookForm, JsonEntry, PRE_TOOL_USE, SettingsPath, same_directory};
use crate::answer_format::AnswerFormat;
use crate::install::json::STRICT;
use crate::mcp_agent::{McpAgent, McpForm};
use crate::sandboxed_agent::{AgentState, SandboxedAgent};
use crate::supported_agent::SupportedAgent;
use crate::take_over::{ShellAgent, ShellWay};

/// A call of `exec_command` is reported as `Bash`; `cwd` is the directory of the command.
const HOOK: Agent = Agent {
    name: "codex",
    program: "codex",
    tested_with: "@openai/codex 0.171.0",
    format: Some(AnswerFormat::ClaudeCode),
    can_rewrite: true,
    settings: same_directory("CODEX_HOME", ".codex", "hooks.json"),
    form: HookForm::Json(JsonEntry {
        json: STRICT,
        header: None,
        lists: &[(PRE_TOOL_USE, group!("Bash", 30))],
    }),
    preferred: None,
    install_hint: "Codex asks whether you trust the new hook; it checks no command until you confirm under /hooks.",
};

const MCP: McpAgent = McpAgent {
    name: "codex",
    settings: SettingsPath {
        file: "config.toml",
        ..HOOK.settings
    },
    form: McpForm::Toml,
};

const SHELL: ShellAgent = ShellAgent {
    name: "codex",
    recorded_with: "@openai/codex 0.171.0",
    way: ShellWay::Fixed,
};

const SANDBOX: SandboxedAgent = SandboxedAgent {
    state: &[AgentState {
        protected: &["hooks.json"],
        ..AgentState::directory("CODEX_HOME", ".codex")
    }],
    hosts: &["api.openai.com", "chatgpt.com", "auth.openai.com"],
    temp_variable: None,
};

/// All that is known of the agent.
pub(super) const AGENT: SupportedAgent = SupportedAgent {
    sandbox: Some(SANDBOX),
    mcp: Some(MCP),
    shell: Some(SHELL),
    conversation_variable: Some("CODEX_THREAD_ID"),
    ..SupportedAgent::with_hook(HOOK)
};
