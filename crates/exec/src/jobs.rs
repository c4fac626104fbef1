//! Background jobs: commands that outlive the host that started them. Any process can list jobs,
//! read their output, write to their stdin and end them.
//!
//! [`ShellCache::start_job`](crate::ShellCache::start_job) starts a job like a call: with the same
//! shell, environment, snapshot and hand-over. Then only the job's supervisor maintains it: the
//! supervisor writes the output to a file, enforces the time limit, and records the end. A host
//! only reads files and sends requests to that supervisor, so any number of processes can use the
//! jobs.
//!
//! On disk, jobs are in a directory private to the user: `<n>/job.json` (the description),
//! `<n>/output`, `<n>/end.json` (the end), `<n>/control` (the socket of the supervisor). Numbers
//! are not reused.
//!
//! Elsewhere: the supervisor's side of a job (`agent_bash_process::supervisor`), and texts for the
//! model.
//!
//! Modules: `job` (the description and state of a job), `error`, `entry` and `registry` (the
//! files), `launch` (starting jobs), `adopt` (survivors that become jobs), `output` (reading),
//! `control` (waiting, ending, writing to stdin), `ports` (the addresses on which jobs listen).

mod adopt;
mod control;
mod entry;
mod error;
mod job;
mod launch;
mod output;
mod ports;
mod registry;

pub use control::{KillOutcome, WaitOutcome};
pub use error::JobError;
pub use job::{Job, JobKind, JobState, JobStdin};
pub(crate) use launch::{Launch, UnlaunchedReason};
pub use output::{JobOutput, OutputRange};
pub use ports::JobListener;

use crate::jobs::registry::{NewJob, Registry, RegistryLock};
use agent_bash_core::{Clock, JobId};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Options of [`Jobs`].
#[derive(Debug, Clone)]
pub struct JobsOptions {
    /// The directory of the jobs: `<state directory>/<conversation>/jobs`. The first job creates
    /// the directory and its parents, with access for the user only.
    pub directory: PathBuf,
    /// The clock for all waits, and for the age of jobs.
    pub clock: Arc<dyn Clock>,
    /// Default time limit of a job.
    pub limit: Duration,
    /// Maximum number of running jobs. Adopted survivors do not count, because they already run.
    pub max_running: usize,
    /// Maximum size of a job's output file in bytes; further output is counted and discarded.
    pub quota: u64,
    /// The time for which a job stays in the list after its end.
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

/// The background jobs of one conversation, as a view of its job files. Dropping this value ends no
/// job. Any number of processes may use the same directory.
#[derive(Debug)]
pub struct Jobs {
    options: JobsOptions,
    registry: Registry,
}

/// Maximum wait for the registry's lock, which is normally held for a few milliseconds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

impl Jobs {
    /// Creates the view of the jobs in a directory. Does no I/O.
    pub fn new(options: JobsOptions) -> Self {
        let registry = Registry::new(options.directory.clone());
        Self { options, registry }
    }

    /// Returns the clock of all waits.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.options.clock
    }

    /// Returns all jobs of the list, in the order in which they started.
    ///
    /// # Errors
    /// [`JobError::Registry`].
    pub fn list(&self) -> Result<Vec<Job>, JobError> {
        let jobs = self.registry.jobs()?;
        Ok(jobs.iter().map(entry::JobFiles::to_job).collect())
    }

    /// Returns all jobs as [`Self::list`] does, and running jobs whose files were removed: their
    /// supervisors are found by `/proc`.
    ///
    /// # Errors
    /// [`JobError::Registry`].
    pub fn list_with_removed_files(&self) -> Result<Vec<Job>, JobError> {
        let jobs = self.registry.jobs_with_removed_files()?;
        Ok(jobs.iter().map(entry::JobFiles::to_job).collect())
    }

    /// Returns the job with this id.
    ///
    /// # Errors
    /// [`JobError::Unknown`], [`JobError::Registry`].
    pub fn show(&self, id: &JobId) -> Result<Job, JobError> {
        Ok(self.registry.job(id)?.to_job())
    }

    /// Returns a part of the output that a job has written so far.
    ///
    /// # Errors
    /// [`JobError::Unknown`], [`JobError::NoOutput`], [`JobError::Shortened`],
    /// [`JobError::Registry`].
    pub fn output(&self, id: &JobId, range: OutputRange) -> Result<JobOutput, JobError> {
        output::read(&self.registry.job(id)?, range)
    }

    /// Removes jobs whose last process ended more than [`JobsOptions::keep`] ago, as every start of
    /// a job does. Returns the number of removed jobs.
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

    /// Reserves the directory of a new job. No other process can create a job until the returned
    /// value is dropped or the job is complete.
    pub(crate) async fn reserve(&self) -> Result<ReservedJob<'_>, JobError> {
        let locked = self
            .registry
            .lock(&*self.options.clock, LOCK_TIMEOUT)
            .await?;
        if let Err(error) = locked.clean(self.options.clock.wall(), self.options.keep) {
            tracing::warn!(%error, "old jobs could not be removed");
        }
        let is_counted =
            |job: &&entry::JobFiles| job.entry.kind == JobKind::Started && job.is_running();
        let running = self.registry.jobs()?.iter().filter(is_counted).count();
        let limit = self.options.max_running;
        if running >= limit {
            return Err(JobError::TooMany { running, limit });
        }
        let new = locked.new_job()?;
        Ok(ReservedJob { new, locked })
    }
}

/// The reserved directory of a future job, and the registry's lock. If dropped, the job's number
/// stays unused.
#[derive(Debug)]
pub(crate) struct ReservedJob<'a> {
    new: NewJob,
    locked: RegistryLock<'a>,
}
