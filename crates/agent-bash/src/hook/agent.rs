//! The differences between agents: the format of a hook's answer, and the settings file that
//! configures the hook.

use super::answer_format::AnswerFormat;
use super::fields::Fields;
use super::install::json::JsonForm;

/// An agent that can call agent-bash as a hook.
#[derive(Debug)]
pub struct Agent {
    /// The agent's name on the command line.
    pub name: &'static str,
    /// The agent's program, as found on `PATH`.
    pub program: &'static str,
    /// The program and version that this entry was tested with, or the source of an untested entry.
    pub tested_with: &'static str,
    /// The format of the hook's answer. `None` if the format depends on the call.
    pub(in crate::hook) format: Option<AnswerFormat>,
    /// True if a hook can replace the agent's commands.
    pub(in crate::hook) can_rewrite: bool,
    /// The path of the settings file with hooks.
    pub(in crate::hook) settings: SettingsPath,
    /// The form of a hook in that file.
    pub(in crate::hook) form: HookForm,
    /// An entry that replaces this one if its settings file exists, because the agent then ignores
    /// this entry's file.
    pub(in crate::hook) preferred: Option<&'static Agent>,
    /// A hint for the user after the installation.
    pub install_hint: &'static str,
}

impl Agent {
    /// True if a hook can replace the agent's commands.
    pub fn can_rewrite(&self) -> bool {
        self.can_rewrite
    }

    /// True if the hook is a file that the agent executes.
    pub fn runs_file(&self) -> bool {
        matches!(self.form, HookForm::Script(_))
    }

    /// Returns the format of the answer to a call.
    ///
    /// An agent that reads another agent's settings calls the hook of the other agent. The fields
    /// of such a call imply another format. The answer then is an exit code, which all such agents
    /// accept.
    pub(in crate::hook) fn format_of(&self, call: &Fields) -> AnswerFormat {
        match self.format {
            Some(format) if format == AnswerFormat::of(call) => format,
            Some(_) => AnswerFormat::ExitCode,
            None => AnswerFormat::of(call),
        }
    }
}

/// The path of an agent's settings file.
#[derive(Debug)]
pub(in crate::hook) struct SettingsPath {
    /// The environment variable with a directory that replaces `below_home`. Empty if the agent has
    /// no such variable.
    pub(in crate::hook) variable: &'static str,
    /// The subdirectory of the variable's directory in which the file is; may be empty.
    pub(in crate::hook) below_variable: &'static str,
    /// The directory below the user's home.
    pub(in crate::hook) below_home: &'static str,
    /// The directory in a project. `None` if the agent reads no settings of a project.
    pub(in crate::hook) below_project: Option<&'static str>,
    /// The file's name in each of these directories.
    pub(in crate::hook) file: &'static str,
    /// Another name that the file may have, used if only the file with this name exists.
    pub(in crate::hook) other_file: Option<&'static str>,
}

/// The form in which a hook is written into the agent's configuration.
#[derive(Debug)]
pub(in crate::hook) enum HookForm {
    /// Entries in a JSON file.
    Json(JsonEntry),
    /// An entry `[[hooks]]` in a TOML file, in which `LINE` is replaced by the command line as a
    /// TOML string.
    Toml(&'static str),
    /// A plugin file that agent-bash writes. `PROGRAM` is replaced by the path of agent-bash as a
    /// string literal.
    Plugin(&'static str),
    /// A shell script that agent-bash writes. `PROGRAM` is replaced by the path of agent-bash as a
    /// shell word.
    Script(&'static str),
    /// The agent is unknown, so a hook cannot be installed for it.
    Unknown,
}

/// Entries of a JSON file that make the agent call agent-bash.
#[derive(Debug)]
pub(in crate::hook) struct JsonEntry {
    /// The form of the file.
    pub(in crate::hook) json: JsonForm,
    /// A top-level member that the file must have, with its value.
    pub(in crate::hook) header: Option<(&'static str, &'static str)>,
    /// The lists that get an entry, each as the member names from the root to the list.
    pub(in crate::hook) lists: &'static [&'static [&'static str]],
    /// The entry, in which `LINE` is replaced by the command line as a JSON string.
    pub(in crate::hook) entry: &'static str,
}
