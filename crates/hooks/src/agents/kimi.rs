//! Kimi Code.

use crate::agent::{Agent, HookForm, SettingsPath, same_directory};
use crate::answer_format::AnswerFormat;
use crate::json_form::STRICT;
use crate::mcp_agent::McpAgent;
use crate::supported_agent::SupportedAgent;

/// The hook for prompts has no matcher, because Kimi Code would compare it with the prompt.
const HOOK: Agent = Agent {
    name: "kimi",
    program: "kimi",
    tested_with: "@moonshot-ai/kimi-code 2.1.0",
    format: Some(AnswerFormat::ClaudeCode),
    settings: SettingsPath {
        below_project: None,
        ..same_directory("KIMI_CODE_HOME", ".kimi-code", "config.toml")
    },
    form: HookForm::Toml(
        "event = \"PreToolUse\"\nmatcher = \"^Bash$\"\ncommand = LINE\ntimeout = 30\n\n\
         [[hooks]]\nevent = \"UserPromptSubmit\"\ncommand = REPORT\ntimeout = 30\n",
    ),
    install_hint: "Kimi Code reads the hook when it starts.",
    ..Agent::UNKNOWN
};

pub(super) const AGENT: SupportedAgent = SupportedAgent {
    mcp: Some(McpAgent::of(
        &HOOK,
        same_directory("KIMI_CODE_HOME", ".kimi-code", "mcp.json"),
        server!(STRICT, ""),
    )),
    ..SupportedAgent::with_hook(HOOK)
};
