//! The tool definitions: descriptions and input schemas for the model.

use agent_bash::Conversation;
use agent_bash::core::{MAX_SHOW_KB, ToolResult, Until, Window};
use agent_bash::profiles;
use agent_bash::sink::MAX_PAGE_BYTES;
use agent_bash::tools::{ReaderTool, ToolSchema};
use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// Maximum output in one answer.
pub(super) const PART_WINDOW: Window = Window {
    bytes: 50 * 1024,
    lines: usize::MAX,
};

/// Bytes reserved in an answer for everything except output: notices, the line with the link, the
/// outcome.
pub(super) const FRAME_BYTES: usize = 16 * 1024;

/// A tool of this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum McpTool {
    /// Runs a command.
    Bash,
    /// Reads a job's output.
    Output,
    /// Writes to a job's stdin.
    Input,
    /// Ends a job.
    Kill,
    /// Lists jobs.
    Jobs,
    /// Reads a full output.
    Read,
    /// Shows and reverts changes that commands made to files.
    Changes,
}

impl McpTool {
    /// All tools, in listing order.
    const ALL: [Self; 7] = [
        Self::Bash,
        Self::Output,
        Self::Input,
        Self::Kill,
        Self::Jobs,
        Self::Read,
        Self::Changes,
    ];

    /// True if a session offers the tool.
    pub(super) fn is_offered(self, session: &Conversation) -> bool {
        self != Self::Changes || session.changes().is_recording()
    }

    /// Finds a tool by name. [`Self::Read`] has the names of all profiles.
    pub(super) fn named(name: &str) -> Option<Self> {
        let has_name = |tool: &Self| {
            let mut profiles = profiles::TOOLS.iter();
            profiles.any(|profile| tool.name(profile.reader) == name)
        };
        Self::ALL.into_iter().find(has_name)
    }

    /// Returns the tool's name. `reader` is the profile's tool for full outputs.
    pub(super) fn name(self, reader: ReaderTool) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Output => "bash_output",
            Self::Input => "bash_input",
            Self::Kill => "bash_kill",
            Self::Jobs => "bash_jobs",
            Self::Read => reader.name,
            Self::Changes => "bash_changes",
        }
    }
}

/// A name in arguments, as a text or a number: of a job, a call (its handle), an artifact, a change
/// set or a turn.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum NameArg {
    Text(String),
    Number(u64),
}

impl NameArg {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Text(text) => text.trim().to_owned(),
            Self::Number(number) => number.to_string(),
        }
    }
}

/// Arguments of `bash_output`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputArgs {
    #[serde(alias = "id")]
    pub(super) job: NameArg,
    pub(super) offset: Option<u64>,
    pub(super) tail: Option<u64>,
    pub(super) wait: Option<Value>,
    #[serde(default)]
    pub(super) until: Until,
}

/// Arguments of `bash_input`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InputArgs {
    #[serde(alias = "id")]
    pub(super) job: NameArg,
    #[serde(default, alias = "input")]
    pub(super) text: String,
    #[serde(default)]
    pub(super) keys: Vec<String>,
    pub(super) size: Option<String>,
    #[serde(default)]
    pub(super) close: bool,
    pub(super) wait: Option<Value>,
    #[serde(default)]
    pub(super) until: Until,
}

/// Arguments of `bash_kill`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KillArgs {
    #[serde(alias = "id")]
    pub(super) job: NameArg,
}

/// Arguments of `read_artifact`, alias `view`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadArgs {
    #[serde(alias = "file_path", alias = "path", alias = "uri", alias = "artifact")]
    pub(super) id: NameArg,
    pub(super) offset: Option<u64>,
    pub(super) limit: Option<u64>,
    pub(super) byte: Option<u64>,
    pub(super) pattern: Option<String>,
    #[serde(default)]
    pub(super) context: usize,
}

impl ReadArgs {
    /// Returns the arguments for the first page of the artifact with this name.
    pub(super) fn first_page_of(name: String) -> Self {
        Self {
            id: NameArg::Text(name),
            offset: None,
            limit: None,
            byte: None,
            pattern: None,
            context: 0,
        }
    }
}

/// Arguments of `bash_changes`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangesArgs {
    pub(super) action: ChangesAction,
    #[serde(default, alias = "uri")]
    pub(super) id: Option<NameArg>,
    #[serde(default)]
    pub(super) paths: Vec<PathBuf>,
    #[serde(default)]
    pub(super) partial: bool,
    #[serde(default)]
    pub(super) since: Option<NameArg>,
    #[serde(default, rename = "turn")]
    pub(super) turn_name: Option<NameArg>,
}

/// The actions of `bash_changes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChangesAction {
    /// Lists all change sets.
    List,
    /// Lists the changed files.
    Show,
    /// Shows diffs.
    Diff,
    /// Applies the changes that a trial held back.
    Commit,
    /// Discards the changes that a trial held back.
    Discard,
    /// Reverts the changes.
    Undo,
    /// Applies reverted changes again.
    Redo,
}

/// Returns the names of the tools that a session offers.
pub(super) fn names(session: &Conversation) -> Vec<&'static str> {
    let reader = profiles::tool(session.tool().profile().name).reader;
    let all = McpTool::ALL.into_iter();
    let offered = all.filter(|tool| tool.is_offered(session));
    offered.map(|tool| tool.name(reader)).collect()
}

/// Returns all tools, with `bash` first. `structured` adds schemas for the results' data.
pub(super) fn all(session: &Conversation, bash: &ToolSchema, structured: bool) -> Vec<Tool> {
    let reader = profiles::tool(session.tool().profile().name).reader;
    let mut tools: Vec<Tool> = McpTool::ALL
        .into_iter()
        .filter(|tool| tool.is_offered(session))
        .map(|tool| definition(tool, reader, bash).with_meta(meta(tool, session)))
        .collect();
    if structured && let Some(bash) = tools.first_mut() {
        bash.output_schema = Some(Arc::new(result_schema()));
    }
    tools
}

fn definition(tool: McpTool, reader: ReaderTool, bash: &ToolSchema) -> Tool {
    let name = tool.name(reader);
    let hints = ToolAnnotations::new();
    let job = json!({
        "type": "string",
        "description": "Name from `bash`"
    });
    let (description, schema, hints) = match tool {
        McpTool::Bash => {
            let bash = bash.clone().with_terminals();
            let schema = object(bash.input_schema);
            return Tool::new(name, bash.description, schema)
                .with_annotations(hints.read_only(false).destructive(true).open_world(true));
        }
        McpTool::Output => (
            "Reads what a background job has printed since it was last read, and says whether it still runs.",
            json!({
                "type": "object",
                "required": ["job"],
                "properties": {
                    "job": job,
                    "wait": { "type": "number", "minimum": 0, "description": "Seconds to wait for its end first" },
                    "until": {
                        "type": "object",
                        "description": "Wait only for an unread line that matches, a port, a file, silence",
                        "properties": {
                            "line": { "type": "string" },
                            "port": { "type": "integer" },
                            "file": { "type": "string" },
                            "quiet_ms": { "type": "integer" }
                        }
                    },
                    "tail": { "type": "integer", "minimum": 1, "description": "The last N lines instead" },
                    "offset": { "type": "integer", "minimum": 0, "description": "From this byte on instead" }
                }
            }),
            hints.read_only(true).open_world(false),
        ),
        McpTool::Input => (
            "Writes to a background job's stdin, or types on a call's terminal and shows its screen. End a line with \\n.",
            json!({
                "type": "object",
                "required": ["job"],
                "properties": {
                    "job": job,
                    "text": { "type": "string" },
                    "keys": {
                        "type": "array", "items": { "type": "string" },
                        "description": "Then press keys: Enter, C-c, Up, F1"
                    },
                    "close": { "type": "boolean", "description": "End its input after that" }
                }
            }),
            hints.read_only(false).destructive(false).open_world(false),
        ),
        McpTool::Kill => (
            "Ends a background job with every process it has started.",
            json!({ "type": "object", "required": ["job"], "properties": { "job": job } }),
            hints.read_only(false).destructive(true).open_world(false),
        ),
        McpTool::Jobs => (
            "Lists jobs, and calls that go on: running, or how they ended.",
            json!({ "type": "object", "properties": {} }),
            hints.read_only(true).open_world(false),
        ),
        McpTool::Read => (
            "Reads an output that was shown only in part, page by page, or its lines that match a pattern.",
            reader_schema(reader),
            hints.read_only(true).open_world(false),
        ),
        McpTool::Changes => (
            "Shows what a command did to files. `undo` takes it back, unless changed since. `commit` applies the changes of a trial, `discard` drops it.",
            changes_schema(),
            hints.read_only(false).destructive(true).open_world(false),
        ),
    };
    Tool::new(name, description, object(schema)).with_annotations(hints)
}

fn changes_schema() -> Value {
    json!({
        "type": "object",
        "required": ["action"],
        "properties": {
            "action": {
                "type": "string",
                "enum": ["list", "show", "diff", "commit", "discard", "undo", "redo"]
            },
            "id": { "type": "string", "description": "Number of the changes, for all but `list`" },
            "paths": {
                "type": "array", "items": { "type": "string" },
                "description": "For `diff` and `undo`: only these"
            },
            "partial": { "type": "boolean", "description": "For `undo`: leave files changed since" },
            "since": {
                "type": "string",
                "description": "For `undo`, `redo`: all from this number or time (`10m`) on"
            },
            "turn": { "type": "string", "description": "Like `since`: a turn, `last` or its name" }
        }
    })
}

fn reader_schema(reader: ReaderTool) -> Value {
    json!({
        "type": "object",
        "required": [reader.field],
        "properties": {
            reader.field: { "type": "string", "description": reader.field_about },
            "offset": { "type": "integer", "minimum": 0, "description": "First line, from 1" },
            "limit": { "type": "integer", "minimum": 1, "description": "Lines; 2000 if left out" },
            "byte": { "type": "integer", "minimum": 0, "description": "From this byte on instead" },
            "pattern": { "type": "string", "description": "Only lines that match this regular expression, numbered" },
            "context": { "type": "integer", "minimum": 0, "description": "Lines shown around each match" }
        }
    })
}

fn meta(tool: McpTool, session: &Conversation) -> MetaObject {
    for_claude_code(max_answer_bytes(tool, session))
}

/// Returns the hints for Claude Code. Without `maxResultSizeChars`, the model gets only the first 2
/// KB of a longer answer and a file name. Without `alwaysLoad`, version 2.1.332 offers only the
/// tool's name, and adds the schema to each failed result.
pub(super) fn for_claude_code(max_answer_bytes: usize) -> MetaObject {
    let fields = json!({
        "anthropic/maxResultSizeChars": max_answer_bytes,
        "anthropic/alwaysLoad": true,
    });
    MetaObject(object(fields))
}

/// Returns the maximum length of an answer in bytes, which also limits its characters.
fn max_answer_bytes(tool: McpTool, session: &Conversation) -> usize {
    let output = session.tool().profile().output.truncation.longest();
    // A call can request a longer output than the profile shows.
    let output = output.max(MAX_SHOW_KB as usize * 1024);
    let shown = match tool {
        // The answers of the job tools may contain the answer of the call itself.
        McpTool::Bash | McpTool::Output | McpTool::Kill => output,
        McpTool::Read => MAX_PAGE_BYTES,
        McpTool::Changes => PART_WINDOW.bytes,
        McpTool::Input | McpTool::Jobs => 0,
    };
    shown + FRAME_BYTES
}

/// Returns the fields of a value that is an object.
pub(super) fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(fields) => fields,
        _ => JsonObject::new(),
    }
}

/// Returns the schema of a result, without fields that clients of older drafts reject: the draft's
/// name, and non-standard formats such as `uint64`.
fn result_schema() -> JsonObject {
    let generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    let mut schema = generator.into_root_schema_for::<ToolResult>().to_value();
    remove_unsupported(&mut schema);
    object(schema)
}

fn remove_unsupported(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for name in ["$schema", "format"] {
                if fields.get(name).is_some_and(Value::is_string) {
                    fields.remove(name);
                }
            }
            fields.values_mut().for_each(remove_unsupported);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_unsupported),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_finds_tools_of_every_layout() {
        for tool in McpTool::ALL {
            for reader in [ReaderTool::BY_NUMBER, ReaderTool::BY_PATH] {
                assert_eq!(McpTool::named(tool.name(reader)), Some(tool));
            }
        }
        assert_eq!(McpTool::named("view"), Some(McpTool::Read));
        assert_eq!(McpTool::named("sh"), None);
    }

    #[test]
    fn result_schema_has_no_formats() {
        let text = Value::Object(result_schema()).to_string();
        assert!(text.contains("survivors") && text.contains("moved_to_background"));
        assert!(!text.contains("uint64") && !text.contains("json-schema.org"));
    }

    #[test]
    fn read_args_accept_every_alias() {
        for name in ["id", "uri", "path", "file_path", "artifact"] {
            let args: ReadArgs = serde_json::from_value(json!({ name: "3", "offset": 1 })).unwrap();
            assert_eq!(args.id.text(), "3");
        }
        let args: ReadArgs = serde_json::from_value(json!({ "id": 3 })).unwrap();
        assert_eq!(args.id.text(), "3");
        let error = serde_json::from_value::<ReadArgs>(json!({ "id": 3, "lines": 1 })).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("unknown field `lines`, expected one of")
        );
    }
}
