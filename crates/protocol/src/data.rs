//! The `data` of responses. For `tool_call` it is core's `ToolResult`.

mod changes;
mod checks;
mod jobs;

use crate::file::Base64Bytes;
pub use crate::file::{FilePieceData, FileWrittenData};
pub use crate::hello::{HelloData, MachineData};
pub use changes::{
    ChangesBlockedData, ChangesDiffData, ChangesDoneData, ChangesGroupData,
    ChangesGroupPreviewData, ChangesListData, ChangesMemberData, ChangesPreviewData,
    ChangesSetData, FileDiffData,
};
pub use checks::{
    CheckAnswerData, CheckData, DefinitionData, ExplainData, ReadCommandData, RuleAnswerData,
    VerdictData,
};
pub use jobs::{
    JobData, JobEndingData, JobKillData, JobOrigin, JobOutputData, JobProgress, JobWaitData,
    JobsData,
};

use agent_bash_core::changes::Changes;
use agent_bash_core::{
    ArtifactRef, MetCondition, Notice, Status, Timestamp, ToolResult, WaitingFor,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Data of `bash`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BashData {
    /// The output shown.
    pub output: String,
    /// Absent if the command was cancelled or its exit code is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// True if the command was cancelled.
    pub cancelled: bool,
    /// True if `output` is incomplete.
    pub truncated: bool,
    /// Lines printed.
    pub total_lines: u64,
    /// Bytes printed.
    pub total_bytes: u64,
    /// Lines shown.
    pub output_lines: u64,
    /// Bytes shown.
    pub output_bytes: u64,
    /// The artifact with the full output, if a part is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
    /// Notices, as in a result; for example that the user's shell was reset.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
    /// All data under the names that clients of similar protocols use.
    #[serde(flatten)]
    pub by_old_names: OldBashData,
}

/// [`BashData`] under its older, camelCase names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OldBashData {
    /// Equal to `exit_code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Equal to `total_lines`.
    pub total_lines: u64,
    /// Equal to `total_bytes`.
    pub total_bytes: u64,
    /// Equal to `output_lines`.
    pub output_lines: u64,
    /// Equal to `output_bytes`.
    pub output_bytes: u64,
    /// Equal to `artifact_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
}

/// Data of `cancel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CancelData {
    /// True if such a request was in flight. The response to that request follows.
    pub cancelled: bool,
}

/// Data of `schema`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SchemaData {
    /// The tool.
    Tool {
        /// Always `bash`.
        name: String,
        /// The description for the model; names the working directory.
        description: String,
        /// JSON Schema of the input.
        input_schema: Value,
    },
    /// An adapter's tools.
    Adapter {
        /// Each in the form that its provider's API takes: with a `type` that the provider knows,
        /// or with `name`, `description` and `input_schema`.
        tools: Vec<Value>,
    },
}

/// Data of `adapter_call`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdapterCallData {
    /// The text for the model, in the format of the adapted tool.
    pub content: String,
    /// True if the tool reports an error.
    pub is_error: bool,
    /// Structured output in the adapted tool's format; `null` if the tool has none.
    pub structured: Option<Value>,
    /// The regular result, of the last command if there were several; `null` while the call
    /// continues, and if it ran no command.
    pub result: Option<ToolResult>,
}

/// Data of `program`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramData {
    /// The program's exit code; absent if a signal ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The program's stdout, at most 4 MiB.
    pub out: Base64Bytes,
    /// The program's stderr, at most 256 KiB.
    pub err: Base64Bytes,
}

/// Data of `ping`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PingData {
    /// Version of agent-bash.
    pub version: String,
    /// Version of the protocol.
    pub protocol: u32,
    /// The build of that version: to tell builds apart, not to compare them.
    pub build: String,
}

/// Data of the requests about terminals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalData {
    /// The terminal's name; absent if the command ended with the first answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<String>,
    /// The current screen or, after the command's end, the last screen; absent if there was no
    /// screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen: Option<ScreenData>,
    /// The condition that ended the wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub met: Option<MetCondition>,
    /// The call's result, once the command has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ToolResult>,
}

/// The screen of a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScreenData {
    /// The lines, without trailing blanks, and without empty lines at the bottom.
    pub text: String,
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
    /// The cursor's row, from 1.
    pub cursor_row: u16,
    /// The cursor's column, from 1.
    pub cursor_col: u16,
    /// False if the program hides the cursor.
    pub cursor_visible: bool,
    /// The title set by the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// True if a full-screen program uses the alternate screen.
    pub full_screen: bool,
    /// The input that the command waits for, if known; detected after two seconds of silence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<WaitingFor>,
}

/// Data of `artifact.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactsData {
    /// The artifacts, oldest first.
    pub artifacts: Vec<ArtifactData>,
}

/// A stored full output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactData {
    /// The reference, as in the result of its call.
    pub artifact: ArtifactRef,
    /// The command, or its beginning.
    pub command: String,
    /// The call's working directory.
    pub cwd: String,
    /// When the call started.
    pub started_at: Timestamp,
    /// The call's duration in milliseconds.
    pub duration_ms: u64,
    /// How the call ended.
    pub status: Status,
}

/// Data of `artifact.show`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageData {
    /// The page as clean text.
    pub text: String,
    /// First and last line on the page, from 1; `null` for an empty page.
    pub lines: Option<[u64; 2]>,
    /// Total lines of the artifact.
    pub total_lines: u64,
    /// Total bytes of the artifact.
    pub total_bytes: u64,
    /// `offset` of the next page; `null` after the last page, and if the page ends inside a line.
    pub next: Option<u64>,
    /// `byte` of the next page, if this page ends inside a line.
    pub next_byte: Option<u64>,
    /// A sentence about how to read on, if the page is not everything.
    pub hint: Option<String>,
}

/// Data of `artifact.grep`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundData {
    /// Matches and their context as `grep -n` prints them.
    pub text: String,
    /// The matches, line by line.
    pub lines: Vec<FoundLineData>,
    /// Number of matches, shown or not.
    pub total_matches: u64,
    /// `offset` from which to find the matches that are not shown.
    pub next: Option<u64>,
    /// A sentence about the matches that are not shown.
    pub hint: Option<String>,
}

/// A matching line or a line of context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundLineData {
    /// The line's number, from 1.
    pub number: u64,
    /// The line's text without the line end.
    pub text: String,
    /// True if the line matches; otherwise the line is context.
    pub is_match: bool,
}

/// Data of `session.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShellsData {
    /// The shells, in the order in which calls first named them.
    pub sessions: Vec<ShellData>,
}

/// A persistent shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShellData {
    /// The name that calls use.
    pub name: String,
    /// True if a call is running in the shell.
    pub busy: bool,
    /// The shell's working directory; `null` while it is busy, and before its first call has ended.
    pub cwd: Option<String>,
}

/// Data of `session.reset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResetData {
    /// True if there was such a shell.
    pub reset: bool,
}

/// Data of `session.messages` and `session.end_turn`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessagesData {
    /// The messages, in order.
    pub messages: Vec<MessageData>,
}

/// A recorded command of the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageData {
    /// The command as the user gave it.
    pub command: String,
    /// The output shown.
    pub output: String,
    /// `null` if the command was killed or its exit code is unknown.
    pub exit_code: Option<i32>,
    /// True if the command was cancelled.
    pub cancelled: bool,
    /// True if `output` is incomplete.
    pub truncated: bool,
    /// The full output, if a part is not shown.
    pub artifact: Option<ArtifactRef>,
    /// When the command started.
    pub time: Timestamp,
    /// True if the command is hidden from the model.
    pub excluded_from_context: bool,
    /// The text that the model reads; `null` if excluded.
    pub text: Option<String>,
}

/// Declares the type with the name of each request, its field, and the data of its response.
macro_rules! data_by_command {
    ($($name:tt $field:ident: $data:ty,)*) => {
        #[doc = "Maps each request to the data of its response. Requests that are missing here have no data."]
        #[derive(Debug, Serialize, JsonSchema)]
        pub struct DataByCommand {
            $(#[serde(rename = $name)] $field: $data,)*
        }
    };
}

data_by_command! {
    "hello" hello: HelloData,
    "bash" bash: BashData,
    "tool_call" tool_call: ToolResult,
    "adapter_call" adapter_call: AdapterCallData,
    "cancel" cancel: CancelData,
    "check" check: CheckData,
    "explain" explain: ExplainData,
    "schema" schema: SchemaData,
    "ping" ping: PingData,
    "jobs.list" jobs_list: JobsData,
    "jobs.show" jobs_show: JobData,
    "jobs.output" jobs_output: JobOutputData,
    "jobs.wait" jobs_wait: JobWaitData,
    "jobs.kill" jobs_kill: JobKillData,
    "jobs.input" jobs_input: JobData,
    "terminal.start" terminal_start: TerminalData,
    "terminal.input" terminal_input: TerminalData,
    "terminal.screen" terminal_screen: TerminalData,
    "terminal.end" terminal_end: TerminalData,
    "artifact.list" artifact_list: ArtifactsData,
    "artifact.show" artifact_show: PageData,
    "artifact.grep" artifact_grep: FoundData,
    "changes.list" changes_list: ChangesListData,
    "changes.show" changes_show: Changes,
    "changes.diff" changes_diff: ChangesDiffData,
    "changes.preview" changes_preview: ChangesPreviewData,
    "changes.commit" changes_commit: ChangesDoneData,
    "changes.discard" changes_discard: ChangesDoneData,
    "changes.undo" changes_undo: ChangesDoneData,
    "changes.redo" changes_redo: ChangesDoneData,
    "changes.undo_all" changes_undo_all: ChangesGroupData,
    "changes.redo_all" changes_redo_all: ChangesGroupData,
    "changes.preview_all" changes_preview_all: ChangesGroupPreviewData,
    "session.list" session_list: ShellsData,
    "session.reset" session_reset: ResetData,
    "session.messages" session_messages: MessagesData,
    "session.end_turn" session_end_turn: MessagesData,
    "file.read" file_read: FilePieceData,
    "file.write" file_write: FileWrittenData,
    "program" program: ProgramData,
}
