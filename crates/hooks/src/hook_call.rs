//! Parses an agent's hook call: the tool, and the scripts that the tool would run.

use super::call_fields::{self, CallFields, NamedField};
use agent_bash::HostContext;
use agent_bash_core::{MAX_COMMAND_BYTES, Request, RequestError, words};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Maximum size of a call. A script of the maximum length fits, even if every character is a line
/// end: JSON escapes each as two bytes.
pub const MAX_INPUT_BYTES: usize = 2 * MAX_COMMAND_BYTES;

/// Tools that always run a script, in lowercase without punctuation. Other tools run a script if
/// their input has a field for one.
const SHELL_TOOLS: &[&str] = words![
    "bash execute executebash executecmd executecommand execcommand filesystembash localshell",
    "powershell runcommand runcommands runinterminal runshellcommand runterminalcmd",
    "runterminalcommand shell shellcommand",
];

/// Tools whose `command` is not a script: editors, and tools that run prompts.
const NO_SHELL_TOOLS: &[&str] = &[
    "applypatch", "editor", "fsread", "fswrite", "memory", "slashcommand",
    "strreplacebasededittool", "strreplaceeditor", "texteditor",
];

/// The tools by which VS Code and `OpenHands` type text into a terminal in which a command may run.
/// The text may be a command, an answer to a question, or empty.
const TERMINAL_INPUT_TOOLS: &[&str] = &["sendtoterminal", "terminal"];

/// The field of VS Code's tool for new tasks in which the task's command is.
const TASK_FIELD: &str = "task";

/// Events that an agent reports before a command runs, in lowercase without punctuation.
const EVENTS_BEFORE_COMMANDS: &[&str] = &[
    "beforeshellexecution", "beforetool", "preruncommand", "preskillshellcommand", "pretool",
    "pretooluse", "toolcall", "toolexecutebefore",
];

/// Events of shell commands. Calls of these events need not name a tool.
const SHELL_EVENTS: &[&str] = &["beforeshellexecution", "preruncommand"];

/// A command that an agent is about to run.
#[derive(Debug, PartialEq)]
pub(super) struct HookCall {
    /// The scripts, all of which are checked.
    pub(super) scripts: Vec<String>,
    /// The conversation's directory; absolute.
    pub(super) conversation_cwd: PathBuf,
    /// The absolute directories in which the scripts may run. The hook checks the scripts in each.
    /// An agent ignores a field if its tool has none of this name, and uses the conversation's
    /// directory.
    pub(super) directories: Vec<PathBuf>,
    /// The tool's input.
    input: Map<String, Value>,
    /// The input's field with the script; `None` if the script is not one whole field.
    script_field: Option<String>,
    /// True if the hook checks the scripts, but never replaces them: text for a running program, or
    /// the command of a task.
    pub(super) is_only_checked: bool,
}

impl HookCall {
    /// Returns the input of a call that runs the script by `program`, in this conversation. `None`
    /// if the call has several scripts, or the script is not one whole field.
    pub(super) fn with_program(&self, program: &str, conversation: Option<&str>) -> Option<Value> {
        let [script] = self.scripts.as_slice() else {
            return None;
        };
        let mut words = vec![program, "shell"];
        words.extend(
            conversation
                .iter()
                .flat_map(|name| ["--conversation", *name]),
        );
        words.extend(["-c", script]);
        // Quoting cannot fail: a script has no NUL.
        let line = shlex::try_join(words).unwrap_or_default();
        let mut input = self.input.clone();
        input.insert(self.script_field.clone()?, line.into());
        Some(Value::Object(input))
    }
}

/// Why a call could not be parsed.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BadCall {
    /// Longer than [`MAX_INPUT_BYTES`].
    #[error("stdin has more than {MAX_INPUT_BYTES} bytes")]
    TooLong,
    /// Not JSON, or not a call.
    #[error("stdin is not a tool call in JSON: {0}")]
    NotACall(String),
    /// The hook was configured for an event that is not before a command.
    #[error(
        "at the event `{0}`, no command can be refused; set the hook up for the event before a tool runs"
    )]
    OtherEvent(String),
    /// A field of a shell call is missing or has the wrong type.
    #[error("`{field}`{of} must be {expected}, got {got}", of = of_tool(.tool))]
    BadInput {
        /// The tool, if the field is in its input.
        tool: String,
        /// The field.
        field: String,
        /// The field's expected type.
        expected: &'static str,
        /// The type received.
        got: &'static str,
    },
    /// The script is not valid for a call.
    #[error(transparent)]
    BadScript(#[from] RequestError),
    /// The conversation's directory is a relative path.
    #[error("`cwd` must be an absolute path, got `{0}`")]
    RelativeDirectory(String),
}

/// Returns ` of TOOL`, or an empty text without a tool.
fn of_tool(tool: &str) -> String {
    match tool {
        "" => String::new(),
        tool => format!(" of {tool}"),
    }
}

/// Parses the fields of a call.
pub(super) fn parse(input: &[u8]) -> Result<CallFields, BadCall> {
    if input.len() > MAX_INPUT_BYTES {
        return Err(BadCall::TooLong);
    }
    if !input.trim_ascii_start().starts_with(b"{") {
        return Err(BadCall::NotACall("it must be an object".to_owned()));
    }
    serde_json::from_slice(input).map_err(|error| BadCall::NotACall(error.to_string()))
}

/// Returns the scripts that the call is about to run. `None` if the tool runs no scripts. If the
/// call names no directory, the directory of `host` is used.
pub(super) fn read(fields: &CallFields, host: &HostContext) -> Result<Option<HookCall>, BadCall> {
    let event = fields.first(call_fields::EVENT_NAMES);
    let event_name = call_fields::plain(
        event
            .and_then(|(_, value)| value.as_str())
            .unwrap_or_default(),
    );
    let tool = string(fields.tool())?.unwrap_or_default();
    let name = call_fields::plain(tool);
    if NO_SHELL_TOOLS.contains(&&*name) || is_of_own_server(tool) {
        return Ok(None);
    }
    let is_shell = SHELL_TOOLS.contains(&&*name) || SHELL_EVENTS.contains(&&*event_name);
    let is_before = event_name.is_empty() || EVENTS_BEFORE_COMMANDS.contains(&&*event_name);
    let bad = |field: &str, expected, value: Option<&Value>| BadCall::BadInput {
        tool: tool.to_owned(),
        field: field.to_owned(),
        expected,
        got: json_type(value),
    };
    // Without an input object, the script is a field of the call.
    let whole = || ("tool_input", Value::Object(fields.0.clone()));
    let (input_name, input) = match fields.input() {
        Some(input) => input,
        None if is_shell
            && !tool.is_empty()
            && call_fields::scripts(&fields.0).next().is_none() =>
        {
            return Err(bad("tool_input", "an object", None));
        }
        None => whole(),
    };
    let input = match input {
        Value::Object(input) => input,
        other if is_shell => return Err(bad(input_name, "an object", Some(&other))),
        _ => return Ok(None),
    };
    let task = match input.get(TASK_FIELD) {
        Some(Value::Object(task)) => task.clone(),
        _ => Map::new(),
    };
    let is_terminal_input = TERMINAL_INPUT_TOOLS.contains(&&*name);
    let mut is_only_checked = is_terminal_input;
    let mut scripts = Vec::new();
    let mut script_field = None;
    for (object, is_task) in [(&input, false), (&task, true)] {
        for (name, value) in call_fields::scripts(object) {
            match call_fields::scripts_in_field(name, value, object.get("args")) {
                // Empty text is the Enter key.
                Some(more) if is_terminal_input && more.concat().trim().is_empty() => {}
                Some(more) => {
                    is_only_checked |= is_task && scripts.is_empty();
                    let is_whole =
                        scripts.is_empty() && value.as_str() == more.first().map(String::as_str);
                    script_field = is_whole.then(|| name.to_owned());
                    scripts.extend(more);
                }
                None if is_shell => return Err(bad(name, "a string", Some(value))),
                None => {}
            }
        }
    }
    if scripts.is_empty() {
        return match (is_shell, tool.is_empty() && is_before) {
            (true, _) => Err(bad("command", "a string", None)),
            (false, true) => Err(BadCall::NotACall("it has no `tool_name`".to_owned())),
            (false, false) => Ok(None),
        };
    }
    if let Some((name, event)) = event.filter(|_| !is_before) {
        let Some(event) = event.as_str() else {
            return Err(bad(name, "a string", Some(event)));
        };
        return Err(BadCall::OtherEvent(event.to_owned()));
    }
    let scripts = scripts.into_iter().map(|script| {
        let request = Request::new(script);
        request.validate()?;
        Ok::<_, RequestError>(request.command)
    });
    let scripts = scripts.collect::<Result<Vec<_>, _>>()?;
    let conversation_cwd = conversation_cwd(fields, host)?;
    let mut directories = Vec::new();
    for field in call_fields::directories(&input) {
        let directory = string(Some(field))?.filter(|path| !path.is_empty());
        directories.extend(directory.map(|path| conversation_cwd.join(path)));
    }
    if !directories.contains(&conversation_cwd) {
        directories.push(conversation_cwd.clone());
    }
    Ok(Some(HookCall {
        scripts,
        conversation_cwd,
        directories,
        input,
        script_field,
        is_only_checked,
    }))
}

/// True for a tool of `agent-bash mcp`, which makes the same checks. Agents name the server before
/// the tool: `mcp__agent-bash__bash`, `agent-bash-bash`. Codex and Mistral Vibe replace the hyphen.
/// A tool `bash` of a server `agent` is another tool.
fn is_of_own_server(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    let mut servers = tool.match_indices("agent-bash");
    tool.starts_with("mcp__agent_bash__")
        || tool.starts_with("mcp_agent_bash.")
        || servers.any(|(at, server)| {
            let is_edge =
                |letter: char| !letter.is_ascii_alphanumeric() && (letter != '-' || at == 0);
            let mut after = tool[at + server.len()..].chars();
            let begins_server = tool[..at].chars().next_back().is_none_or(is_edge);
            begins_server && after.next().is_some_and(is_edge) && after.next().is_some()
        })
}

/// Returns the conversation's directory: the directory that the call names, else the call's first
/// workspace, else the directory of `host`.
fn conversation_cwd(fields: &CallFields, host: &HostContext) -> Result<PathBuf, BadCall> {
    let named = string(fields.first(call_fields::CWD_NAMES))?.filter(|path| !path.is_empty());
    let directory = match named {
        Some(named) => PathBuf::from(named),
        None => fields
            .workspace_root()
            .map(PathBuf::from)
            .filter(|root| root.is_absolute())
            .unwrap_or_else(|| host.cwd.clone()),
    };
    if !directory.is_absolute() {
        return Err(BadCall::RelativeDirectory(directory.display().to_string()));
    }
    Ok(directory)
}

/// Returns the string in a field; `None` without a field.
fn string(field: Option<NamedField<'_>>) -> Result<Option<&str>, BadCall> {
    let Some((name, value)) = field else {
        return Ok(None);
    };
    match value.as_str() {
        Some(text) => Ok(Some(text)),
        None => Err(BadCall::BadInput {
            tool: String::new(),
            field: name.to_owned(),
            expected: "a string",
            got: json_type(Some(value)),
        }),
    }
}

/// Returns the JSON type of a value in words, for errors.
fn json_type(value: Option<&Value>) -> &'static str {
    match value {
        None => "nothing",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "a boolean",
        Some(Value::Number(_)) => "a number",
        Some(Value::String(_)) => "a string",
        Some(Value::Array(_)) => "an array",
        Some(Value::Object(_)) => "an object",
    }
}
