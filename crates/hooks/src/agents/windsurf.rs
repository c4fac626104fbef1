//! Windsurf's Cascade.

use crate::agent::{Agent, HookForm, SettingsPath, same_directory};
use crate::answer_format::AnswerFormat;
use crate::json_form::STRICT;
use crate::mcp_agent::McpAgent;
use crate::supported_agent::SupportedAgent;

const HOOK: Agent = Agent {
    name: "windsurf",
    program: "windsurf",
    tested_with: "the documentation of Windsurf's Cascade",
    format: Some(AnswerFormat::ExitCode),
    settings: SettingsPath {
        below_project: Some(".windsurf"),
        ..same_directory("", ".codeium/windsurf", "hooks.json")
    },
    form: HookForm::lists(
        STRICT,
        &[(
            &["hooks", "pre_run_command"],
            "{\n  \"command\": LINE,\n  \"show_output\": true\n}",
        )],
    ),
    install_hint: "Windsurf reads the hook when it starts.",
    ..Agent::UNKNOWN
};

pub(super) const AGENT: SupportedAgent = SupportedAgent {
    mcp: Some(McpAgent::of(
        &HOOK,
        same_directory("", ".codeium/windsurf", "mcp_config.json"),
        server!(STRICT, ""),
    )),
    ..SupportedAgent::with_hook(HOOK)
};
