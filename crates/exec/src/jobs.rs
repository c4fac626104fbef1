//! Background jobs: commands that go on without the host that started them, and what it takes to see, read, feed and end
//! them, from this process or from a later one.
//!
//! [`ShellCache::start_job`](crate::ShellCache::start_job) starts one as it starts a call: the same shell, environment,
//! snapshot and hand-over. From then on its supervisor is all that keeps it: it reads its output into a file, ends it when
//! its time is up, and writes how it ended. This side only reads files and talks to that supervisor, so it makes no
//! difference which process asks, and any number of them may.
//!
//! On disk a session's jobs are a directory, private to the user: `<n>/job.json` (what it is), `<n>/output`,
//! `<n>/end.json` (how it ended), `<n>/control` (the socket of its supervisor). Numbers are not reused.
//!
//! What is *not* here: what a supervisor does for a job (`agent_bash_process::supervisor`), texts for the model.
//!
//! Parts: `entry` and `registry` (the files), `launch` and `adopt` (how a job comes about), `output` (reading), `control`
//! (waiting, ending, feeding).

mod adopt;
mod control;
mod entry;
mod launch;
mod output;
mod registry;

pub use control::{Killed, Waited};
pub(crate) use launch::{Launch, Unlaunched};
pub use output::{JobOutput, OutputRange};

use crate::jobs::registry::{Locked, NewJob, Registry};
use agent_bash_core::{Clock, JobId, NotStarted, Survivor, Timestamp};
use agent_bash_process::supervisor::JobEnd;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What a session's [`Jobs`] are made from.
#[derive(Debug, Clone)]
pub struct JobsOptions {
    /// Where the session's jobs are kept: `<state directory>/<session>/jobs`. Made when the first job is, with the
    /// directories above it, for the user alone.
    pub directory: PathBuf,
    /// Every wait goes through it, and every age is told by it.
    pub clock: Arc<dyn Clock>,
    /// How long a job may take that says nothing else.
    pub limit: Duration,
    /// How many jobs may run at once. Adopted survivors do not count: they are there, whether there is room or not.
    pub max_running: usize,
    /// How many bytes a job may print into its file; what follows is counted and dropped.
    pub quota: u64,
    /// How long a job is kept after its end.
    pub keep: Duration,
}

impl JobsOptions {
    /// With the usual figures: 24 hours, 16 jobs, 100 MB, kept for 24 hours.
    pub fn new(directory: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        Self {
            directory: directory.into(),
            clock,
            limit: DAY,
            max_running: 16,
            quota: 100 << 20,
            keep: DAY,
        }
    }
}

/// The background jobs of one session. A view of what is on disk: dropping it ends nothing, and any number of them, in
/// any number of processes, may be open on one directory.
#[derive(Debug)]
pub struct Jobs {
    options: JobsOptions,
    registry: Registry,
}

/// A job, as it is known at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Job {
    /// Its name in the session: a number.
    pub id: JobId,
    /// How it came about.
    pub kind: JobKind,
    /// The script; of adopted survivors that of their call.
    pub command: String,
    /// Where it was started; what is not text in it is replaced.
    pub cwd: String,
    /// Process id of its shell; of adopted survivors that of the first.
    pub pid: u32,
    /// Its process group: `kill -9 -<pgid>` ends whoever is still in it.
    pub pgid: u32,
    /// The file with what it prints, stdout and stderr in the order of writing. `None` for survivors whose call kept no
    /// file.
    pub output: Option<PathBuf>,
    /// Whether it reads what [`Jobs::write_stdin`] writes.
    pub stdin: bool,
    /// Whether it runs, or how it ended.
    pub state: JobState,
    /// When its script was handed over; of survivors, when their call's was.
    pub started_at: Timestamp,
    /// Of one that has ended, or is lost: its processes that live on. Those that hold its output still write to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Survivor>,
}

/// How a job came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// As a job.
    Started,
    /// It is what a call left behind.
    Adopted,
}

/// Whether a job runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JobState {
    /// It does: its shell, or a process that still holds its output.
    Running,
    /// It has ended, and its supervisor saw how.
    Ended(JobEnd),
    /// Its supervisor is gone and has not said how it ended. Processes of it may live; [`Jobs::kill`] finds them.
    Lost {
        /// What was observed instead.
        reason: String,
    },
}

/// What a job reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JobStdin {
    /// `/dev/null`.
    #[default]
    Null,
    /// What [`Jobs::write_stdin`] writes, until [`Jobs::close_stdin`].
    Pipe,
}

/// What went wrong with a job.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// Nothing of the script has run.
    #[error(transparent)]
    NotStarted(#[from] NotStarted),
    /// The caller called it off before it was started.
    #[error("cancelled before the job was started")]
    Cancelled,
    /// The host keeps no jobs.
    #[error("background jobs are not kept here")]
    NotKept,
    /// There are as many as there may be.
    #[error(
        "{running} background jobs are running, and {limit} may; end one with `kill` or wait for one"
    )]
    TooMany {
        /// That run.
        running: usize,
        /// That may.
        limit: usize,
    },
    /// There is no such job.
    #[error("there is no job `{id}`; `list` names them all")]
    Unknown {
        /// As it was asked for.
        id: JobId,
    },
    /// It reads nothing.
    #[error(
        "job {id} reads nothing (any more); only one that was started with `stdin: pipe` does, while it runs"
    )]
    NoStdin {
        /// Which.
        id: JobId,
    },
    /// It did not read all of it in time.
    #[error("job {id} has read {written} of {length} bytes and does not read on")]
    NotRead {
        /// Which.
        id: JobId,
        /// Bytes that it got.
        written: usize,
        /// Bytes that it was to get.
        length: usize,
    },
    /// Nothing of it was kept.
    #[error("what job {id} prints is not kept")]
    NoOutput {
        /// Which.
        id: JobId,
    },
    /// There is less than was read before.
    #[error("the output of job {id} has {length} bytes now: somebody made it shorter")]
    Shortened {
        /// Which.
        id: JobId,
        /// What there is.
        length: u64,
    },
    /// Its supervisor is there and cannot be asked.
    #[error("the supervisor of job {id} cannot be reached: {source}")]
    Unreachable {
        /// Which.
        id: JobId,
        /// Why.
        source: io::Error,
    },
    /// Another process is making a job, and does not come to an end.
    #[error("the jobs are being changed by another process; `{path}` is locked")]
    Busy {
        /// The lock.
        path: PathBuf,
    },
    /// A file of it cannot be read or written.
    #[error("the list of jobs cannot be used: {path}: {source}")]
    Registry {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Making a job takes a few milliseconds, so does waiting for others who make one.
const LOCK: Duration = Duration::from_secs(10);

impl Jobs {
    /// The jobs in a directory. Touches nothing.
    pub fn new(options: JobsOptions) -> Self {
        let registry = Registry::new(options.directory.clone());
        Self { options, registry }
    }

    /// All jobs that are kept, in the order of their starts.
    ///
    /// # Errors
    /// [`JobError::Registry`].
    pub fn list(&self) -> Result<Vec<Job>, JobError> {
        let records = self.registry.jobs()?;
        Ok(records.iter().map(entry::Record::to_job).collect())
    }

    /// One job.
    ///
    /// # Errors
    /// [`JobError::Unknown`], [`JobError::Registry`].
    pub fn show(&self, id: &JobId) -> Result<Job, JobError> {
        Ok(self.registry.job(id)?.to_job())
    }

    /// Part of what a job has printed so far.
    ///
    /// # Errors
    /// [`JobError::Unknown`], [`JobError::NoOutput`], [`JobError::Shortened`], [`JobError::Registry`].
    pub fn output(&self, id: &JobId, range: OutputRange) -> Result<JobOutput, JobError> {
        output::read(&self.registry.job(id)?, range)
    }

    /// Removes jobs whose last process ended longer ago than they are kept. Returns how many. Done at every start, too.
    ///
    /// # Errors
    /// [`JobError::Busy`], [`JobError::Registry`].
    pub async fn clean(&self) -> Result<usize, JobError> {
        let locked = self.registry.lock(&*self.options.clock, LOCK).await?;
        locked.clean(self.options.clock.wall(), self.options.keep)
    }

    /// Makes room for a job that is about to be started. Nobody else makes one meanwhile.
    pub(crate) async fn reserve(&self) -> Result<Reserved<'_>, JobError> {
        let locked = self.registry.lock(&*self.options.clock, LOCK).await?;
        if let Err(error) = locked.clean(self.options.clock.wall(), self.options.keep) {
            tracing::warn!(%error, "old jobs could not be removed");
        }
        let counts =
            |record: &entry::Record| record.entry.kind == JobKind::Started && record.is_running();
        let running = self
            .registry
            .jobs()?
            .iter()
            .filter(|job| counts(job))
            .count();
        let limit = self.options.max_running;
        if running >= limit {
            return Err(JobError::TooMany { running, limit });
        }
        let new = locked.new_job()?;
        Ok(Reserved { new, locked })
    }
}

/// The place of a job to be, and the right to fill it. Dropped, there is no trace of it but its number.
#[derive(Debug)]
pub(crate) struct Reserved<'a> {
    new: NewJob,
    locked: Locked<'a>,
}
