//! The `data` of responses to requests about jobs.

use agent_bash_core::sandbox::JobSandbox;
use agent_bash_core::{MetCondition, Survivor, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// Data of `jobs.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobsData {
    /// The jobs, in the order in which they started.
    pub jobs: Vec<JobData>,
}

/// A background job at this moment. Data of `jobs.show` and `jobs.input`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobData {
    /// The job's name in the session: a number as text.
    pub id: String,
    /// `started` as a job, or `adopted`: survivors of a call.
    pub kind: JobOrigin,
    /// The script; for adopted survivors, the script of their call.
    pub command: String,
    /// The job's working directory at the start.
    pub cwd: String,
    /// Pid of the job's shell.
    pub pid: u32,
    /// The job's process group.
    pub pgid: u32,
    /// The file with the job's output; `null` if no output is stored.
    pub output: Option<String>,
    /// True if the job can read input written with `jobs.input`.
    pub stdin: bool,
    /// The job's state: running, or how it ended.
    pub state: JobProgress,
    /// When the job's script was started.
    pub started_at: Timestamp,
    /// The sandbox of the job; absent if the job has no sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<JobSandbox>,
    /// The reason why the job's changes are not recorded, although recording was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unrecorded: Option<String>,
    /// For a job that has ended or is lost: the job's processes that are still alive. Each says
    /// whether it can still write to the output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remaining: Vec<Survivor>,
    /// The TCP addresses on which the job's processes listen, such as `127.0.0.1:5173`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listens_on: Vec<SocketAddr>,
}

/// How a job came into being.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum JobOrigin {
    /// Started as a job.
    Started,
    /// Adopted: survivors of a call.
    Adopted,
}

/// The state of a job: running, or how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JobProgress {
    /// Running.
    Running,
    /// Ended.
    Ended {
        /// The ending.
        ending: JobEndingData,
        /// The time of the end.
        ended_at: Timestamp,
        /// Bytes of output beyond the limit of the output file, which are not stored.
        dropped_bytes: u64,
        /// True if processes of the job outlived it; the job's `remaining` lists those still alive.
        has_remaining: bool,
    },
    /// The ending is unknown.
    Lost {
        /// The reason why the ending is unknown.
        reason: String,
    },
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JobEndingData {
    /// The job's shell exited.
    Exited {
        /// Exit code, 0 to 255.
        code: i32,
    },
    /// The job's shell was killed by a signal.
    Signaled {
        /// For example `SIGKILL`.
        signal: String,
        /// The platform's signal number.
        number: i32,
    },
    /// The time limit passed.
    TimedOut {
        /// The limit in milliseconds.
        after_ms: u64,
    },
    /// All survivors of a call have ended.
    AllEnded,
}

/// Data of `jobs.output`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobOutputData {
    /// The output; invalid UTF-8 is replaced.
    pub text: String,
    /// Offset in the output where `text` begins, in bytes.
    pub from: u64,
    /// Offset where the next part begins.
    pub next: u64,
    /// True if these bytes reach the end of the output so far.
    pub at_end: bool,
    /// True if no more output can follow: the job has ended and no process holds its output open
    /// any more.
    pub complete: bool,
    /// The job, as it was just before the output was read.
    pub job: JobData,
}

/// Data of `jobs.wait`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobWaitData {
    /// True if the job has ended.
    pub over: bool,
    /// The condition that ended the wait; absent if the wait timed out or was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub met: Option<MetCondition>,
    /// The last output so far, at most 16 KiB; absent without conditions, and if none is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The job now.
    pub job: JobData,
}

/// Data of `jobs.kill`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobKillData {
    /// The job now.
    pub job: JobData,
    /// The job's processes that are still alive.
    pub survivors: Vec<Survivor>,
}
