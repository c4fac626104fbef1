//! Crush.

use crate::agent::{Agent, HookForm, PRE_TOOL_USE, SettingsPath, same_directory};
use crate::answer_format::AnswerFormat;
use crate::json_form::STRICT;
use crate::mcp_agent::{McpAgent, McpForm};
use crate::supported_agent::SupportedAgent;

/// Crush runs hooks only for the calls of the top-level agent.
const HOOK: Agent = Agent {
    name: "crush",
    program: "crush",
    tested_with: "the documentation of Crush 0.96, and the source of its hooks in 0.90",
    format: Some(AnswerFormat::Crush),
    settings: SettingsPath {
        below_project: Some(""),
        ..same_directory("CRUSH_GLOBAL_CONFIG", ".config/crush", "crush.json")
    },
    form: HookForm::lists(
        STRICT,
        &[(
            PRE_TOOL_USE,
            "{\n  \"matcher\": \"^bash$\",\n  \"command\": LINE,\n  \"timeout\": 30\n}",
        )],
    ),
    install_hint: "Crush reads the hook when it starts.",
    ..Agent::UNKNOWN
};

pub(super) const AGENT: SupportedAgent = SupportedAgent {
    mcp: Some(McpAgent::of(
        &HOOK,
        HOOK.settings,
        McpForm::Json {
            json: STRICT,
            keys: &["mcp", "agent-bash"],
            entry: "{\n  \"type\": \"stdio\",\n  \"command\": PROGRAM,\n  \"args\": [\"mcp\"]\n}",
        },
    )),
    ..SupportedAgent::with_hook(HOOK)
};
