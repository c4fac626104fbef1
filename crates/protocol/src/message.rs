//! The messages of the protocol: requests in, responses out. The `data` of responses is in
//! [`crate::data`]; [`crate::update`] has the other lines to a client.
//!
//! Names are `snake_case`, as everywhere in agent-bash; the data of `bash` also carries the
//! `camelCase` names that clients of similar protocols use.

use crate::file::Base64Bytes;
use crate::hello::Hello;
use crate::name::Name;
pub use crate::request_id::RpcId;
pub use crate::response::{ErrorCode, Response, ResponseTag, RpcResponse};
pub use crate::stream::Stream;
use crate::unlogged::Unlogged;
use agent_bash_core::{Findings, Until};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::num::NonZeroU64;

/// One line from a client. Unknown fields are ignored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RpcRequest {
    /// Repeated in the response. A request without an id gets a response without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<RpcId>,
    /// The request itself.
    #[serde(flatten)]
    pub call: RpcCall,
}

/// A request, by its `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RpcCall {
    /// Introduces the client; applies to all later requests. Optional, except for a worker. Data:
    /// `HelloData`.
    Hello(Hello),
    /// Runs a command of the user in the user's persistent shell, which `session.list` names `!`.
    /// Data: `BashData`.
    Bash {
        /// The script.
        command: String,
        /// The kind of updates to send before the response, if any.
        #[serde(default)]
        stream: Stream,
        /// Hides the command from the model (`!!cmd`).
        #[serde(
            default,
            alias = "excludeFromContext",
            skip_serializing_if = "std::ops::Not::not"
        )]
        exclude_from_context: bool,
    },
    /// Cancels the running `bash` command. Always succeeds, without data.
    AbortBash {
        /// Cancel the command only if its request has this id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<RpcId>,
    },
    /// Runs one call through the pipeline. Data: `ToolResult` (`tool_result.schema.json`).
    ToolCall {
        /// The call (`request.schema.json`), or just its command.
        request: Value,
        /// The kind of updates to send before the response, if any.
        #[serde(default)]
        stream: Stream,
        /// The other tools that the model has, for this call; by default those of `hello` or the
        /// settings.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tools: Option<Vec<String>>,
        /// The client's name of the turn: all calls between two prompts of the user.
        /// `changes.undo_all` can undo a whole turn.
        #[serde(rename = "turn", default, skip_serializing_if = "Option::is_none")]
        turn_name: Option<String>,
        /// The findings of the client's policy; the server does not check the call again. Only a
        /// worker accepts `findings`, and a worker refuses calls without it. `request` must then be
        /// a complete call with canonical field names.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        findings: Option<Box<Findings>>,
    },
    /// Cancels a request that has not been answered yet. Data: `CancelData`.
    Cancel {
        /// The request's id.
        target: RpcId,
    },
    /// Checks a script without running it. Data: `CheckData`.
    Check {
        /// The script.
        command: String,
        /// The model's other tools, as in `tool_call`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tools: Option<Vec<String>>,
        /// The persistent shell that would run the script: its functions and aliases count.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        /// The working directory, as in `tool_call`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    },
    /// Explains how a script is read, and what each rule says. Data: `ExplainData`.
    Explain {
        /// The script.
        command: String,
        /// The model's other tools, as in `tool_call`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tools: Option<Vec<String>>,
        /// The persistent shell that would run the script: its functions and aliases count.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        /// The working directory, as in `tool_call`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    },
    /// Returns the tool definition for a model, or the definitions of an adapter's tools. Data:
    /// `SchemaData`.
    Schema {
        /// Return the tools of this adapter instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        adapter: Option<String>,
    },
    /// Calls a tool of an adapter. Data: `AdapterCallData`.
    AdapterCall {
        /// The adapter, for example `codex`.
        adapter: String,
        /// The tool, for example `exec_command`.
        tool: String,
        /// The tool's input, as the model gave it.
        #[serde(default)]
        input: Value,
    },
    /// Answers a `prompt` line. No data.
    #[serde(rename = "prompt.answer")]
    PromptAnswer {
        /// The prompt's number.
        prompt: u64,
        /// The text that the user typed. Absent if the user declines.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Unlogged<String>>,
    },
    /// Does nothing; the response shows that the server works. Data: `PingData`.
    Ping,
    /// Lists the background jobs in the order in which they started. Data: `JobsData`.
    #[serde(rename = "jobs.list")]
    JobsList {
        /// List only jobs that listen on this TCP port.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port: Option<u16>,
    },
    /// Returns one job. Data: `JobData`.
    #[serde(rename = "jobs.show")]
    JobsShow {
        /// The job's name.
        job: Name,
    },
    /// Returns a part of a job's output. Data: `JobOutputData`.
    #[serde(rename = "jobs.output")]
    JobsOutput {
        /// The job's name.
        job: Name,
        /// Start at this byte: `next` of the previous part. Default: the beginning.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<u64>,
        /// Return this many last lines instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tail: Option<NonZeroU64>,
    },
    /// Waits until a job has ended, or until a condition is met. The job is not affected. Data:
    /// `JobWaitData`.
    #[serde(rename = "jobs.wait")]
    JobsWait {
        /// The job's name.
        job: Name,
        /// The conditions that end the wait before the job ends. Default: `"end"`, no condition.
        #[serde(default, skip_serializing_if = "Until::is_end")]
        until: Until,
        /// Search for `until.line` from this byte of the output on. Default: the beginning.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<u64>,
        /// Maximum wait: seconds, or a text such as `"90s"`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout: Option<Value>,
    },
    /// Ends a job and all its processes: SIGTERM, then SIGKILL. Data: `JobKillData`.
    #[serde(rename = "jobs.kill")]
    JobsKill {
        /// The job's name.
        job: Name,
        /// Time between SIGTERM and SIGKILL: seconds, or a text such as `"5s"`. Default: 2 s.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grace: Option<Value>,
    },
    /// Writes to the stdin of a job that was started with `stdin: pipe`. Data: `JobData`.
    #[serde(rename = "jobs.input")]
    JobsInput {
        /// The job's name.
        job: Name,
        /// The input, byte for byte; nothing is appended.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// Close the job's stdin afterwards.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        close: bool,
    },
    /// Starts a command on a terminal. The response follows when the screen is quiet. Data:
    /// `TerminalData`.
    #[serde(rename = "terminal.start")]
    TerminalStart {
        /// The call (`request.schema.json`), or just its command.
        request: Value,
        /// Columns and rows. Default: `80x24`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<String>,
        /// The model's other tools, as in `tool_call`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tools: Option<Vec<String>>,
    },
    /// Resizes a terminal, types a text, then presses keys. The response follows when the screen is
    /// quiet or, with `until` or `timeout`, after that wait. Data: `TerminalData`.
    #[serde(rename = "terminal.input")]
    TerminalInput {
        /// The terminal's name.
        terminal: Name,
        /// The text to type; a newline is the key Enter.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// Names of keys, such as `Enter`, `C-c`, `Up`, `F1`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        keys: Vec<String>,
        /// The new columns and rows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<String>,
        /// The conditions that end the wait, as in `jobs.wait`.
        #[serde(default, skip_serializing_if = "Until::is_end")]
        until: Until,
        /// Maximum wait: seconds, or a text such as `"90s"`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout: Option<Value>,
    },
    /// Returns the screen of a terminal: at once or, with `until` or `timeout`, after that wait.
    /// Data: `TerminalData`.
    #[serde(rename = "terminal.screen")]
    TerminalScreen {
        /// The terminal's name.
        terminal: Name,
        /// The conditions that end the wait, as in `jobs.wait`.
        #[serde(default, skip_serializing_if = "Until::is_end")]
        until: Until,
        /// Maximum wait: seconds, or a text such as `"90s"`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout: Option<Value>,
    },
    /// Ends the command on a terminal with all its processes. Data: `TerminalData`.
    #[serde(rename = "terminal.end")]
    TerminalEnd {
        /// The terminal's name.
        terminal: Name,
    },
    /// Lists the stored full outputs, oldest first. Data: `ArtifactsData`.
    #[serde(rename = "artifact.list")]
    ArtifactList,
    /// Returns a page of an artifact. Data: `PageData`.
    #[serde(rename = "artifact.show")]
    ArtifactShow {
        /// The artifact's number, its link (`artifact://3`), or its path.
        artifact: Name,
        /// First line, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<NonZeroU64>,
        /// Number of lines. Default: 2000. A page has at most 250 KB.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<NonZeroU64>,
        /// Return this many last lines instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tail: Option<NonZeroU64>,
        /// Start at this byte of the file instead: for lines longer than a page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        byte: Option<u64>,
    },
    /// Returns the lines of an artifact that match a regular expression. Data: `FoundData`.
    #[serde(rename = "artifact.grep")]
    ArtifactGrep {
        /// The artifact's number, its link (`artifact://3`), or its path.
        artifact: Name,
        /// The regular expression; `(?i)` at its start ignores case.
        pattern: String,
        /// Lines of context around each match.
        #[serde(default)]
        context: usize,
        /// Search from this line on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<NonZeroU64>,
        /// Show at most this many matches. Default: 200.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<usize>,
    },
    /// Lists the change sets of the session, including held trials. Data: `ChangesListData`.
    #[serde(rename = "changes.list")]
    ChangesList,
    /// Returns a change set with all its files. Data: `Changes`.
    #[serde(rename = "changes.show")]
    ChangesShow {
        /// The change set's number, or its link (`changes://7`).
        changes: Name,
    },
    /// Returns the diffs of the files of a change set. Data: `ChangesDiffData`.
    #[serde(rename = "changes.diff")]
    ChangesDiff {
        /// The change set's number, or its link.
        changes: Name,
        /// Only these files, and the files in these directories. Default: all.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
    },
    /// Returns what an undo or a redo would do now, without doing it. Data: `ChangesPreviewData`.
    #[serde(rename = "changes.preview")]
    ChangesPreview {
        /// The change set's number, or its link.
        changes: Name,
        /// True for the preview of a redo instead of an undo.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        redo: bool,
    },
    /// Commits a held trial: all changes, or none if another process has changed one of the files
    /// (error `conflict`). Data: `ChangesDoneData`.
    #[serde(rename = "changes.commit")]
    ChangesCommit {
        /// The change set's number, or its link.
        changes: Name,
        /// True if the request comes from the model, not from the user; then the setting
        /// `changes.commit` applies.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        for_model: bool,
    },
    /// Discards the changes of a held trial. Data: `ChangesDoneData`.
    #[serde(rename = "changes.discard")]
    ChangesDiscard {
        /// The change set's number, or its link.
        changes: Name,
    },
    /// Undoes a change set. Data: `ChangesDoneData`.
    #[serde(rename = "changes.undo")]
    ChangesUndo {
        /// The change set's number, or its link.
        changes: Name,
        /// Only these files, and the files in these directories. Default: all.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
        /// Skip files that were changed after the change set, and undo the rest. Without `partial`,
        /// such a file prevents the whole undo (error `conflict`).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        partial: bool,
    },
    /// Redoes the undone changes of a change set. Data: `ChangesDoneData`.
    #[serde(rename = "changes.redo")]
    ChangesRedo {
        /// The change set's number, or its link.
        changes: Name,
    },
    /// Undoes all change sets since a change set or a time, or all of a turn, newest first. If one
    /// of them has a conflict, nothing is undone (error `conflict`). Data: `ChangesGroupData`.
    #[serde(rename = "changes.undo_all")]
    ChangesUndoAll {
        /// The number of the first change set, or a time span before now (`10m`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<Name>,
        /// The name of a turn, or `last`; instead of `since`.
        #[serde(rename = "turn", default, skip_serializing_if = "Option::is_none")]
        turn_name: Option<String>,
        /// Skip files and change sets with conflicts, and undo the rest.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        partial: bool,
    },
    /// Redoes what the last `changes.undo_all` with the same `since` or `turn` undid. Data:
    /// `ChangesGroupData`.
    #[serde(rename = "changes.redo_all")]
    ChangesRedoAll {
        /// The number of the first change set, or a time span before now (`10m`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<Name>,
        /// The name of a turn, or `last`; instead of `since`.
        #[serde(rename = "turn", default, skip_serializing_if = "Option::is_none")]
        turn_name: Option<String>,
    },
    /// Returns what `changes.undo_all` or `changes.redo_all` would do now, and the conflicts.
    /// Nothing is changed. Data: `ChangesGroupPreviewData`.
    #[serde(rename = "changes.preview_all")]
    ChangesPreviewAll {
        /// The number of the first change set, or a time span before now (`10m`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<Name>,
        /// The name of a turn, or `last`; instead of `since`.
        #[serde(rename = "turn", default, skip_serializing_if = "Option::is_none")]
        turn_name: Option<String>,
        /// True for the preview of a redo instead of an undo.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        redo: bool,
    },
    /// Lists the persistent shells that calls have named. The user's own shell, which `bash` uses,
    /// is `!`. Data: `ShellsData`.
    #[serde(rename = "session.list")]
    SessionList,
    /// Discards a persistent shell; waiting and later calls with this name get a new shell. Data:
    /// `ResetData`.
    #[serde(rename = "session.reset", alias = "session.close")]
    SessionReset {
        /// The session's name.
        session: String,
    },
    /// Returns the user's commands so far, in order, except commands that are held back. Data:
    /// `MessagesData`.
    #[serde(rename = "session.messages")]
    SessionMessages,
    /// Begins the model's turn: the user's commands are held back until it ends. No data.
    #[serde(rename = "session.begin_turn")]
    SessionBeginTurn,
    /// Ends the model's turn. Data: `MessagesData` with the commands that were held back.
    #[serde(rename = "session.end_turn")]
    SessionEndTurn,
    /// Runs agent-bash once more, with arguments such as `jobs list`, and waits for its end. Only a
    /// worker serves this request. Data: `ProgramData`.
    Program {
        /// The program's arguments.
        words: Vec<String>,
        /// The program's stdin. Default: empty.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Base64Bytes>,
    },
    /// Returns a piece of a file. Data: `FilePieceData`.
    #[serde(rename = "file.read")]
    FileRead {
        /// The file's path: absolute, or relative to the session's directory; `~` is the user's
        /// home.
        path: String,
        /// Start at this byte.
        #[serde(default, skip_serializing_if = "is_0")]
        offset: u64,
        /// Maximum number of bytes to return. Default and maximum: 4 MiB.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        length: Option<usize>,
    },
    /// Writes a file in pieces. The pieces go into a temporary file in the same directory, which
    /// replaces the file after the last piece. Data: `FileWrittenData`.
    #[serde(rename = "file.write")]
    FileWrite {
        /// The file's path, as for `file.read`.
        path: String,
        /// The next bytes, at most 4 MiB.
        data: Base64Bytes,
        /// True if more pieces follow.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        more: bool,
        /// The upload that this piece continues; absent for the first piece.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        upload: Option<u64>,
        /// The file's permissions, as a number. Default: the permissions of the replaced file, or
        /// 420 (`0644`) minus the umask for a new file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<u32>,
    },
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_0(number: &u64) -> bool {
    *number == 0
}
