//! Factory Droid.

use crate::agent::{Agent, HookForm, PRE_TOOL_USE, same_directory};
use crate::answer_format::AnswerFormat;
use crate::json_form::STRICT;
use crate::mcp_agent::McpAgent;
use crate::supported_agent::SupportedAgent;

/// Droid reads no hooks in its settings file if this file exists.
const PREFERRED: Agent = Agent {
    name: "droid",
    program: "droid",
    tested_with: "@factory/cli 0.225.2",
    format: Some(AnswerFormat::ClaudeCode),
    settings: same_directory("", ".factory", "hooks.json"),
    form: HookForm::lists(STRICT, &[(&["PreToolUse"], group!("Execute", 30))]),
    install_hint: "Droid lists the hook under /hooks.",
    ..Agent::UNKNOWN
};

const HOOK: Agent = Agent {
    settings: same_directory("", ".factory", "settings.json"),
    form: HookForm::lists(STRICT, &[(PRE_TOOL_USE, group!("Execute", 30))]),
    preferred: Some(&PREFERRED),
    ..PREFERRED
};

pub(super) const AGENT: SupportedAgent = SupportedAgent {
    mcp: Some(McpAgent::of(
        &HOOK,
        same_directory("", ".factory", "mcp.json"),
        server!(STRICT, "  \"type\": \"stdio\",\n"),
    )),
    ..SupportedAgent::with_hook(HOOK)
};
