//! Lines to a client that are not responses: the output of a running call, the password prompts of
//! its programs, and the end of a job.

use crate::data::JobData;
use crate::message::RpcId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One line to a client: output of a running call. All updates come before the call's response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RpcUpdate {
    /// The request's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<RpcId>,
    /// Always `update`.
    #[serde(rename = "type")]
    pub kind: UpdateTag,
    /// The output, stdout and stderr interleaved, cleaned like the output of the result.
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

/// One line to a client that has named its `protocol`: a job has ended. Belongs to no request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RpcJobEnded {
    /// Always `job_ended`.
    #[serde(rename = "type")]
    pub kind: JobEndedTag,
    /// The job.
    pub job: JobData,
}

/// The `type` of every [`RpcJobEnded`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobEndedTag {
    /// `job_ended`.
    JobEnded,
}

/// One line to a client that has announced `prompts`: a program of a running call asks the user,
/// usually for a password. The client answers with `prompt.answer`. The command that asks gets the
/// answer. If the call ends first, the prompt is closed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RpcPrompt {
    /// The id of the call's request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<RpcId>,
    /// Always `prompt`.
    #[serde(rename = "type")]
    pub kind: PromptTag,
    /// The prompt's number.
    pub prompt: u64,
    /// The text of the program, on one line.
    pub text: String,
    /// The process that asks, and processes above it: command line, program and pid.
    pub askers: Vec<String>,
    /// The script of the call.
    pub command: String,
}

/// The `type` of every [`RpcPrompt`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptTag {
    /// `prompt`.
    Prompt,
}

/// The output in an update.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum UpdateOutput {
    /// The new output since the previous update (`"stream": "delta"`).
    Delta {
        /// Text to append.
        delta: String,
        /// Remove this many bytes from the end of the text so far first: a carriage return has
        /// overwritten them.
        rewind: usize,
        /// Bytes skipped before `delta` because output came too fast.
        skipped_bytes: u64,
    },
    /// The current tail (`"stream": true`); replaces the previous one.
    Snapshot {
        /// The text.
        text: String,
    },
}
