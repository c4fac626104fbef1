//! Qwen Code.

use crate::agent::{Agent, HookForm, PRE_TOOL_USE, USER_PROMPT_SUBMIT, same_directory};
use crate::answer_format::AnswerFormat;
use crate::json_form::COMMENTS;
use crate::mcp_agent::McpAgent;
use crate::supported_agent::SupportedAgent;
use crate::take_over::ShellWay;

const HOOK: Agent = Agent {
    name: "qwen",
    program: "qwen",
    tested_with: "@qwen-code/qwen-code 0.24.4",
    format: Some(AnswerFormat::ClaudeCode),
    settings: same_directory("", ".qwen", "settings.json"),
    form: HookForm::lists(
        COMMENTS,
        &[
            (PRE_TOOL_USE, group!("^(run_shell_command|monitor)$", 30)),
            (USER_PROMPT_SUBMIT, prompt_group!(30)),
        ],
    ),
    install_hint: "Qwen Code lists the hook under /hooks.",
    ..Agent::UNKNOWN
};

pub(super) const AGENT: SupportedAgent = SupportedAgent {
    mcp: Some(McpAgent::of(&HOOK, HOOK.settings, server!(COMMENTS, ""))),
    shell: Some(ShellWay::SearchPath),
    conversation_variable: Some("QWEN_CODE_SESSION_ID"),
    ..SupportedAgent::with_hook(HOOK)
};
