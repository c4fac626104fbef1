//! Mistral Vibe.

use crate::agent::{Agent, HookForm, SettingsPath, same_directory};
use crate::answer_format::AnswerFormat;
use crate::mcp_agent::{McpAgent, McpForm};
use crate::supported_agent::SupportedAgent;
use crate::take_over::ShellWay;

/// The hook is called for all tools, because a tool for processes in the background also runs
/// commands. With `strict`, Vibe refuses a command whose hook fails.
const HOOK: Agent = Agent {
    name: "mistral-vibe",
    program: "vibe",
    tested_with: "mistral-vibe 3.0.2",
    format: Some(AnswerFormat::MistralVibe),
    can_rewrite: true,
    settings: same_directory("VIBE_HOME", ".vibe", "hooks.toml"),
    form: HookForm::Toml(
        "name = \"agent-bash\"\ntype = \"pre_tool\"\ncommand = LINE\ntimeout = 30\nstrict = true\n",
    ),
    install_hint: "Vibe reads the hook when it starts. It reads a project's file in a trusted directory only.",
    ..Agent::UNKNOWN
};

pub(super) const AGENT: SupportedAgent = SupportedAgent {
    mcp: Some(McpAgent::of(
        &HOOK,
        SettingsPath {
            file: "config.toml",
            ..HOOK.settings
        },
        McpForm::TomlList("name = \"agent-bash\"\ntransport = \"stdio\"\n"),
    )),
    shell: Some(ShellWay::Fixed("the first of zsh, bash and sh in PATH")),
    ..SupportedAgent::with_hook(HOOK)
};
