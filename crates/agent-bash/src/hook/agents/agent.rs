//! The differences between agents: their calls of a hook, the answers they accept, and their
//! configuration.

use serde_json::Value;

/// The format of an agent's hook calls and answers.
#[derive(Debug)]
pub struct Agent {
    /// The agent's name on the command line.
    pub name: &'static str,
    /// The program and version that this was tested with.
    pub tried_with: &'static str,
    /// The agent's name for the event before a tool runs.
    pub event: &'static str,
    /// The agent's tools that run shell commands. All others pass.
    pub tools: &'static [ShellTool],
    /// The answer that refuses a call, for this reason.
    pub(in crate::hook) refuse: fn(&str) -> Value,
    /// Builds the answer that leaves the decision to the agent and passes on advice for the model;
    /// `null` if the agent has no format for that.
    pub(in crate::hook) advise: fn(&str) -> Value,
    /// Builds the answer that allows a call with another input, and passes on advice; `None` if
    /// that was not tried with the agent.
    pub(in crate::hook) rewrite: Option<fn(&Value, Option<&str>) -> Value>,
    /// The path of the settings file in which the agent looks for hooks.
    pub(in crate::hook) settings: SettingsPath,
    /// The form of a hook in that file.
    pub(in crate::hook) form: Form,
    /// A hint for the user after the installation.
    pub then: &'static str,
}

impl Agent {
    /// True if a hook can replace the agent's commands.
    pub fn rewrites(&self) -> bool {
        self.rewrite.is_some()
    }
}

/// The path of an agent's settings file.
#[derive(Debug)]
pub(in crate::hook) struct SettingsPath {
    /// The environment variable that overrides the directory below the user's home.
    pub(in crate::hook) variable: &'static str,
    /// The path below that directory.
    pub(in crate::hook) below_variable: &'static str,
    /// The directory below the user's home.
    pub(in crate::hook) below_home: &'static str,
    /// The directory in a project.
    pub(in crate::hook) below_project: &'static str,
    /// The file, in any of them.
    pub(in crate::hook) file: &'static str,
}

/// The form of a hook.
#[derive(Debug)]
pub(in crate::hook) enum Form {
    /// An entry in a JSON settings file.
    Settings(SettingsForm),
    /// A file of its own, generated for the path of this program.
    Plugin(fn(&str) -> String),
}

/// An entry of settings in JSON.
#[derive(Debug)]
pub(in crate::hook) struct SettingsForm {
    /// The tools for which the agent calls the hook.
    pub(in crate::hook) matcher: &'static str,
    /// The agent's timeout, in its own unit. Always longer than our deadline, as a timeout lets the
    /// command run.
    pub(in crate::hook) timeout: u32,
    /// The agent takes comments in the file.
    pub(in crate::hook) comments: bool,
}

/// A tool that runs shell commands.
#[derive(Debug)]
pub struct ShellTool {
    /// The tool's name.
    pub name: &'static str,
    /// The input field that holds the script.
    pub command: &'static str,
    /// True if the tool also has calls without a script, which run nothing.
    pub optional: bool,
    /// The input field with the script's directory, relative to the call's.
    pub directory: Option<&'static str>,
}
