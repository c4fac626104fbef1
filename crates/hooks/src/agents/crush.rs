//! Crush.

use crate::agent::{Agent, HookForm, JsonEntry, PRE_TOOL_USE, SettingsPath, same_directory};
use crate::answer_format::AnswerFormat;
use crate::install::json::STRICT;
use crate::mcp_agent::{McpAgent, McpForm};
use crate::supported_agent::SupportedAgent;

/// Crush runs hooks only for the calls of the top-level agent.
const HOOK: Agent = Agent {
    name: "crush",
    program: "crush",
    tested_with: "the documentation of Crush 0.96, and the source of its hooks in 0.90",
    format: Some(AnswerFormat::Crush),
    can_rewrite: false,
    settings: SettingsPath {
        below_project: Some(""),
        ..same_directory("CRUSH_GLOBAL_CONFIG", ".config/crush", "crush.json")
    },
    form: HookForm::Json(JsonEntry {
        json: STRICT,
        header: None,
        lists: &[(
            PRE_TOOL_USE,
            "{\n  \"matcher\": \"^bash$\",\n  \"command\": LINE,\n  \"timeout\": 30\n}",
        )],
    }),
    preferred: None,
    install_hint: "Crush reads the hook when it starts.",
};

const MCP: McpAgent = McpAgent {
    name: "crush",
    settings: same_directory("CRUSH_GLOBAL_CONFIG", ".config/crush", "crush.json"),
    form: McpForm::Json {
        json: STRICT,
        keys: &["mcp", "agent-bash"],
        entry: "{\n  \"type\": \"stdio\",\n  \"command\": PROGRAM,\n  \"args\": [\"mcp\"]\n}",
    },
};

pub(super) const AGENT: SupportedAgent = SupportedAgent {
    mcp: Some(MCP),
    ..SupportedAgent::with_hook(HOOK)
};
