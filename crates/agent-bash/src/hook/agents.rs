//! The agents whose hooks are known, as values. One that is not here is one more file and one more line.

mod claude_code;
mod codex;
mod gemini_cli;
mod opencode;

pub use claude_code::CLAUDE_CODE;
pub use codex::CODEX;
pub use gemini_cli::GEMINI_CLI;
pub use opencode::OPENCODE;

use super::judge::GoOn;
use serde_json::Value;

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
    /// The answer that lets the agent go on, and decide as it would have, with what goes with the call; `null` where it has no
    /// form for that.
    pub(super) go_on: fn(&GoOn) -> Value,
    /// Where it looks for hooks.
    pub(super) place: Place,
    /// How they are written there.
    pub(super) form: Form,
    /// What its user has to do or know once the hook is there.
    pub then: &'static str,
}

/// Where an agent keeps its settings.
#[derive(Debug)]
pub(super) struct Place {
    /// A variable that names another directory than the one below the user's home.
    pub(super) variable: &'static str,
    /// What comes below that directory.
    pub(super) below_variable: &'static str,
    /// The directory below the user's home.
    pub(super) below_home: &'static str,
    /// The directory in a project.
    pub(super) below_project: &'static str,
    /// The file, in any of them.
    pub(super) file: &'static str,
}

/// How a hook is written down.
#[derive(Debug)]
pub(super) enum Form {
    /// As an entry of settings in JSON.
    Settings(SettingsForm),
    /// As a file of its own, made for the path of this program.
    Plugin(fn(&str) -> String),
}

/// An entry of settings in JSON.
#[derive(Debug)]
pub(super) struct SettingsForm {
    /// Which tools it is asked about.
    pub(super) matcher: &'static str,
    /// How long the agent waits, in its own unit. Longer than it takes to answer, always: it would let the command run.
    pub(super) timeout: u32,
    /// The agent takes comments in the file.
    pub(super) comments: bool,
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
pub const AGENTS: [&Agent; 4] = [&CLAUDE_CODE, &CODEX, &GEMINI_CLI, &OPENCODE];

/// The agent of this name.
pub fn by_name(name: &str) -> Option<&'static Agent> {
    AGENTS.into_iter().find(|agent| agent.name == name)
}
