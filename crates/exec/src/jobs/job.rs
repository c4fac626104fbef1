//! What is told of a job.

use agent_bash_core::sandbox::JobBox;
use agent_bash_core::{JobId, Survivor, Timestamp};
use agent_bash_process::supervisor::JobEnd;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The state of a job at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Job {
    /// Its id in the session: a number.
    pub id: JobId,
    /// How it came into being.
    pub kind: JobKind,
    /// The script; for adopted survivors, that of their call.
    pub command: String,
    /// Its working directory at the start; invalid UTF-8 is replaced.
    pub cwd: String,
    /// Pid of its shell; for adopted survivors, of the first one.
    pub pid: u32,
    /// Its process group: `kill -9 -<pgid>` ends the processes still in it.
    pub pgid: u32,
    /// Its output file, with stdout and stderr interleaved. `None` for survivors whose call kept no file.
    pub output: Option<PathBuf>,
    /// Whether it can read input written with [`Jobs::write_stdin`](crate::Jobs::write_stdin).
    pub stdin: bool,
    /// Whether it is running, or how it ended.
    pub state: JobState,
    /// When its script was handed over; for survivors, that of their call.
    pub started_at: Timestamp,
    /// The box that it is in; `None` for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<JobBox>,
    /// Why what it changes is not recorded, if it was to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unrecorded: Option<String>,
    /// If it has ended or is lost: its processes that are still alive. Those that hold its output still write to
    /// it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Survivor>,
}

/// How a job came into being.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// Started as a job.
    Started,
    /// Adopted: survivors of a call.
    Adopted,
}

/// Whether a job is running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JobState {
    /// Running: its shell is, or a process that still holds its output.
    Running,
    /// Ended, as its supervisor observed.
    Ended(JobEnd),
    /// Its supervisor is gone and has not recorded how it ended. Processes of it may be alive; [`Jobs::kill`](crate::Jobs::kill) finds
    /// them.
    Lost {
        /// What was observed instead.
        reason: String,
    },
}

/// The stdin of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JobStdin {
    /// `/dev/null`.
    #[default]
    Null,
    /// Input from [`Jobs::write_stdin`](crate::Jobs::write_stdin), until [`Jobs::close_stdin`](crate::Jobs::close_stdin).
    Pipe,
}
