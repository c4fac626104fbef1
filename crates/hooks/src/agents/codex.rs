//! Codex.

use crate::agent::{Agent, HookForm, PRE_TOOL_USE, SettingsPath, same_directory};
use crate::answer_format::AnswerFormat;
use crate::json_form::STRICT;
use crate::mcp_agent::{McpAgent, McpForm};
use crate::sandboxed_agent::{AgentState, SandboxedAgent};
use crate::supported_agent::SupportedAgent;
use crate::take_over::ShellWay;

/// A call of `exec_command` is reported as `Bash`; `cwd` is the directory of the command.
const HOOK: Agent = Agent {
    name: "codex",
    program: "codex",
    tested_with: "@openai/codex 0.171.0",
    format: Some(AnswerFormat::ClaudeCode),
    can_rewrite: true,
    settings: same_directory("CODEX_HOME", ".codex", "hooks.json"),
    form: HookForm::lists(STRICT, &[(PRE_TOOL_USE, group!("Bash", 30))]),
    install_hint: "Codex asks whether you trust the new hook; it checks no command until you confirm under /hooks.",
    ..Agent::UNKNOWN
};

const SANDBOX: SandboxedAgent = SandboxedAgent {
    state: &[AgentState {
        // Commands get the variables of `.env`.
        protected: &["hooks.json", ".env"],
        ..AgentState::directory("CODEX_HOME", ".codex")
    }],
    hosts: &["api.openai.com", "chatgpt.com", "auth.openai.com"],
    temp_variable: None,
};

/// All that is known of the agent.
pub(super) const AGENT: SupportedAgent = SupportedAgent {
    sandbox: Some(SANDBOX),
    mcp: Some(McpAgent::of(
        &HOOK,
        SettingsPath {
            file: "config.toml",
            ..HOOK.settings
        },
        McpForm::Toml,
    )),
    shell: Some(ShellWay::Fixed("/bin/bash")),
    conversation_variable: Some("CODEX_THREAD_ID"),
    ..SupportedAgent::with_hook(HOOK)
};
