//! Kimi Code.

use crate::agent::{Agent, HookForm, SettingsPath, same_directory};
use crate::answer_format::AnswerFormat;
use crate::install::json::STRICT;
use crate::mcp_agent::McpAgent;
use crate::supported_agent::SupportedAgent;

/// The hook for prompts has no matcher, because Kimi Code would compare it with the prompt.
const HOOK: Agent = Agent {
    name: "kimi",
    program: "kimi",
    tested_with: "@moonshot-ai/kimi-code 2.1.0",
    format: Some(AnswerFormat::ClaudeCode),
    can_rewrite: false,
    settings: SettingsPath {
        below_project: None,
        ..same_directory("KIMI_CODE_HOME", ".kimi-code", "config.toml")
    },
    form: HookForm::Toml(
        "event = \"PreToolUse\"\nmatcher = \"^Bash$\"\ncommand = LINE\ntimeout = 30\n\n\
         [[hooks]]\nevent = \"UserPromptSubmit\"\ncommand = REPORT\ntimeout = 30\n",
    ),
    preferred: None,
    install_hint: "Kimi Code reads the hook when it starts.",
};

const MCP: McpAgent = McpAgent {
    name: "kimi",
    settings: same_directory("KIMI_CODE_HOME", ".kimi-code", "mcp.json"),
    form: server!(STRICT, ""),
};

pub(super) const AGENT: SupportedAgent = SupportedAgent {
    mcp: Some(MCP),
    ..SupportedAgent::with_hook(HOOK)
};
