//! Letta Code.

use crate::agent::{Agent, HookForm, PRE_TOOL_USE, same_directory};
use crate::answer_format::AnswerFormat;
use crate::json_form::STRICT;
use crate::supported_agent::SupportedAgent;

/// Letta Code has other tools for each family of models, so the hook is called for all tools. The
/// timeout is in milliseconds.
const HOOK: Agent = Agent {
    name: "letta",
    program: "letta",
    tested_with: "@letta-ai/letta-code 0.32.18",
    format: Some(AnswerFormat::ExitCode),
    settings: same_directory("", ".letta", "settings.json"),
    form: HookForm::lists(STRICT, &[(PRE_TOOL_USE, group!("*", 30_000))]),
    install_hint: "Letta Code lists the hook under /hooks.",
    ..Agent::UNKNOWN
};

pub(super) const AGENT: SupportedAgent = SupportedAgent::with_hook(HOOK);
