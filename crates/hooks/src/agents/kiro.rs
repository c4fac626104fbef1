//! Kiro CLI.

use crate::agent::{Agent, HookForm, JsonEntry, same_directory};
use crate::answer_format::AnswerFormat;
use crate::install::json::STRICT;
use crate::mcp_agent::McpAgent;
use crate::supported_agent::SupportedAgent;

const HOOK: Agent = Agent {
    name: "kiro",
    program: "kiro-cli",
    tested_with: "the documentation of Kiro CLI 3",
    format: Some(AnswerFormat::ExitCode),
    can_rewrite: false,
    settings: same_directory("", ".kiro", "hooks/agent-bash.json"),
    form: HookForm::Json(JsonEntry {
        json: STRICT,
        header: Some(("version", "\"v1\"")),
        lists: &[(
            &["hooks"],
            "{\n  \"name\": \"agent-bash\",\n  \"trigger\": \"PreToolUse\",\n  \"matcher\": \"execute_bash|execute_cmd|shell\",\n  \"action\": {\n    \"type\": \"command\",\n    \"command\": LINE\n  },\n  \"timeout\": 30\n}",
        )],
    }),
    preferred: None,
    install_hint: "Kiro reads the hook when it starts.",
};

const MCP: McpAgent = McpAgent {
    name: "kiro",
    settings: same_directory("", ".kiro", "settings/mcp.json"),
    form: server!(STRICT, ""),
};

pub(super) const AGENT: SupportedAgent = SupportedAgent {
    mcp: Some(MCP),
    ..SupportedAgent::with_hook(HOOK)
};
