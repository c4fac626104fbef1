//! Kiro CLI.

use crate::agent::{Agent, HookForm, JsonEntry, same_directory};
use crate::answer_format::AnswerFormat;
use crate::json_form::STRICT;
use crate::mcp_agent::McpAgent;
use crate::supported_agent::SupportedAgent;

const HOOK: Agent = Agent {
    name: "kiro",
    program: "kiro-cli",
    tested_with: "the documentation of Kiro CLI 3",
    format: Some(AnswerFormat::ExitCode),
    settings: same_directory("", ".kiro", "hooks/agent-bash.json"),
    form: HookForm::Json(JsonEntry {
        json: STRICT,
        header: Some(("version", "\"v1\"")),
        excluded: None,
        lists: &[(
            &["hooks"],
            "{\n  \"name\": \"agent-bash\",\n  \"trigger\": \"PreToolUse\",\n  \"matcher\": \"execute_bash|execute_cmd|shell\",\n  \"action\": {\n    \"type\": \"command\",\n    \"command\": LINE\n  },\n  \"timeout\": 30\n}",
        )],
    }),
    install_hint: "Kiro reads the hook when it starts.",
    ..Agent::UNKNOWN
};

pub(super) const AGENT: SupportedAgent = SupportedAgent {
    mcp: Some(McpAgent::of(
        &HOOK,
        same_directory("", ".kiro", "settings/mcp.json"),
        server!(STRICT, ""),
    )),
    ..SupportedAgent::with_hook(HOOK)
};
