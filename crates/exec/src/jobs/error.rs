//! Errors of jobs.

use agent_bash_core::{JobId, NotStarted};
use std::io;
use std::path::PathBuf;

/// An error concerning a job.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The job was not started: no part of the script has run.
    #[error(transparent)]
    NotStarted(#[from] NotStarted),
    /// Cancelled by the caller before it was started.
    #[error("cancelled before the job was started")]
    Cancelled,
    /// The host has no directory for jobs ([`ShellCacheOptions::jobs`]).
    ///
    /// [`ShellCacheOptions::jobs`]: crate::ShellCacheOptions::jobs
    #[error("this host has no directory for background jobs: set HOME or AGENT_BASH_STATE_DIR")]
    NoDirectory,
    /// The limit of running jobs is reached.
    #[error(
        "{running} background jobs are running, which is the limit ({limit}); end one with `kill` or wait for one"
    )]
    TooMany {
        /// Number of running jobs.
        running: usize,
        /// The limit.
        limit: usize,
    },
    /// There is no such job.
    #[error("there is no job `{id}`; list the jobs to see their names")]
    Unknown {
        /// The requested id.
        id: JobId,
    },
    /// The job has no stdin.
    #[error("job {id} takes no input: only a running job that was started with `stdin: pipe` does")]
    NoStdin {
        /// The job's id.
        id: JobId,
    },
    /// The job did not read all input in time.
    #[error("job {id} has read {written} of {length} bytes and does not read on")]
    NotRead {
        /// The job's id.
        id: JobId,
        /// Number of bytes that were written.
        written: usize,
        /// Length of the input in bytes.
        length: usize,
    },
    /// The job's output is not stored.
    #[error("the output of job {id} is not stored")]
    NoOutput {
        /// The job's id.
        id: JobId,
    },
    /// The job's output is shorter than the requested offset.
    #[error("the output of job {id} has {length} bytes now: another process truncated it")]
    Shortened {
        /// The job's id.
        id: JobId,
        /// The current length of the output in bytes.
        length: u64,
    },
    /// The job's supervisor is running but cannot be reached.
    #[error("the supervisor of job {id} cannot be reached: {source}")]
    Unreachable {
        /// The job's id.
        id: JobId,
        /// The reason.
        source: io::Error,
    },
    /// Another process holds the lock for creating jobs, and did not release it in time.
    #[error("another process is changing the jobs (`{path}` is locked); try again")]
    Busy {
        /// The lock file.
        path: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("the list of jobs cannot be used: {path}: {source}")]
    Registry {
        /// The path that failed.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}
