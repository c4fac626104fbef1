//! Observations of a call's processes: exit statuses of stages, surviving processes.

use crate::JobId;
use serde::{Deserialize, Serialize};

/// Exit status of one stage of a pipeline, as in `PIPESTATUS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Stage {
    /// 0 to 255; 128 + n for a signal.
    pub code: i32,
}

/// A process started by the call that is still alive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Survivor {
    /// The process's pid.
    pub pid: u32,
    /// The process's command line, shortened, without control characters.
    pub command: String,
    /// True if the process still holds the call's output open.
    pub holds_output: bool,
    /// The job of the process, if it was adopted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
}

impl From<i32> for Stage {
    /// Returns a stage with this exit status.
    fn from(code: i32) -> Self {
        Self { code }
    }
}

impl Survivor {
    /// Returns a surviving process that is not a job.
    pub fn new(pid: u32, command: impl Into<String>, holds_output: bool) -> Self {
        Self {
            pid,
            command: command.into(),
            holds_output,
            job: None,
        }
    }
}
