//! The agents whose hooks are supported, as values. To add one, add a file and a line here.

pub(super) mod agent;
mod claude_code;
mod codex;
mod gemini_cli;
mod opencode;

pub use agent::Agent;
pub use claude_code::CLAUDE_CODE;
pub use codex::CODEX;
pub use gemini_cli::GEMINI_CLI;
pub use opencode::OPENCODE;

/// All agents with a hook.
pub const AGENTS: [&Agent; 4] = [&CLAUDE_CODE, &CODEX, &GEMINI_CLI, &OPENCODE];

/// Finds an agent by name.
pub fn by_name(name: &str) -> Option<&'static Agent> {
    AGENTS.into_iter().find(|agent| agent.name == name)
}
