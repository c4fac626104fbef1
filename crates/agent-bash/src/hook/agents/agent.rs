//! What an agent is: how it asks a hook, what it takes as an answer, and where it is told of one.

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
    pub(in crate::hook) refuse: fn(&str) -> Value,
    /// The answer that lets the agent go on, and decide as it would have, with what goes with the call; `null` where it has no
    /// form for that.
    pub(in crate::hook) go_on: fn(&GoOn) -> Value,
    /// Where it looks for hooks.
    pub(in crate::hook) place: Place,
    /// How they are written there.
    pub(in crate::hook) form: Form,
    /// What its user has to do or know once the hook is there.
    pub then: &'static str,
}

/// Where an agent keeps its settings.
#[derive(Debug)]
pub(in crate::hook) struct Place {
    /// A variable that names another directory than the one below the user's home.
    pub(in crate::hook) variable: &'static str,
    /// What comes below that directory.
    pub(in crate::hook) below_variable: &'static str,
    /// The directory below the user's home.
    pub(in crate::hook) below_home: &'static str,
    /// The directory in a project.
    pub(in crate::hook) below_project: &'static str,
    /// The file, in any of them.
    pub(in crate::hook) file: &'static str,
}

/// How a hook is written down.
#[derive(Debug)]
pub(in crate::hook) enum Form {
    /// As an entry of settings in JSON.
    Settings(SettingsForm),
    /// As a file of its own, made for the path of this program.
    Plugin(fn(&str) -> String),
}

/// An entry of settings in JSON.
#[derive(Debug)]
pub(in crate::hook) struct SettingsForm {
    /// Which tools it is asked about.
    pub(in crate::hook) matcher: &'static str,
    /// How long the agent waits, in its own unit. Longer than it takes to answer, always: it would let the command run.
    pub(in crate::hook) timeout: u32,
    /// The agent takes comments in the file.
    pub(in crate::hook) comments: bool,
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

/// What goes with a command that nothing speaks against: whether it runs is as open as without us.
#[derive(Debug, Default, PartialEq)]
pub(in crate::hook) struct GoOn {
    /// The tool is to be given this instead.
    pub(in crate::hook) input: Option<Map<String, Value>>,
    /// What the model should know.
    pub(in crate::hook) advice: Option<String>,
}
