//! The lines of the protocol: requests in, responses and updates out. What a response has as `data` is in
//! [`super::data`].
//!
//! Everything is `snake_case`, as the rest of agent-bash; the data of `bash` has the `camelCase` names besides that existing clients
//! of such a protocol use.

use super::name::Name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use std::num::NonZeroU64;

/// What a client calls its request by; the response carries it back unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a text or a number")]
pub enum RpcId {
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
}

/// One line from a client. Fields that are not known are not looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RpcRequest {
    /// How the response will name it. A request without one is answered without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<RpcId>,
    /// What is asked for.
    #[serde(flatten)]
    pub call: RpcCall,
}

/// What a client can ask for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RpcCall {
    /// Says who is calling; for all requests after it. Needed by nobody; data: `HelloData`.
    Hello {
        /// The tools that the model has beside this one, in place of those of the settings.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tools: Option<Vec<String>>,
    },
    /// A command of the user's in the session's own shell; data: `BashData`.
    Bash {
        /// The script.
        command: String,
        /// Whether updates come before the response, and of which kind.
        #[serde(default)]
        stream: Stream,
        /// Leaves the command out of what the model is told (`!!cmd`).
        #[serde(
            default,
            alias = "excludeFromContext",
            skip_serializing_if = "std::ops::Not::not"
        )]
        exclude_from_context: bool,
    },
    /// Ends the running `bash` command; always succeeds, without data.
    AbortBash {
        /// Only if it is the one with this id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<RpcId>,
    },
    /// One call through the pipeline; data: `ToolResult` (`tool_result.schema.json`).
    ToolCall {
        /// The call (`request.schema.json`), or its command alone.
        request: Value,
        /// Whether updates come before the response, and of which kind.
        #[serde(default)]
        stream: Stream,
        /// The tools that the model has beside this one, for this call: what `hello` and the settings say if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tools: Option<Vec<String>>,
    },
    /// Calls off a request that is not answered yet; data: `CancelData`.
    Cancel {
        /// Its id.
        target: RpcId,
    },
    /// Judges a script without running it; data: `CheckData`.
    Check {
        /// The script.
        command: String,
        /// As of `tool_call`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tools: Option<Vec<String>>,
    },
    /// What a model is told about the tool, or about an adapter's tools; data: `SchemaData`.
    Schema {
        /// Of this adapter's tools instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        adapter: Option<String>,
    },
    /// One call of an adapter's tool; data: `AdapterCallData`.
    AdapterCall {
        /// Which adapter, such as `codex`.
        adapter: String,
        /// Which of its tools, such as `exec_command`.
        tool: String,
        /// The tool's fields, as the model gave them.
        #[serde(default)]
        input: Value,
    },
    /// Answers, and does nothing else; data: `PingData`.
    Ping,
    /// All background jobs, in the order of their starts; data: `JobsData`.
    #[serde(rename = "jobs.list")]
    JobsList,
    /// One job; data: `JobData`.
    #[serde(rename = "jobs.show")]
    JobsShow {
        /// Which.
        job: Name,
    },
    /// Part of what a job has printed; data: `JobOutputData`.
    #[serde(rename = "jobs.output")]
    JobsOutput {
        /// Which.
        job: Name,
        /// From this byte on: `next` of the part before; from the beginning if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<u64>,
        /// The last lines instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tail: Option<NonZeroU64>,
    },
    /// Waits until a job has ended; data: `JobWaitData`. Waiting ends nothing.
    #[serde(rename = "jobs.wait")]
    JobsWait {
        /// Which.
        job: Name,
        /// For at most so long: seconds, or a text such as `"90s"`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout: Option<Value>,
    },
    /// Ends a job with everything it has: SIGTERM, then SIGKILL; data: `JobKillData`.
    #[serde(rename = "jobs.kill")]
    JobsKill {
        /// Which.
        job: Name,
        /// From SIGTERM to SIGKILL: seconds, or a text; 2 s if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grace: Option<Value>,
    },
    /// Writes to a job that was started with `stdin: pipe`; data: `JobData`.
    #[serde(rename = "jobs.input")]
    JobsInput {
        /// Which.
        job: Name,
        /// What it reads, byte for byte; nothing is added.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// Lets its input end after that.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        close: bool,
    },
    /// The full outputs that are kept, oldest first; data: `ArtifactsData`.
    #[serde(rename = "artifact.list")]
    ArtifactList,
    /// A page of one; data: `PageData`.
    #[serde(rename = "artifact.show")]
    ArtifactShow {
        /// Its number, its link (`artifact://3`), or its path.
        artifact: Name,
        /// First line, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<NonZeroU64>,
        /// How many lines; 2000 if left out. A page has at most 250 KB.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<NonZeroU64>,
        /// The last lines instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tail: Option<NonZeroU64>,
        /// From this byte of the file on instead, where a line is longer than a page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        byte: Option<u64>,
    },
    /// The lines of one that match a regular expression; data: `FoundData`.
    #[serde(rename = "artifact.grep")]
    ArtifactGrep {
        /// Its number, its link (`artifact://3`), or its path.
        artifact: Name,
        /// The expression; `(?i)` in front ignores case.
        pattern: String,
        /// Lines shown around each match.
        #[serde(default)]
        context: usize,
        /// Search from this line on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<NonZeroU64>,
        /// Show at most so many matches; 200 if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<usize>,
    },
    /// The persistent shells that calls have named; data: `ShellsData`. The user's own (`bash`) is `!`.
    #[serde(rename = "session.list")]
    SessionList,
    /// Forgets a persistent shell: the next call that names it gets a new one; data: `ResetData`.
    #[serde(rename = "session.reset", alias = "session.close")]
    SessionReset {
        /// Its name.
        session: String,
    },
    /// What `bash` has run so far, in order, without what is held back; data: `MessagesData`.
    #[serde(rename = "session.messages")]
    SessionMessages,
    /// The model's turn begins: what `bash` runs meanwhile is held back. Without data.
    #[serde(rename = "session.begin_turn")]
    SessionBeginTurn,
    /// The model's turn is over; data: `MessagesData`, those that were held back.
    #[serde(rename = "session.end_turn")]
    SessionEndTurn,
}

/// Whether a call says what it prints while it runs: `false`, `true` (the same as `"snapshot"`), `"delta"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, JsonSchema)]
#[schemars(with = "StreamForm")]
pub enum Stream {
    /// It does not.
    #[default]
    Off,
    /// Each update is the tail of the output as it is then.
    Snapshot,
    /// Each update is what has come since the one before.
    Delta,
}

/// [`Stream`] as it is written.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum StreamForm {
    Switch(bool),
    Kind(StreamKind),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StreamKind {
    Snapshot,
    Delta,
}

impl Serialize for Stream {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => StreamForm::Switch(false),
            Self::Snapshot => StreamForm::Switch(true),
            Self::Delta => StreamForm::Kind(StreamKind::Delta),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Stream {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        match StreamForm::deserialize(deserializer) {
            Ok(StreamForm::Switch(false)) => Ok(Self::Off),
            Ok(StreamForm::Switch(true) | StreamForm::Kind(StreamKind::Snapshot)) => {
                Ok(Self::Snapshot)
            }
            Ok(StreamForm::Kind(StreamKind::Delta)) => Ok(Self::Delta),
            Err(_) => Err(D::Error::custom(
                "expected true, false, \"snapshot\" or \"delta\"",
            )),
        }
    }
}

/// One line to a client: the answer to a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(bound(deserialize = "D: Deserialize<'de>"))]
#[schemars(rename = "RpcResponse")]
pub struct RpcResponse<D = Value> {
    /// The request's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<RpcId>,
    /// Always `response`.
    #[serde(rename = "type")]
    pub kind: ResponseTag,
    /// The request's `type`; empty where that could not be read.
    pub command: String,
    /// Whether the request was served. A command that failed was.
    pub success: bool,
    /// What was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<D>,
    /// What was wrong with the request, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl<D> RpcResponse<D> {
    /// The answer that has what was asked for, if that is anything.
    pub fn success(id: Option<RpcId>, command: &str, data: Option<D>) -> Self {
        Self {
            id,
            kind: ResponseTag::Response,
            command: command.to_owned(),
            success: true,
            data,
            error: None,
        }
    }

    /// The answer to a request that could not be served. `command` is its `type`, or empty where that was not
    /// understood either.
    pub fn failure(id: Option<RpcId>, command: &str, error: impl Into<String>) -> Self {
        Self {
            id,
            kind: ResponseTag::Response,
            command: command.to_owned(),
            success: false,
            data: None,
            error: Some(error.into()),
        }
    }
}

/// The `type` of every response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseTag {
    /// `response`.
    Response,
}

/// One line to a client: what a running call has printed so far. All updates come before the call's response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RpcUpdate {
    /// The request's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<RpcId>,
    /// Always `update`.
    #[serde(rename = "type")]
    pub kind: UpdateTag,
    /// The output, stdout and stderr as they came, cleaned as the result's is.
    #[serde(flatten)]
    pub output: UpdateOutput,
    /// Bytes printed so far.
    pub total_bytes: u64,
}

/// The `type` of every update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UpdateTag {
    /// `update`.
    Update,
}

/// The output in an update.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum UpdateOutput {
    /// What has come since the last update (`"stream": "delta"`).
    Delta {
        /// Text to append.
        delta: String,
        /// So many bytes at the end of the text so far are taken back first: a carriage return has overwritten them.
        rewind: usize,
        /// Bytes that came too fast and are left out before `delta`.
        skipped_bytes: u64,
    },
    /// The tail as it is now (`"stream": true`); it takes the place of the one before.
    Snapshot {
        /// The text.
        text: String,
    },
}
