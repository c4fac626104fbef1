//! The differences between agents: the answers that they take, and how their hook is configured.

use super::answer_format::AnswerFormat;
use super::fields::Fields;
use super::install::json::JsonForm;

/// An agent whose calls of a hook are answered.
#[derive(Debug)]
pub struct Agent {
    /// The agent's name on the command line.
    pub name: &'static str,
    /// The program and version that this was tested with, or what its row was written from.
    pub tried_with: &'static str,
    /// How it takes an answer. `None` if that depends on the call.
    pub(in crate::hook) format: Option<AnswerFormat>,
    /// True if a hook can replace its commands.
    pub(in crate::hook) rewrites: bool,
    /// The place of the file with hooks.
    pub(in crate::hook) settings: SettingsPath,
    /// How they are written there.
    pub(in crate::hook) form: Form,
    /// The row to use instead if its file exists: the agent then ignores this one's.
    pub(in crate::hook) other: Option<&'static Agent>,
    /// A hint for the user after the installation.
    pub then: &'static str,
}

impl Agent {
    /// True if a hook can replace the agent's commands.
    pub fn rewrites(&self) -> bool {
        self.rewrites
    }

    /// True if the agent runs the file of its hook.
    pub fn runs_file(&self) -> bool {
        matches!(self.form, Form::Script(_))
    }

    /// The format of the answer to a call. Agents that read the settings of another one ask its
    /// hook: they all take exit code 2.
    pub(in crate::hook) fn format_of(&self, call: &Fields) -> AnswerFormat {
        match self.format {
            Some(format) if format == AnswerFormat::of(call) => format,
            Some(_) => AnswerFormat::ExitCode,
            None => AnswerFormat::of(call),
        }
    }
}

/// The place of an agent's settings.
#[derive(Debug)]
pub(in crate::hook) struct SettingsPath {
    /// The environment variable that overrides the directory below the user's home.
    pub(in crate::hook) variable: &'static str,
    /// The path below that directory.
    pub(in crate::hook) below_variable: &'static str,
    /// The directory below the user's home.
    pub(in crate::hook) below_home: &'static str,
    /// The directory in a project. `None` if the agent reads no settings of a project.
    pub(in crate::hook) below_project: Option<&'static str>,
    /// The file, in any of them.
    pub(in crate::hook) file: &'static str,
}

/// How a hook is written down.
#[derive(Debug)]
pub(in crate::hook) enum Form {
    /// By entries in a JSON file.
    Json(JsonEntry),
    /// By an entry `[[hooks]]` in a TOML file.
    Toml(&'static str),
    /// By a source file of its own, in which `PROGRAM` is the path of this program as a string.
    Plugin(&'static str),
    /// By a shell script of its own, in which `PROGRAM` is the path of this program as a word.
    Script(&'static str),
    /// The agent is not known, so nothing can be written for it.
    Unknown,
}

/// Entries of a JSON file, which call this program.
#[derive(Debug)]
pub(in crate::hook) struct JsonEntry {
    /// The form of the file.
    pub(in crate::hook) json: JsonForm,
    /// A member that the file must have, with its value.
    pub(in crate::hook) header: Option<(&'static str, &'static str)>,
    /// The lists that get an entry: names of the objects around each, and its own name.
    pub(in crate::hook) lists: &'static [&'static [&'static str]],
    /// The entry, in which `LINE` is the command line as a string.
    pub(in crate::hook) entry: &'static str,
}
