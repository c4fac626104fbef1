//! The command line of `OpenHands`.

use crate::agent::{Agent, HookForm, JsonEntry, same_directory};
use crate::answer_format::AnswerFormat;
use crate::json_form::STRICT;
use crate::mcp_agent::McpAgent;
use crate::supported_agent::SupportedAgent;

const HOOK: Agent = Agent {
    name: "openhands",
    program: "openhands",
    tested_with: "openhands 1.16.0",
    format: Some(AnswerFormat::ExitCode),
    settings: same_directory("", ".openhands", "hooks.json"),
    form: HookForm::Json(JsonEntry {
        json: STRICT,
        header: None,
        // OpenHands reads either the lists in this member or those at the top level.
        excluded: Some((
            "hooks",
            "absent, with its lists at the top level, or OpenHands ignores `pre_tool_use`",
        )),
        lists: &[(&["pre_tool_use"], group!("terminal", 30))],
    }),
    install_hint: "OpenHands reads the hook when it starts. If a project has the file, OpenHands ignores the user's.",
    ..Agent::UNKNOWN
};

pub(super) const AGENT: SupportedAgent = SupportedAgent {
    mcp: Some(McpAgent::of(
        &HOOK,
        same_directory("", ".openhands", "mcp.json"),
        server!(STRICT, ""),
    )),
    ..SupportedAgent::with_hook(HOOK)
};
