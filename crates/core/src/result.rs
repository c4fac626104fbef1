//! The result of a call: data first; the model's text is generated from it.

use crate::changes::Changes;
use crate::sandbox::Sandboxed;
use crate::{ArtifactId, Direction, Notice, Stage, Status, StreamId, Survivor, Timestamp};
use serde::{Deserialize, Serialize};

/// The result of a call, the same on every interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ToolResult {
    /// How the call ended.
    pub status: Status,
    /// [`Status::is_error`] of `status`.
    pub is_error: bool,
    /// The text for the model.
    pub text: String,
    /// Byte and line counts of the output and of its shown part.
    pub output: OutputSummary,
    /// Milliseconds from the hand-over of the script to the end of the shell.
    pub duration_ms: f64,
    /// The working directory of the call; absolute.
    pub cwd: String,
    /// Exit status of each stage of the last pipeline, if it had more than one; otherwise empty.
    pub stages: Vec<Stage>,
    /// Processes started by the call that are still alive.
    pub survivors: Vec<Survivor>,
    /// Notices.
    pub notices: Vec<Notice>,
    /// Files with the full output.
    pub artifacts: Vec<ArtifactRef>,
    /// The tool that a refusal suggests.
    pub suggested_tool: Option<String>,
    /// Id of the rule that refused.
    pub rule: Option<String>,
    /// True if the refused request would run as a trial: the same request with `"trial": true`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offers_trial: bool,
    /// The code with which the user can allow the refused command: `agent-bash allow CODE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exception_code: Option<String>,
    /// The sandbox of the call; absent if the call ran without a sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Sandboxed>,
    /// The change set of the call; absent if changes were not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// The remote host that ran the call; absent for this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// When the script was handed over, or when the call was refused.
    pub started_at: Timestamp,
}

/// Counts of an output stream. Bytes are raw bytes; lines are counted as by `wc -l`, plus one for a
/// last line without a newline.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OutputSummary {
    /// Bytes printed.
    pub total_bytes: u64,
    /// Lines printed.
    pub total_lines: u64,
    /// Bytes of output text in the result, after cleaning.
    pub shown_bytes: u64,
    /// Lines of output text in the result.
    pub shown_lines: u64,
    /// The lines shown: `[first, last]`, from 1, inclusive.
    pub shown_ranges: Vec<[u64; 2]>,
    /// Raw bytes that are not shown.
    pub dropped_bytes: u64,
    /// Lines that are not shown.
    pub dropped_lines: u64,
    /// True if a part of the output is not shown.
    pub truncated: bool,
    /// The limit that truncated the output.
    pub truncated_by: Option<TruncatedBy>,
    /// The part of the output that the limit keeps.
    pub direction: Direction,
    /// True if a line that says `binary` replaces the output.
    pub binary: bool,
}

/// The limit that truncated an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TruncatedBy {
    /// The policy's byte limit.
    Bytes,
    /// The policy's line limit.
    Lines,
    /// The call's `head` or `tail`.
    HeadTail,
    /// The limit on the length of one line.
    LineLength,
}

/// A file with the full output of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ArtifactRef {
    /// Number within the session.
    pub id: ArtifactId,
    /// `artifact://<id>`.
    pub uri: String,
    /// Absolute path.
    pub path: String,
    /// The stream it contains.
    pub stream: StreamId,
    /// Length of the file.
    pub bytes: u64,
    /// Lines in the file.
    pub lines: u64,
    /// False if the stream was longer than an artifact may be.
    pub complete: bool,
}

impl ToolResult {
    /// Returns a result with a status and a text; all other fields are empty or zero.
    pub fn new(status: Status, text: impl Into<String>, started_at: Timestamp) -> Self {
        Self {
            is_error: status.is_error(),
            status,
            text: text.into(),
            output: OutputSummary::default(),
            duration_ms: 0.0,
            cwd: String::new(),
            stages: Vec::new(),
            survivors: Vec::new(),
            notices: Vec::new(),
            artifacts: Vec::new(),
            suggested_tool: None,
            rule: None,
            offers_trial: false,
            exception_code: None,
            sandbox: None,
            changes: None,
            target: None,
            started_at,
        }
    }
}

impl ArtifactRef {
    /// Returns a reference to a complete file without bytes and lines.
    pub fn new(id: ArtifactId, path: impl Into<String>, stream: StreamId) -> Self {
        Self {
            id,
            uri: id.uri(),
            path: path.into(),
            stream,
            bytes: 0,
            lines: 0,
            complete: true,
        }
    }
}
