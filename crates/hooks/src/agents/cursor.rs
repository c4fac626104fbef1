//! Cursor.

use crate::agent::{Agent, HookForm, JsonEntry, same_directory};
use crate::answer_format::AnswerFormat;
use crate::install::json::STRICT;
use crate::mcp_agent::McpAgent;
use crate::supported_agent::SupportedAgent;

/// With `failClosed`, Cursor refuses a command whose hook fails.
const HOOK: Agent = Agent {
    name: "cursor",
    program: "cursor",
    tested_with: "the documentation of Cursor 2",
    format: Some(AnswerFormat::Cursor),
    can_rewrite: false,
    settings: same_directory("", ".cursor", "hooks.json"),
    form: HookForm::Json(JsonEntry {
        json: STRICT,
        header: Some(("version", "1")),
        lists: &[(
            &["hooks", "beforeShellExecution"],
            "{\n  \"command\": LINE,\n  \"timeout\": 30,\n  \"failClosed\": true\n}",
        )],
    }),
    preferred: None,
    install_hint: "Cursor lists the hook under Settings > Hooks.",
};

const MCP: McpAgent = McpAgent {
    name: "cursor",
    settings: same_directory("", ".cursor", "mcp.json"),
    form: server!(STRICT, ""),
};

pub(super) const AGENT: SupportedAgent = SupportedAgent {
    mcp: Some(MCP),
    ..SupportedAgent::with_hook(HOOK)
};
