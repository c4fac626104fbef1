//! Windsurf's Cascade.

use crate::agent::{Agent, HookForm, JsonEntry, SettingsPath, same_directory};
use crate::answer_format::AnswerFormat;
use crate::install::json::STRICT;
use crate::mcp_agent::McpAgent;
use crate::supported_agent::SupportedAgent;

const HOOK: Agent = Agent {
    name: "windsurf",
    program: "windsurf",
    tested_with: "the documentation of Windsurf's Cascade",
    format: Some(AnswerFormat::ExitCode),
    can_rewrite: false,
    settings: SettingsPath {
        below_project: Some(".windsurf"),
        ..same_directory("", ".codeium/windsurf", "hooks.json")
    },
    form: HookForm::Json(JsonEntry {
        json: STRICT,
        header: None,
        lists: &[(
            &["hooks", "pre_run_command"],
            "{\n  \"command\": LINE,\n  \"show_output\": true\n}",
        )],
    }),
    preferred: None,
    install_hint: "Windsurf reads the hook when it starts.",
};

const MCP: McpAgent = McpAgent {
    name: "windsurf",
    settings: same_directory("", ".codeium/windsurf", "mcp_config.json"),
    form: server!(STRICT, ""),
};

pub(super) const AGENT: SupportedAgent = SupportedAgent {
    mcp: Some(MCP),
    ..SupportedAgent::with_hook(HOOK)
};
