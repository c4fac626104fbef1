//! Oh My Pi, a fork of pi.

use super::pi;
use crate::agent::{Agent, SettingsPath, same_directory};
use crate::json_form::STRICT;
use crate::mcp_agent::McpAgent;
use crate::supported_agent::SupportedAgent;

/// Oh My Pi runs commands in a shell of its own process, which cannot be replaced.
const HOOK: Agent = Agent {
    name: "omp",
    program: "omp",
    tested_with: "@oh-my-pi/pi-coding-agent 18.2.3",
    settings: directory("extensions/agent-bash.ts"),
    install_hint: "Oh My Pi reads the hook when it starts.",
    ..pi::HOOK
};

/// Returns the path of a file with settings.
const fn directory(file: &'static str) -> SettingsPath {
    SettingsPath {
        below_project: Some(".omp"),
        ..same_directory("PI_CODING_AGENT_DIR", ".omp/agent", file)
    }
}

pub(super) const AGENT: SupportedAgent = SupportedAgent {
    mcp: Some(McpAgent::of(
        &HOOK,
        directory("mcp.json"),
        server!(STRICT, ""),
    )),
    ..SupportedAgent::with_hook(HOOK)
};
