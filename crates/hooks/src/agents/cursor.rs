//! Cursor.

use crate::agent::{Agent, HookForm, JsonEntry, same_directory};
use crate::answer_format::AnswerFormat;
use crate::json_form::STRICT;
use crate::mcp_agent::McpAgent;
use crate::supported_agent::SupportedAgent;

/// With `failClosed`, Cursor refuses a command whose hook fails.
const HOOK: Agent = Agent {
    name: "cursor",
    program: "cursor",
    tested_with: "the documentation of Cursor 2",
    format: Some(AnswerFormat::Cursor),
    settings: same_directory("", ".cursor", "hooks.json"),
    form: HookForm::Json(JsonEntry {
        json: STRICT,
        header: Some(("version", "1")),
        excluded: None,
        lists: &[(
            &["hooks", "beforeShellExecution"],
            "{\n  \"command\": LINE,\n  \"timeout\": 30,\n  \"failClosed\": true\n}",
        )],
    }),
    install_hint: "Cursor lists the hook under Settings > Hooks.",
    ..Agent::UNKNOWN
};

pub(super) const AGENT: SupportedAgent = SupportedAgent {
    mcp: Some(McpAgent::of(
        &HOOK,
        same_directory("", ".cursor", "mcp.json"),
        server!(STRICT, ""),
    )),
    ..SupportedAgent::with_hook(HOOK)
};
