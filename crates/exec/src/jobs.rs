//! Background jobs: commands that outlive the host that started them. Lists, reads, feeds and ends
//! them, from this process or a later one.
//!
//! [`ShellCache::start_job`](crate::ShellCache::start_job) starts a job like a call: with the same
//! shell, environment, snapshot and hand-over. From then on only its supervisor maintains it: it
//! writes the output to a file, enforces the time limit, and records the end. The host only reads
//! files and sends requests to that supervisor, so any number of processes may do so.
//!
//! On disk, jobs are in a directory private to the user: `<n>/job.json` (the description),
//! `<n>/output`, `<n>/end.json` (the end), `<n>/control` (the socket of the supervisor). Numbers
//! are not reused.
//!
//! Not here: the supervisor's side of a job (`agent_bash_process::supervisor`), texts for the
//! model.
//!
//! Modules: `job` (the facts), `error`, `entry` and `registry` (the files), `launch` and `adopt`
//! (the start), `output` (reading), `control` (waiting, ending, feeding).

mod adopt;
mod control;
mod entry;
mod error;
mod job;
mod launch;
mod output;
mod registry;

pub use control::{KillOutcome, WaitOutcome};
pub use error::JobError;
pub use job::{Job, JobKind, JobState, JobStdin};
pub(crate) use launch::{Launch, UnlaunchedReason};
pub use output::{JobOutput, OutputRange};

use crate::jobs::registry::{NewJob, Registry, RegistryLock};
use agent_bash_core::{Clock, JobId};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Options of a session's [`Jobs`].
#[derive(Debug, Clone)]
pub struct JobsOptions {
    /// The directory of the session's jobs: `<state directory>/<session>/jobs`. Created with the
    /// first job, along with its parents, with access for the user only.
    pub directory: PathBuf,
    /// Used for every wait, and for the age of jobs.
    pub clock: Arc<dyn Clock>,
    /// Default time limit of a job.
    pub limit: Duration,
    /// Maximum number of running jobs. Adopted survivors do not count: they run whether there is
    /// room or not.
    pub max_running: usize,
    /// Maximum size of a job's output file; further output is counted and discarded.
    pub quota: u64,
    /// Time for which a job is kept after its end.
    pub keep: Duration,
}

impl JobsOptions {
    /// Returns the default limits: 24 hours, 16 jobs, 100 MB, kept for 24 hours.
    pub fn new(directory: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        const ONE_DAY: Duration = Duration::from_secs(24 * 60 * 60);
        Self {
            directory: directory.into(),
            clock,
            limit: ONE_DAY,
            max_running: 16,
            quota: 100 << 20,
            keep: ONE_DAY,
        }
    }
}

/// The background jobs of one session. A view of the files: dropping it ends nothing, and any
/// number of them, in any number of processes, may use one directory.
#[derive(Debug)]
pub struct Jobs {
    options: JobsOptions,
    registry: Registry,
}

/// Maximum wait for the lock, which is normally held for a few milliseconds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

impl Jobs {
    /// The jobs in a directory. Does no I/O.
    pub fn new(options: JobsOptions) -> Self {
        let registry = Registry::new(options.directory.clone());
        Self { options, registry }
    }

    /// All jobs that are kept, in the order in which they started.
    ///
    /// # Errors
    /// [`JobError::Registry`].
    pub fn list(&self) -> Result<Vec<Job>, JobError> {
        let records = self.registry.jobs()?;
        Ok(records.iter().map(entry::JobFiles::to_job).collect())
    }

    /// One job.
    ///
    /// # Errors
    /// [`JobError::Unknown`], [`JobError::Registry`].
    pub fn show(&self, id: &JobId) -> Result<Job, JobError> {
        Ok(self.registry.job(id)?.to_job())
    }

    /// A part of a job's output so far.
    ///
    /// # Errors
    /// [`JobError::Unknown`], [`JobError::NoOutput`], [`JobError::Shortened`],
    /// [`JobError::Registry`].
    pub fn output(&self, id: &JobId, range: OutputRange) -> Result<JobOutput, JobError> {
        output::read(&self.registry.job(id)?, range)
    }

    /// Removes expired jobs, whose last process ended longer ago than they are kept. Returns how
    /// many. Also done at every start.
    ///
    /// # Errors
    /// [`JobError::Busy`], [`JobError::Registry`].
    pub async fn clean(&self) -> Result<usize, JobError> {
        let locked = self
            .registry
            .lock(&*self.options.clock, LOCK_TIMEOUT)
            .await?;
        locked.clean(self.options.clock.wall(), self.options.keep)
    }

    /// Reserves a job's directory. Until it is complete, no other process can create a job.
    pub(crate) async fn reserve(&self) -> Result<ReservedJob<'_>, JobError> {
        let locked = self
            .registry
            .lock(&*self.options.clock, LOCK_TIMEOUT)
            .await?;
        if let Err(error) = locked.clean(self.options.clock.wall(), self.options.keep) {
            tracing::warn!(%error, "old jobs could not be removed");
        }
        let counts =
            |record: &entry::JobFiles| record.entry.kind == JobKind::Started && record.is_running();
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
        Ok(ReservedJob { new, locked })
    }
}

/// The reserved directory of a future job, and the lock. If dropped, only its number is used up.
#[derive(Debug)]
pub(crate) struct ReservedJob<'a> {
    new: NewJob,
    locked: RegistryLock<'a>,
}
