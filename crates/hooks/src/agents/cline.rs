//! Cline.

use crate::agent::{Agent, HookForm, same_directory};
use crate::answer_format::AnswerFormat;
use crate::supported_agent::SupportedAgent;

/// Cline ignores the exit codes of hooks, so the script writes an answer even if agent-bash
/// fails.
const HOOK: Agent = Agent {
    name: "cline",
    program: "cline",
    tested_with: "cline 3.0.65",
    format: Some(AnswerFormat::Cline),
    settings: same_directory("CLINE_DIR", ".cline", "hooks/PreToolUse"),
    form: HookForm::Script(include_str!("cline.sh")),
    install_hint: "Cline runs the hook before each tool of a new task.",
    ..Agent::UNKNOWN
};

pub(super) const AGENT: SupportedAgent = SupportedAgent::with_hook(HOOK);
