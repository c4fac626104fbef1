//! What responses have as `data`. `tool_call` has a `ToolResult`, which is core's.

mod from;

use agent_bash::core::{ArtifactRef, Notice, Status, Survivor, Timestamp, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Of `bash`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BashData {
    /// What is shown of the output.
    pub output: String,
    /// Absent where the command was cancelled or its exit is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Whether it was called off.
    pub cancelled: bool,
    /// Whether `output` is not all of it.
    pub truncated: bool,
    /// Lines printed.
    pub total_lines: u64,
    /// Bytes printed.
    pub total_bytes: u64,
    /// Lines shown.
    pub output_lines: u64,
    /// Bytes shown.
    pub output_bytes: u64,
    /// The artifact with all of it, where something is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
    /// What else happened, as in a result: the user's shell was reset, say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
    /// The same by the names that clients of such a protocol have used before.
    #[serde(flatten)]
    pub by_old_names: OldBashData,
}

/// What [`BashData`] says, by the names that it had first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OldBashData {
    /// `exit_code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// `total_lines`.
    pub total_lines: u64,
    /// `total_bytes`.
    pub total_bytes: u64,
    /// `output_lines`.
    pub output_lines: u64,
    /// `output_bytes`.
    pub output_bytes: u64,
    /// `artifact_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
}

/// Of `hello`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HelloData {
    /// Of agent-bash.
    pub version: String,
    /// How calls behave and how their results read.
    pub profile: String,
    /// The model's other tools, as they count from now on; `null` where nobody has said.
    pub tools: Option<Vec<String>>,
}

/// Of `cancel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CancelData {
    /// Whether there was such a request. It is answered soon.
    pub cancelled: bool,
}

/// Of `check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckData {
    /// `allow`, `block` or `unreadable`.
    pub verdict: String,
    /// What decided: `safety`, `safemode`, `interceptor`; `null`, as the rest, where it is allowed.
    pub check: Option<String>,
    /// The rule, by its id.
    pub rule: Option<String>,
    /// The rule's group, for a safety rule.
    pub group: Option<String>,
    /// The sentence to show.
    pub message: Option<String>,
    /// How to say it so that it passes, where there is a way.
    pub instead: Option<String>,
    /// Where in the script, in bytes: `[from, to]`.
    pub span: Option<[usize; 2]>,
    /// The tool to use instead, for the interceptor.
    pub suggested_tool: Option<String>,
}

/// Of `schema`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SchemaData {
    /// The tool.
    Tool {
        /// Always `bash`.
        name: String,
        /// For the model; names the working directory.
        description: String,
        /// JSON Schema of the call's fields.
        input_schema: Value,
    },
    /// An adapter's tools.
    Adapter {
        /// Each as its provider's interface takes it: by a `type` that the provider knows, or by `name`, `description` and
        /// `input_schema`.
        tools: Vec<Value>,
    },
}

/// Of `adapter_call`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdapterCallData {
    /// What the model reads, in the tool's own words.
    pub content: String,
    /// Whether the tool calls it an error.
    pub is_error: bool,
    /// The answer as the tool's programs take it; `null` where it has no such form.
    pub structured: Option<Value>,
    /// The ordinary result, of the last command where there were several; `null` while it goes on, and where none was asked
    /// for.
    pub result: Option<ToolResult>,
}

/// Of `ping`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PingData {
    /// Of agent-bash.
    pub version: String,
}

/// Of `jobs.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobsData {
    /// In the order of their starts.
    pub jobs: Vec<JobData>,
}

/// A background job, as it is at this moment. Of `jobs.show` and `jobs.input`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobData {
    /// Its name in the session: a number, as text.
    pub id: String,
    /// `started` as a job, or `adopted`: what a call left behind.
    pub kind: JobOrigin,
    /// The script; of adopted survivors that of their call.
    pub command: String,
    /// Where it was started.
    pub cwd: String,
    /// Process id of its shell.
    pub pid: u32,
    /// Its process group.
    pub pgid: u32,
    /// The file with what it prints; `null` where its call kept none.
    pub output: Option<String>,
    /// Whether it reads what `jobs.input` writes.
    pub stdin: bool,
    /// Whether it runs, or how it ended.
    pub state: JobProgress,
    /// When its script was handed over.
    pub started_at: Timestamp,
    /// Of one that has ended, or is lost: its processes that live on. Those that hold its output still write to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Survivor>,
}

/// How a job came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobOrigin {
    /// As a job.
    Started,
    /// It is what a call left behind.
    Adopted,
}

/// Whether a job runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JobProgress {
    /// It does.
    Running,
    /// It has ended.
    Ended {
        /// How.
        ending: JobEndingData,
        /// When.
        ended_at: Timestamp,
        /// Bytes that it printed and that are not in its output file, since that had all it may have.
        dropped_bytes: u64,
        /// Whether processes of it lived on; `left` of the job names those that still do.
        left: bool,
    },
    /// How it ended cannot be known.
    Lost {
        /// What was observed instead.
        reason: String,
    },
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JobEndingData {
    /// Its shell exited.
    Exited {
        /// 0 to 255.
        code: i32,
    },
    /// Its shell was ended by a signal.
    Signaled {
        /// Such as `SIGKILL`.
        signal: String,
        /// The platform's number.
        number: i32,
    },
    /// It was ended when its time was up.
    TimedOut {
        /// The limit in milliseconds.
        after_ms: u64,
    },
    /// Survivors of a call: all have ended.
    Gone,
}

/// Of `jobs.output`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobOutputData {
    /// What it printed; what is not UTF-8 is replaced.
    pub text: String,
    /// Where `text` begins, in bytes from the beginning of the output.
    pub from: u64,
    /// Where the next part begins.
    pub next: u64,
    /// Nothing follows now …
    pub at_end: bool,
    /// … and nothing will: the job has ended, and nobody holds its output any longer.
    pub complete: bool,
    /// The job, as it was just before.
    pub job: JobData,
}

/// Of `jobs.wait`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobWaitData {
    /// Whether it has ended. If not, the time was up or the waiting was called off.
    pub over: bool,
    /// The job now.
    pub job: JobData,
}

/// Of `jobs.kill`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobKillData {
    /// The job now.
    pub job: JobData,
    /// Processes of it that are alive all the same.
    pub survivors: Vec<Survivor>,
}

/// Of `artifact.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactsData {
    /// Oldest first.
    pub artifacts: Vec<ArtifactData>,
}

/// A full output that is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactData {
    /// As the result of its call names it.
    pub artifact: ArtifactRef,
    /// The command, or its beginning.
    pub command: String,
    /// Where it ran.
    pub cwd: String,
    /// When.
    pub started_at: Timestamp,
    /// How long.
    pub duration_ms: u64,
    /// How it ended.
    pub status: Status,
}

/// Of `artifact.show`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageData {
    /// The page, clean text.
    pub text: String,
    /// The first and the last line on it, from 1; `null` where it is empty.
    pub lines: Option<[u64; 2]>,
    /// Lines of the artifact.
    pub total_lines: u64,
    /// Bytes of the artifact.
    pub total_bytes: u64,
    /// `offset` of the next page; `null` after the last, and where a page ends inside a line.
    pub next: Option<u64>,
    /// `byte` of the next page, where this one ends inside a line.
    pub next_byte: Option<u64>,
    /// The same as a sentence, where the page is not all there is.
    pub hint: Option<String>,
}

/// Of `artifact.grep`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundData {
    /// Matches and their context as `grep -n` prints them.
    pub text: String,
    /// The same, line by line.
    pub lines: Vec<FoundLineData>,
    /// Matches in all, shown or not.
    pub total_matches: u64,
    /// `offset` by which those are found that are not shown.
    pub next: Option<u64>,
    /// The same as a sentence.
    pub hint: Option<String>,
}

/// A line that was found, or stands near one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundLineData {
    /// Its number, from 1.
    pub number: u64,
    /// Its text without the line's end.
    pub text: String,
    /// Whether it matches; otherwise it is context.
    pub is_match: bool,
}

/// Of `session.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShellsData {
    /// In the order in which they were named.
    pub sessions: Vec<ShellData>,
}

/// A persistent shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShellData {
    /// As calls name it.
    pub name: String,
    /// Whether a call runs in it.
    pub busy: bool,
    /// Where it is; `null` while it is busy, and before its first call has ended.
    pub cwd: Option<String>,
}

/// Of `session.reset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResetData {
    /// Whether there was such a shell.
    pub reset: bool,
}

/// Of `session.messages` and `session.end_turn`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessagesData {
    /// In order.
    pub messages: Vec<MessageData>,
}

/// A command of the user's, as it is recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageData {
    /// As it was given.
    pub command: String,
    /// What is shown of its output.
    pub output: String,
    /// `null` where it was ended from outside, or nothing is known.
    pub exit_code: Option<i32>,
    /// Whether it was called off.
    pub cancelled: bool,
    /// Whether `output` is not all of it.
    pub truncated: bool,
    /// All of it, where something is not shown.
    pub artifact: Option<ArtifactRef>,
    /// When it was started.
    pub time: Timestamp,
    /// Whether the model does not get to see it.
    pub excluded_from_context: bool,
    /// What the model reads of it; `null` where it is excluded.
    pub text: Option<String>,
}

/// Which command has which data. Those that are not here have none.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DataByCommand {
    hello: HelloData,
    bash: BashData,
    tool_call: ToolResult,
    adapter_call: AdapterCallData,
    cancel: CancelData,
    check: CheckData,
    schema: SchemaData,
    ping: PingData,
    #[serde(rename = "jobs.list")]
    jobs_list: JobsData,
    #[serde(rename = "jobs.show")]
    jobs_show: JobData,
    #[serde(rename = "jobs.output")]
    jobs_output: JobOutputData,
    #[serde(rename = "jobs.wait")]
    jobs_wait: JobWaitData,
    #[serde(rename = "jobs.kill")]
    jobs_kill: JobKillData,
    #[serde(rename = "jobs.input")]
    jobs_input: JobData,
    #[serde(rename = "artifact.list")]
    artifact_list: ArtifactsData,
    #[serde(rename = "artifact.show")]
    artifact_show: PageData,
    #[serde(rename = "artifact.grep")]
    artifact_grep: FoundData,
    #[serde(rename = "session.list")]
    session_list: ShellsData,
    #[serde(rename = "session.reset")]
    session_reset: ResetData,
    #[serde(rename = "session.messages")]
    session_messages: MessagesData,
    #[serde(rename = "session.end_turn")]
    session_end_turn: MessagesData,
}
