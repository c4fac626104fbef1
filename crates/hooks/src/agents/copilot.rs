//! Copilot CLI.

use crate::agent::{Agent, HookForm, JsonEntry, SettingsPath, same_directory};
use crate::answer_format::AnswerFormat;
use crate::json_form::STRICT;
use crate::mcp_agent::{McpAgent, McpForm};
use crate::sandboxed_agent::{AgentState, SandboxedAgent};
use crate::supported_agent::SupportedAgent;
use crate::take_over::ShellWay;

/// Uses the event with the camel-case name, because its answer can contain a reason. If the hook
/// fails, Copilot refuses the call. VS Code runs the hook, too.
pub(super) const HOOK: Agent = Agent {
    name: "copilot",
    program: "copilot",
    tested_with: "@github/copilot 1.0.102",
    format: Some(AnswerFormat::Copilot),
    can_rewrite: true,
    settings: SettingsPath {
        below_project: Some(".github"),
        ..same_directory("COPILOT_HOME", ".copilot", "hooks/agent-bash.json")
    },
    form: HookForm::Json(JsonEntry {
        json: STRICT,
        header: Some(("version", "1")),
        excluded: None,
        lists: &[
            (
                &["hooks", "preToolUse"],
                "{\n  \"type\": \"command\",\n  \"bash\": LINE,\n  \"timeoutSec\": 30\n}",
            ),
            (
                &["hooks", "userPromptSubmitted"],
                "{\n  \"type\": \"command\",\n  \"bash\": REPORT,\n  \"timeoutSec\": 30\n}",
            ),
        ],
    }),
    install_hint: "Copilot CLI reads the hook when it starts. VS Code runs the same hook.",
    ..Agent::UNKNOWN
};

const SANDBOX: SandboxedAgent = SandboxedAgent {
    state: &[
        AgentState {
            protected: &["hooks", "mcp-config.json", "lsp-config.json"],
            ..AgentState::directory("COPILOT_HOME", ".copilot")
        },
        AgentState {
            below_variable: Some("copilot"),
            ..AgentState::directory("XDG_CACHE_HOME", ".cache/copilot")
        },
    ],
    hosts: &["github", "api.githubcopilot.com", "*.githubcopilot.com"],
    temp_variable: None,
};

/// All that is known of the agent.
pub(super) const AGENT: SupportedAgent = SupportedAgent {
    sandbox: Some(SANDBOX),
    mcp: Some(McpAgent::of(
        &HOOK,
        same_directory("COPILOT_HOME", ".copilot", "mcp-config.json"),
        McpForm::Json {
            json: STRICT,
            keys: &["mcpServers", "agent-bash"],
            entry: "{\n  \"type\": \"local\",\n  \"command\": PROGRAM,\n  \"args\": [\"mcp\"],\n  \"tools\": [\"*\"]\n}",
        },
    )),
    shell: Some(ShellWay::Fixed("/bin/bash")),
    conversation_variable: Some("COPILOT_AGENT_SESSION_ID"),
    ..SupportedAgent::with_hook(HOOK)
};
