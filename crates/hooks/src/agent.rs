//! The differences between agents: the format of a hook's answer, and the settings file that
//! configures the hook.

use super::answer_format::AnswerFormat;
use super::call_fields::CallFields;
use super::json_form::JsonForm;
use agent_bash::HostContext;
use std::ffi::OsStr;
use std::path::PathBuf;

/// An agent that can call agent-bash as a hook.
#[derive(Debug)]
pub struct Agent {
    /// The agent's name on the command line.
    pub name: &'static str,
    /// The agent's program, as found on `PATH`.
    pub program: &'static str,
    /// The agent whose hook this agent runs, from the same file. `None` if the agent has a hook of
    /// its own.
    pub hook_of: Option<&'static str>,
    /// The program and version that this entry was tested with, or the source of an untested entry.
    pub tested_with: &'static str,
    /// The format of the hook's answer. `None` if the format depends on the call.
    pub(crate) format: Option<AnswerFormat>,
    /// True if a hook can replace the agent's commands.
    pub(crate) can_rewrite: bool,
    /// The path of the settings file with hooks.
    pub(crate) settings: SettingsPath,
    /// The form of a hook in that file.
    pub(crate) form: HookForm,
    /// An entry that replaces this one if its settings file exists, because the agent then ignores
    /// this entry's file.
    pub(crate) preferred: Option<&'static Agent>,
    /// A hint for the user after the installation.
    pub install_hint: &'static str,
}

impl Agent {
    /// An unknown agent.
    pub(crate) const UNKNOWN: Self = Self {
        name: "",
        program: "",
        hook_of: None,
        tested_with: "",
        format: None,
        can_rewrite: false,
        settings: same_directory("", "", ""),
        form: HookForm::Unknown,
        preferred: None,
        install_hint: "",
    };

    /// True if a hook can replace the agent's commands.
    pub fn can_rewrite(&self) -> bool {
        self.can_rewrite
    }

    /// Returns the agent's name in the command line of the hook.
    pub(crate) fn hook_name(&self) -> &'static str {
        self.hook_of.unwrap_or(self.name)
    }

    /// Returns what a hook that replaces commands costs the user.
    pub fn rewriting_cost(&self) -> &'static str {
        match self.format {
            Some(AnswerFormat::ClaudeCode) => {
                "The hook allows each command that agent-bash does not refuse, so the agent no longer asks you.\n\
                 The agent's own permission rules see the new text: agent-bash shell -c '...'."
            }
            Some(AnswerFormat::Copilot) => {
                "The agent asks you about the new text: agent-bash shell -c '...'. Its own permission rules see that \
                 text, too:\na rule that allows agent-bash allows every command. Each command runs in a new bash: \
                 `cd` and `export` end with it."
            }
            _ => {
                "The agent asks you about the new text: agent-bash shell -c '...'. Its own permission rules see that \
                 text, too:\na rule that allows agent-bash allows every command."
            }
        }
    }

    /// True if the hook is a file that the agent executes.
    pub fn runs_file(&self) -> bool {
        matches!(self.form, HookForm::Script(_))
    }

    /// Returns the format of the answer to a call.
    ///
    /// An agent that reads another agent's settings calls the hook of the other agent. The fields
    /// of such a call imply another format. The answer then is an exit code, which all such agents
    /// accept. Only VS Code calls the hook of Copilot CLI with the fields of Claude Code, and
    /// accepts all answers in that format.
    pub(crate) fn format_of(&self, call: &CallFields) -> AnswerFormat {
        let implied = AnswerFormat::of(call);
        match self.format {
            Some(AnswerFormat::Copilot) if implied == AnswerFormat::ClaudeCode => implied,
            Some(format) if format != implied => AnswerFormat::ExitCode,
            _ => implied,
        }
    }
}

/// The path of an agent's settings file.
#[derive(Debug)]
pub(crate) struct SettingsPath {
    /// The environment variable with a directory that replaces `below_home`. Empty if the agent has
    /// no such variable.
    pub(crate) variable: &'static str,
    /// The subdirectory of the variable's directory in which the file is; may be empty.
    pub(crate) below_variable: &'static str,
    /// The directory below the user's home.
    pub(crate) below_home: &'static str,
    /// The directory in a project. `None` if the agent reads no settings of a project.
    pub(crate) below_project: Option<&'static str>,
    /// The file's name in each of these directories.
    pub(crate) file: &'static str,
    /// Another name that the file may have, used if only the file with this name exists.
    pub(crate) other_file: Option<&'static str>,
}

/// Returns the directory that an environment variable names by an absolute path.
pub(crate) fn named_directory(variable: &str, host: &HostContext) -> Option<PathBuf> {
    let named = host.env.get(OsStr::new(variable)).map(PathBuf::from);
    named.filter(|path| path.is_absolute())
}

/// The form in which a hook is written into the agent's configuration.
#[derive(Debug)]
pub(crate) enum HookForm {
    /// Entries in a JSON file.
    Json(JsonEntry),
    /// Entries `[[hooks]]` in a TOML file, without the first header. `LINE` and `REPORT` are
    /// replaced as in [`HookList`], by TOML strings.
    Toml(&'static str),
    /// A plugin file that agent-bash writes. `PROGRAM` is replaced by the path of agent-bash as a
    /// string literal, and `AGENT` by the agent's name.
    Plugin(&'static str),
    /// A shell script that agent-bash writes. `PROGRAM` is replaced by the path of agent-bash as a
    /// shell word.
    Script(&'static str),
    /// The agent is unknown, so a hook cannot be installed for it.
    Unknown,
}

impl HookForm {
    /// Returns the form of a JSON file that needs no header.
    pub(crate) const fn lists(json: JsonForm, lists: &'static [HookList]) -> Self {
        Self::Json(JsonEntry {
            json,
            header: None,
            excluded: None,
            lists,
        })
    }
}

/// Entries of a JSON file that make the agent call agent-bash.
#[derive(Debug)]
pub(crate) struct JsonEntry {
    /// The form of the file.
    pub(crate) json: JsonForm,
    /// A top-level member that the file must have, with its value.
    pub(crate) header: Option<(&'static str, &'static str)>,
    /// A top-level member that the file must not have, with the reason, as a part of an error.
    pub(crate) excluded: Option<(&'static str, &'static str)>,
    /// The lists that get an entry.
    pub(crate) lists: &'static [HookList],
}

/// A list of hooks in a JSON file, with the entry of agent-bash: the member names from the root to
/// the list, and the entry's text.
///
/// In the text, `LINE` is replaced by the command line as a JSON string, or `REPORT` by the command
/// line for prompts of the user, which never blocks.
pub(crate) type HookList = (&'static [&'static str], &'static str);

/// Returns the path of a settings file that is in `directory` both below the user's home and in a
/// project. `variable` can replace the directory below the user's home.
pub(crate) const fn same_directory(
    variable: &'static str,
    directory: &'static str,
    file: &'static str,
) -> SettingsPath {
    SettingsPath {
        variable,
        below_variable: "",
        below_home: directory,
        below_project: Some(directory),
        file,
        other_file: None,
    }
}

/// The list of hooks before a tool runs, in the settings of most agents.
pub(crate) const PRE_TOOL_USE: &[&str] = &["hooks", "PreToolUse"];

/// The list of hooks that are told the user's prompts, in the settings of several agents.
pub(crate) const USER_PROMPT_SUBMIT: &[&str] = &["hooks", "UserPromptSubmit"];
