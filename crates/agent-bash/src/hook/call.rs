//! Parses an agent's hook call. The four fields used here are common to all agents.

use super::agents::Agent;
use crate::stage::parse_input::{self, Input};
use agent_bash_core::{MAX_COMMAND_BYTES, Request, RequestError};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Longest call that is read. Any script of acceptable length fits, even if every line end is
/// escaped.
pub const MAX_INPUT_BYTES: usize = 2 * MAX_COMMAND_BYTES;

/// A command that an agent is about to run.
#[derive(Debug, PartialEq)]
pub(super) struct Call {
    /// The script.
    pub(super) script: String,
    /// The session's directory; absolute.
    pub(super) session: PathBuf,
    /// The script's working directory; absolute.
    pub(super) cwd: PathBuf,
    /// The tool's input.
    input: Map<String, Value>,
    /// The field of the input that holds the script.
    field: &'static str,
}

impl Call {
    /// The input of a call that has `program` run the script.
    pub(super) fn with_program(&self, program: &str) -> Value {
        // Quoting cannot fail: a script has no NUL.
        let words = [program, "shell", "-c", &self.script];
        let line = shlex::try_join(words).unwrap_or_default();
        let mut input = self.input.clone();
        input.insert(self.field.to_owned(), line.into());
        Value::Object(input)
    }
}

/// Why a call could not be parsed.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BadCall {
    /// Longer than [`MAX_INPUT_BYTES`].
    #[error("it has more than the {MAX_INPUT_BYTES} bytes that are read")]
    TooLong,
    /// The input is not JSON, or not a call.
    #[error("stdin is no call of a tool in JSON: {0}")]
    NotACall(String),
    /// The hook was configured for another event.
    #[error(
        "this is the hook for `{expected}`, and `{got}` was sent; set it up for `{expected}` alone"
    )]
    OtherEvent {
        /// The agent's event before a tool runs.
        expected: &'static str,
        /// The event received.
        got: String,
    },
    /// A field of the tool's input is missing or has the wrong type.
    #[error("`{field}` of {tool} must be {expected}, got {got}")]
    BadInput {
        /// The tool.
        tool: &'static str,
        /// The name of the field.
        field: &'static str,
        /// The expected type of the field.
        expected: &'static str,
        /// The type received.
        got: &'static str,
    },
    /// The command is not a script that a shell can run.
    #[error(transparent)]
    BadScript(#[from] RequestError),
    /// A relative directory, against which nothing can be resolved.
    #[error("`cwd` must be an absolute path, got `{0}`")]
    RelativeDirectory(String),
}

#[derive(Deserialize)]
struct Written {
    hook_event_name: String,
    cwd: String,
    tool_name: String,
    #[serde(default)]
    tool_input: Value,
}

/// Parses the call. `None` if it does not run a command.
pub(super) fn read(agent: &Agent, input: &[u8]) -> Result<Option<Call>, BadCall> {
    if input.len() > MAX_INPUT_BYTES {
        return Err(BadCall::TooLong);
    }
    if !input.trim_ascii_start().starts_with(b"{") {
        return Err(BadCall::NotACall("it must be an object".to_owned()));
    }
    let written: Written =
        serde_json::from_slice(input).map_err(|error| BadCall::NotACall(error.to_string()))?;
    if written.hook_event_name != agent.event {
        return Err(BadCall::OtherEvent {
            expected: agent.event,
            got: written.hook_event_name,
        });
    }
    let Some(tool) = agent
        .tools
        .iter()
        .find(|tool| tool.name == written.tool_name)
    else {
        return Ok(None);
    };
    let bad = |field, expected, value: Option<&Value>| BadCall::BadInput {
        tool: tool.name,
        field,
        expected,
        got: kind(value),
    };
    let Value::Object(input) = written.tool_input else {
        return Err(bad("tool_input", "an object", Some(&written.tool_input)));
    };
    let script = match input.get(tool.command) {
        Some(Value::String(script)) => script.clone(),
        None if tool.optional => return Ok(None),
        other => return Err(bad(tool.command, "a string", other)),
    };
    let script = parse_input::parse(Input::Request(Request::new(script)))?
        .request
        .command;
    let session = PathBuf::from(written.cwd);
    if !session.is_absolute() {
        return Err(BadCall::RelativeDirectory(session.display().to_string()));
    }
    let cwd = match tool
        .directory
        .and_then(|field| Some((field, input.get(field)?)))
    {
        None | Some((_, Value::Null)) => session.clone(),
        Some((_, Value::String(directory))) => session.join(directory),
        Some((field, other)) => return Err(bad(field, "a string", Some(other))),
    };
    Ok(Some(Call {
        script,
        session,
        cwd,
        input,
        field: tool.command,
    }))
}

fn kind(value: Option<&Value>) -> &'static str {
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
