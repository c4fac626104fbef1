//! The agents whose hooks are known, as values. One that is not here is one more file and one more line.

mod claude_code;
mod codex;
mod gemini_cli;

pub use claude_code::CLAUDE_CODE;
pub use codex::CODEX;
pub use gemini_cli::GEMINI_CLI;

use serde_json::{Map, Value};

/// What an agent writes to a hook, and what it takes as an answer.
#[derive(Debug)]
pub struct Agent {
    /// Its name on the command line.
    pub name: &'static str,
    /// The program and the version that this was tried with.
    pub tried_with: &'static str,
    /// What it calls the moment before a tool runs.
    pub event: &'static str,
    /// Its tools that run shell commands. All others pass.
    pub tools: &'static [ShellTool],
    /// The answer that refuses a call, for this reason.
    pub(super) refuse: fn(&str) -> Value,
    /// The answer that lets the agent go on with this input instead, and decide as it would have.
    pub(super) replace: fn(&Map<String, Value>) -> Value,
}

/// A tool that runs shell commands.
#[derive(Debug)]
pub struct ShellTool {
    /// Its name.
    pub name: &'static str,
    /// The field with the script.
    pub command: &'static str,
    /// It has calls without a script, which run nothing.
    pub optional: bool,
    /// The field with the directory that the script runs in, seen from that of the call.
    pub directory: Option<&'static str>,
}

/// All of them.
pub const AGENTS: [&Agent; 3] = [&CLAUDE_CODE, &CODEX, &GEMINI_CLI];

/// The agent of this name.
pub fn by_name(name: &str) -> Option<&'static Agent> {
    AGENTS.into_iter().find(|agent| agent.name == name)
}
