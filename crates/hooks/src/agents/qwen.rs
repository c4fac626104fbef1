//! Qwen Code.

use crate::agent::{Agent, HookForm, JsonEntry, PRE_TOOL_USE, USER_PROMPT_SUBMIT, same_directory};
use crate::answer_format::AnswerFormat;
use crate::install::json::COMMENTS;
use crate::mcp_agent::McpAgent;
use crate::supported_agent::SupportedAgent;
use crate::take_over::{ShellAgent, ShellWay};

const HOOK: Agent = Agent {
    name: "qwen",
    program: "qwen",
    tested_with: "@qwen-code/qwen-code 0.24.4",
    format: Some(AnswerFormat::ClaudeCode),
    can_rewrite: false,
    settings: same_directory("", ".qwen", "settings.json"),
    form: HookForm::Json(JsonEntry {
        json: COMMENTS,
        header: None,
        lists: &[
            (PRE_TOOL_USE, group!("^(run_shell_command|monitor)$", 30)),
            (USER_PROMPT_SUBMIT, prompt_group!(30)),
        ],
    }),
    preferred: None,
    install_hint: "Qwen Code lists the hook under /hooks.",
};

const MCP: McpAgent = McpAgent {
    name: "qwen",
    settings: same_directory("", ".qwen", "settings.json"),
    form: server!(COMMENTS, ""),
};

const SHELL: ShellAgent = ShellAgent {
    name: "qwen",
    recorded_with: "@qwen-code/qwen-code 0.24.4",
    way: ShellWay::SearchPath,
};

pub(super) const AGENT: SupportedAgent = SupportedAgent {
    mcp: Some(MCP),
    shell: Some(SHELL),
    conversation_variable: Some("QWEN_CODE_SESSION_ID"),
    ..SupportedAgent::with_hook(HOOK)
};
