//! The description and state of a job.

use agent_bash_core::sandbox::JobSandbox;
use agent_bash_core::{JobId, Survivor, Timestamp};
use agent_bash_process::supervisor::JobEnd;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Survivors that end this soon after their call are hidden, such as git's maintenance after a
/// commit.
const HIDDEN_LIFETIME: Duration = Duration::from_secs(1);

/// The state of a job at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Job {
    /// The job's id, a number that is unique in its conversation.
    pub id: JobId,
    /// The origin of the job.
    pub kind: JobKind,
    /// The script; for adopted survivors, the script of their call.
    pub command: String,
    /// The job's working directory at the start; invalid UTF-8 is replaced.
    pub cwd: String,
    /// Pid of the job's shell; for adopted survivors, pid of the first survivor.
    pub pid: u32,
    /// The job's process group: `kill -9 -<pgid>` ends the processes that are still in the group.
    pub pgid: u32,
    /// The path of the job's output file, with stdout and stderr interleaved. `None` for survivors
    /// whose call stored no file.
    pub output: Option<PathBuf>,
    /// True if the job can read input written with [`Jobs::write_stdin`](crate::Jobs::write_stdin).
    pub stdin: bool,
    /// The job's state: running, or how it ended.
    pub state: JobState,
    /// The time at which the script was handed to the shell; for survivors, the start of their
    /// call.
    pub started_at: Timestamp,
    /// For survivors: the time at which their call ended and they became a job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adopted_at: Option<Timestamp>,
    /// True if the job's end was requested while it ran, by [`Jobs::kill`](crate::Jobs::kill).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_asked_to_end: bool,
    /// The job's sandbox; `None` without a sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<JobSandbox>,
    /// The reason why the job's changes are not recorded, although recording was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unrecorded: Option<String>,
    /// Processes of an ended or lost job that are still alive. A process that holds the job's
    /// output open may still write to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remaining: Vec<Survivor>,
    /// The TCP addresses on which the job's processes listen. Empty until
    /// [`Jobs::find_ports`](crate::Jobs::find_ports) looks them up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub listens_on: Vec<SocketAddr>,
}

impl Job {
    /// True if the job's processes are survivors that ended by themselves within a second after
    /// their call. Lists for users omit such jobs.
    pub fn ended_within_a_second(&self) -> bool {
        let JobState::Ended(end) = &self.state else {
            return false;
        };
        let was_short = self.lasted_until(end.ended_at) < HIDDEN_LIFETIME;
        self.kind == JobKind::Adopted && !self.is_asked_to_end && was_short
    }

    /// True if the job still runs, and [`Self::ended_within_a_second`] may become true.
    pub fn may_end_within_a_second(&self, now: Timestamp) -> bool {
        self.kind == JobKind::Adopted
            && self.state == JobState::Running
            && self.lasted_until(now) < HIDDEN_LIFETIME
    }

    /// Returns the time from the start of the job, or its adoption, until `now`.
    fn lasted_until(&self, Timestamp(now): Timestamp) -> Duration {
        let Timestamp(start) = self.adopted_at.unwrap_or(self.started_at);
        Duration::from_millis(now.saturating_sub(start))
    }
}

/// The origin of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// Started as a job.
    Started,
    /// Adopted: survivors of a call.
    Adopted,
}

/// The state of a job: running, or how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JobState {
    /// The job's shell runs, or another process holds the job's output open.
    Running,
    /// The job has ended, as its supervisor observed.
    Ended(JobEnd),
    /// The job's supervisor has exited without recording the job's end. Processes of the job may be
    /// alive; [`Jobs::kill`](crate::Jobs::kill) finds them.
    Lost {
        /// The reason why the end is unknown.
        reason: String,
    },
}

/// The stdin of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JobStdin {
    /// `/dev/null`.
    #[default]
    Null,
    /// Input from [`Jobs::write_stdin`](crate::Jobs::write_stdin), until
    /// [`Jobs::close_stdin`](crate::Jobs::close_stdin).
    Pipe,
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::ScriptEnding;

    #[test]
    fn only_survivors_that_end_within_a_second_are_hidden() {
        let job = |kind, adopted_at: Option<u64>, ended_at| Job {
            id: JobId("1".to_owned()),
            kind,
            command: "git commit".to_owned(),
            cwd: "/".to_owned(),
            pid: 1,
            pgid: 1,
            output: None,
            stdin: false,
            state: JobState::Ended(JobEnd {
                ending: ScriptEnding::AllEnded,
                ended_at: Timestamp(ended_at),
                dropped_bytes: 0,
                has_remaining: false,
                length: 0,
            }),
            started_at: Timestamp(1000),
            adopted_at: adopted_at.map(Timestamp),
            is_asked_to_end: false,
            sandbox: None,
            unrecorded: None,
            remaining: Vec::new(),
            listens_on: Vec::new(),
        };
        for (kind, adopted_at, ended_at, want) in [
            // The duration of the call itself does not matter.
            (JobKind::Adopted, Some(60_000), 60_999, true),
            (JobKind::Adopted, Some(60_000), 61_000, false),
            (JobKind::Started, None, 1001, false),
        ] {
            let mut job = job(kind, adopted_at, ended_at);
            assert_eq!(
                job.ended_within_a_second(),
                want,
                "{adopted_at:?} {ended_at}"
            );
            assert!(
                !job.may_end_within_a_second(Timestamp(ended_at)),
                "it is over"
            );
            job.is_asked_to_end = true;
            assert!(!job.ended_within_a_second());
            job.state = JobState::Running;
            assert!(!job.ended_within_a_second());
            assert_eq!(job.may_end_within_a_second(Timestamp(ended_at)), want);
        }
    }
}
