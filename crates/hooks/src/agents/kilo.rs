//! Kilo, whose command line is a fork of opencode.

use super::opencode;
use crate::agent::{Agent, SettingsPath, same_directory};
use crate::json_form::{JsonForm, LENIENT};
use crate::mcp_agent::McpAgent;
use crate::supported_agent::SupportedAgent;
use crate::take_over::{ShellSetting, ShellWay};

const HOOK: Agent = Agent {
    name: "kilo",
    program: "kilo",
    tested_with: "@kilocode/cli 7.7.9",
    settings: SettingsPath {
        file: "plugins/agent-bash.js",
        other_file: None,
        ..CONFIG
    },
    install_hint: "Kilo reads its plugins when it starts.",
    ..opencode::HOOK
};

/// Kilo creates this file if it is absent, also beside a `kilo.json`.
const CONFIG: SettingsPath = SettingsPath {
    below_variable: "kilo",
    below_project: Some(".kilo"),
    ..same_directory("XDG_CONFIG_HOME", ".config/kilo", "kilo.jsonc")
};

/// Kilo inserts this member as opencode does.
const JSON: JsonForm = JsonForm {
    inserted_at_start: Some("\n  \"$schema\": \"https://app.kilo.ai/config.json\","),
    ..LENIENT
};

/// Kilo starts commands in the background by `$SHELL`, so only the hook checks them.
pub(super) const AGENT: SupportedAgent = SupportedAgent {
    mcp: Some(McpAgent::of(&HOOK, CONFIG, opencode::server(JSON))),
    shell: Some(ShellWay::Setting(ShellSetting {
        agent: "kilo",
        settings: CONFIG,
        json: JSON,
        install_hint: "Kilo reads the setting when it starts.",
        ..opencode::SHELL
    })),
    ..SupportedAgent::with_hook(HOOK)
};
