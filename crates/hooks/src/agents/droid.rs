//! Factory Droid.

use crate::agent::{Agent, HookForm, JsonEntry, PRE_TOOL_USE, same_directory};
use crate::answer_format::AnswerFormat;
use crate::install::json::STRICT;
use crate::mcp_agent::McpAgent;
use crate::supported_agent::SupportedAgent;

const HOOK: Agent = Agent {
    name: "droid",
    program: "droid",
    tested_with: "@factory/cli 0.225.2",
    format: Some(AnswerFormat::ClaudeCode),
    can_rewrite: false,
    settings: same_directory("", ".factory", "settings.json"),
    form: HookForm::Json(JsonEntry {
        json: STRICT,
        header: None,
        lists: &[(PRE_TOOL_USE, group!("Execute", 30))],
    }),
    preferred: Some(&Agent {
        name: "droid",
        program: "droid",
        tested_with: "@factory/cli 0.225.2",
        format: Some(AnswerFormat::ClaudeCode),
        can_rewrite: false,
        settings: same_directory("", ".factory", "hooks.json"),
        form: HookForm::Json(JsonEntry {
            json: STRICT,
            header: None,
            lists: &[(&["PreToolUse"], group!("Execute", 30))],
        }),
        preferred: None,
        install_hint: "Droid lists the hook under /hooks.",
    }),
    install_hint: "Droid lists the hook under /hooks.",
};

const MCP: McpAgent = McpAgent {
    name: "droid",
    settings: same_directory("", ".factory", "mcp.json"),
    form: server!(STRICT, "  \"type\": \"stdio\",\n"),
};

pub(super) const AGENT: SupportedAgent = SupportedAgent {
    mcp: Some(MCP),
    ..SupportedAgent::with_hook(HOOK)
};
