//! pi.

use crate::agent::{Agent, HookForm, SettingsPath, same_directory};
use crate::answer_format::AnswerFormat;
use crate::json_form::STRICT;
use crate::supported_agent::SupportedAgent;
use crate::take_over::{ShellLink, ShellSetting, ShellWay};

pub(super) const HOOK: Agent = Agent {
    name: "pi",
    program: "pi",
    tested_with: "@earendil-works/pi-coding-agent 1.6.0",
    format: Some(AnswerFormat::Plugin),
    settings: SettingsPath {
        below_project: Some(".pi"),
        ..same_directory(
            "PI_CODING_AGENT_DIR", ".pi/agent", "extensions/agent-bash.ts",
        )
    },
    form: HookForm::Plugin(include_str!("pi.ts")),
    install_hint: "pi reads the hook when it starts, or after /reload.",
    ..Agent::UNKNOWN
};

pub(super) const AGENT: SupportedAgent = SupportedAgent {
    shell: Some(ShellWay::Setting(ShellSetting {
        agent: "pi",
        settings: SettingsPath {
            below_project: Some(".pi"),
            ..same_directory("PI_CODING_AGENT_DIR", ".pi/agent", "settings.json")
        },
        json: STRICT,
        keys: &["shellPath"],
        member: None,
        is_for_tasks: false,
        link: ShellLink::Bash,
        install_hint: "pi reads the setting when it starts, or after /reload.",
    })),
    ..SupportedAgent::with_hook(HOOK)
};
