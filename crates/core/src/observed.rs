//! Observations of a call's processes: exit statuses of stages, surviving processes.

use crate::JobId;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::SocketAddr;

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
    /// The job that adopted the process, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// The TCP addresses on which the process listens, such as `127.0.0.1:5173`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listens_on: Vec<SocketAddr>,
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
            listens_on: Vec::new(),
        }
    }
}

/// A process that holds a resource which a command needs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Holder {
    /// The process; absent if this user cannot see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The process's command line, shortened; empty if this user cannot see the process.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// The job of this conversation that the process belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// The owner of a process that this user cannot see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// The TCP addresses on which the process listens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listens_on: Vec<SocketAddr>,
}

impl Holder {
    /// Returns a process of this user.
    pub fn new(pid: u32, command: impl Into<String>) -> Self {
        Self {
            pid: Some(pid),
            command: command.into(),
            ..Self::default()
        }
    }

    /// Returns a process with a known owner and an unknown name.
    pub fn unseen(uid: u32) -> Self {
        Self {
            uid: Some(uid),
            ..Self::default()
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.job, self.pid, self.uid) {
            (Some(job), Some(pid), _) => write!(f, "job {job} (pid {pid}: {})", self.command),
            (Some(job), None, _) => write!(f, "job {job}"),
            (None, Some(pid), _) => write!(f, "pid {pid}: {}", self.command),
            (None, None, Some(uid)) => write!(f, "a process that is not visible here (uid {uid})"),
            (None, None, None) => f.write_str("a process that is not visible here"),
        }
    }
}

/// Returns `, listens on 127.0.0.1:5173`; empty without addresses.
pub fn listens_on(addresses: &[SocketAddr]) -> String {
    match addresses {
        [] => String::new(),
        some => format!(", listens on {}", listed(some)),
    }
}

/// Returns the texts of values, separated by commas.
pub fn listed<T: ToString>(values: &[T]) -> String {
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    values.join(", ")
}
