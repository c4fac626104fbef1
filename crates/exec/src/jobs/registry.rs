//! The directory of the jobs: `<n>/` for each job, `next` with the next number, `lock`. Creating or
//! removing a job requires the lock; reading does not.

use crate::jobs::entry::{JobEntry, JobFiles};
use crate::jobs::{JobError, JobState};
use agent_bash_core::{Clock, JobId, Timestamp};
use agent_bash_os::{Counter, PrivateDir};
use agent_bash_process::supervisor::job_directory::{
    END_LENGTH, ENTRY_FILE, NEW_END_FILE, NEW_ENTRY_FILE, OUTPUT_FILE,
};
use agent_bash_process::supervisor::job_supervisors;
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Interval between attempts to take the lock, which is held for a few milliseconds.
const RETRY_INTERVAL: Duration = Duration::from_millis(3);

/// The directory of the jobs.
#[derive(Debug)]
pub(super) struct Registry {
    directory: PathBuf,
    /// The last number that this process has used. Later numbers are higher, even if another
    /// process removes or replaces the directory.
    last: AtomicU64,
}

/// The lock for creating and removing jobs. Released when dropped, or if the holder dies.
#[derive(Debug)]
pub(super) struct RegistryLock<'a> {
    registry: &'a Registry,
    private: PrivateDir,
    _lock: File,
}

/// The directory of a job that is being created. Removed when dropped, unless kept.
#[derive(Debug)]
pub(super) struct NewJob {
    pub(super) id: JobId,
    pub(super) directory: PathBuf,
    private: PrivateDir,
    /// True if the directory is not removed on drop.
    is_kept: bool,
}

impl Registry {
    pub(super) fn new(directory: PathBuf) -> Self {
        let last = AtomicU64::new(0);
        Self { directory, last }
    }

    /// Returns all jobs in the order of their numbers. If the description of a running job was
    /// damaged or removed, its supervisor's copy counts. Leaves out other jobs that cannot be read.
    pub(super) fn jobs(&self) -> Result<Vec<JobFiles>, JobError> {
        let (mut found, is_complete) = self.readable_jobs()?;
        if !is_complete {
            self.add_from_supervisors(&mut found);
        }
        Ok(found)
    }

    /// Returns all jobs as [`Self::jobs`] does, and running jobs whose directory was removed. Reads
    /// the arguments of all processes.
    pub(super) fn jobs_with_removed_files(&self) -> Result<Vec<JobFiles>, JobError> {
        let (mut found, _) = self.readable_jobs()?;
        self.add_from_supervisors(&mut found);
        Ok(found)
    }

    /// Returns the jobs that can be read, and false if a description may have been damaged or
    /// removed.
    fn readable_jobs(&self) -> Result<(Vec<JobFiles>, bool), JobError> {
        let (mut found, mut is_complete) = (Vec::new(), true);
        for (number, path) in self.directories()? {
            match JobFiles::read(&path, &JobId(number.to_string())) {
                Ok(None) => is_complete = false,
                Ok(Some(job_files)) => {
                    is_complete &= !job_files.is_lost();
                    found.push(job_files);
                }
                Err(error) => {
                    is_complete = false;
                    tracing::warn!(path = %path.display(), %error, "a job cannot be read");
                }
            }
        }
        Ok((found, is_complete))
    }

    /// Adds the jobs that only their supervisors know.
    fn add_from_supervisors(&self, jobs: &mut Vec<JobFiles>) {
        for supervisor in job_supervisors(&self.directory) {
            jobs.retain(|job| job.id.0 != supervisor.job || !job.is_lost());
            if jobs.iter().all(|job| job.id.0 != supervisor.job) {
                jobs.extend(JobFiles::from_supervisor(&self.directory, &supervisor));
            }
        }
        jobs.sort_by_key(|job| job.id.0.parse::<u64>().unwrap_or(u64::MAX));
    }

    /// Returns the job with this id from its running supervisor.
    pub(super) fn job_of_supervisor(&self, id: &JobId) -> Option<JobFiles> {
        let supervisors = job_supervisors(&self.directory);
        let supervisor = supervisors.iter().find(|found| found.job == id.0)?;
        JobFiles::from_supervisor(&self.directory, supervisor)
    }

    /// Returns the job with this id. If its description was damaged or removed, the copy of its
    /// running supervisor counts.
    pub(super) fn job(&self, id: &JobId) -> Result<JobFiles, JobError> {
        let unknown = || JobError::Unknown { id: id.clone() };
        // Accepts only numbers, because the id becomes part of a path.
        let number: u64 = id.0.parse().map_err(|_| unknown())?;
        if number.to_string() != id.0 {
            return Err(unknown());
        }
        let path = self.directory.join(&id.0);
        match JobFiles::read(&path, id) {
            Ok(Some(lost)) if lost.is_lost() => Ok(self.job_of_supervisor(id).unwrap_or(lost)),
            Ok(Some(job_files)) => Ok(job_files),
            Ok(None) => self.job_of_supervisor(id).ok_or_else(unknown),
            Err(error) => {
                let found = self.job_of_supervisor(id);
                found.ok_or_else(|| registry_error(&path, error))
            }
        }
    }

    /// Takes the lock; waits for the lock for at most `max_wait`.
    pub(super) async fn lock(
        &self,
        clock: &dyn Clock,
        max_wait: Duration,
    ) -> Result<RegistryLock<'_>, JobError> {
        let path = self.directory.join("lock");
        let private =
            PrivateDir::create_at(&self.directory).map_err(|error| registry_error(&path, error))?;
        let file = private.open_or_create("lock");
        let file = file.map_err(|error| registry_error(&path, error))?;
        let give_up = clock.now() + max_wait;
        loop {
            match file.try_lock() {
                Ok(()) => {
                    return Ok(RegistryLock {
                        registry: self,
                        private,
                        _lock: file,
                    });
                }
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(registry_error(&path, error)),
            }
            if clock.now() >= give_up {
                return Err(JobError::Busy { path });
            }
            clock.sleep(RETRY_INTERVAL).await;
        }
    }

    /// Returns the number and the path of each job's directory, in the order of the numbers.
    fn directories(&self) -> Result<Vec<(u64, PathBuf)>, JobError> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(registry_error(&self.directory, error)),
        };
        let mut found: Vec<(u64, PathBuf)> = entries
            .flatten()
            .filter_map(|entry| {
                let number = entry.file_name().to_str()?.parse().ok()?;
                Some((number, entry.path()))
            })
            .collect();
        found.sort_unstable();
        Ok(found)
    }
}

fn registry_error(path: &Path, source: io::Error) -> JobError {
    let path = path.to_owned();
    JobError::Registry { path, source }
}

impl RegistryLock<'_> {
    /// Creates a directory for a job, with an unused number.
    pub(super) fn new_job(&self) -> Result<NewJob, JobError> {
        let registry = self.registry;
        let counter_error = |error| registry_error(&registry.directory.join("next"), error);
        let mut counter = Counter::lock(&self.private, "next").map_err(counter_error)?;
        let directories = registry.directories()?;
        let highest = directories.last().map_or(0, |(number, _)| *number);
        let last = registry.last.load(Ordering::Relaxed);
        let unused = highest.max(last).saturating_add(1);
        let number = unused.max(counter.next.unwrap_or_default());
        registry.last.store(number, Ordering::Relaxed);
        counter.next = Some(number.saturating_add(1));
        counter.write().map_err(counter_error)?;
        let id = JobId(number.to_string());
        let directory = registry.directory.join(&id.0);
        let created = self.private.make_dir(&id.0);
        let private = created.map_err(|error| registry_error(&directory, error))?;
        Ok(NewJob {
            id,
            directory,
            private,
            is_kept: false,
        })
    }

    /// True if a supervisor has this job, whose description a command has removed.
    fn is_running(&self, directory: &Path) -> bool {
        let name = directory.file_name().and_then(OsStr::to_str);
        let id = name.map(|name| JobId(name.to_owned()));
        id.is_some_and(|id| self.registry.job_of_supervisor(&id).is_some())
    }

    /// Removes directories of jobs that were not started, and jobs that ended more than `keep` ago.
    /// Returns the number of removed jobs.
    pub(super) fn clean(&self, now: Timestamp, keep: Duration) -> Result<usize, JobError> {
        let mut removed = 0;
        for (number, path) in self.registry.directories()? {
            // Unreadable directories are left for manual inspection.
            let Ok(job_files) = JobFiles::read(&path, &JobId(number.to_string())) else {
                continue;
            };
            let cleaned = match &job_files {
                // No other process creates a job while this process holds the lock, so the creator
                // of this directory has died.
                None if self.is_running(&path) => continue,
                None => withdraw(&path).map(drop),
                Some(job_files) => {
                    let old = ended_since(job_files).is_some_and(|since| {
                        Duration::from_millis(now.0.saturating_sub(since.0)) >= keep
                    });
                    if !old {
                        continue;
                    }
                    removed += 1;
                    fs::remove_dir_all(&path)
                }
            };
            cleaned.map_err(|error| registry_error(&path, error))?;
        }
        Ok(removed)
    }
}

/// Returns the time at which the job's last process ended; `None` if some are alive.
fn ended_since(job_files: &JobFiles) -> Option<Timestamp> {
    let written = |path: PathBuf| {
        let time: SystemTime = fs::metadata(path).and_then(|meta| meta.modified()).ok()?;
        Some(Timestamp::from(time))
    };
    match &job_files.state {
        JobState::Running => None,
        JobState::Ended(end) => (!end.has_remaining).then_some(end.ended_at),
        JobState::Lost { .. } if !job_files.leftovers().find().is_empty() => None,
        // A lost job counts as ended at its last output.
        JobState::Lost { .. } => job_files
            .output()
            .and_then(written)
            .max(Some(job_files.entry.started_at)),
    }
}

impl NewJob {
    /// Creates the files that a supervisor needs to take over the job.
    pub(super) fn write(&self, entry: &JobEntry) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(entry)?;
        for (name, content) in [
            (NEW_ENTRY_FILE, &text[..]),
            (NEW_END_FILE, &[b' '; END_LENGTH][..]),
        ] {
            self.private.create_new(name)?.write_all(content)?;
        }
        Ok(())
    }

    /// Creates the output file of a started job.
    pub(super) fn make_output(&self) -> io::Result<()> {
        self.private.create_new(OUTPUT_FILE).map(drop)
    }

    /// True if a supervisor has taken the job over: it renames the entry's file.
    pub(super) fn has_supervisor(&self) -> bool {
        self.directory.join(ENTRY_FILE).exists()
    }

    /// Prevents the removal of the directory on drop, and returns the job's id.
    pub(super) fn keep(mut self) -> JobId {
        self.is_kept = true;
        self.id.clone()
    }
}

impl Drop for NewJob {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = withdraw(&self.directory);
        }
    }
}

/// Removes the directory of a job and returns true, unless a supervisor has taken over the job.
/// Removes the new entry's file first: a supervisor takes over a job by renaming that file, and
/// then can no longer do so.
fn withdraw(directory: &Path) -> io::Result<bool> {
    match fs::remove_file(directory.join(NEW_ENTRY_FILE)) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if directory.join(ENTRY_FILE).exists() {
                return Ok(false);
            }
        }
        Err(error) => return Err(error),
    }
    fs::remove_dir_all(directory)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_process::SystemClock;

    #[tokio::test]
    async fn number_is_not_used_twice_if_the_directory_is_removed() {
        let temp = tempfile::tempdir().unwrap();
        let directory = temp.path().join("jobs");
        let registry = Registry::new(directory.clone());
        let clock = SystemClock::new();
        for expected in ["1", "2"] {
            let lock = registry.lock(&clock, Duration::ZERO).await.unwrap();
            let job = lock.new_job().unwrap();
            assert_eq!(job.id.0, expected);
            fs::remove_dir_all(&directory).unwrap();
        }
    }

    /// A command can replace the files of its job.
    #[test]
    fn job_with_a_fifo_in_place_of_a_file_is_an_error() {
        let temp = tempfile::tempdir().unwrap();
        agent_bash_process::make_fifo(&temp.path().join(ENTRY_FILE)).unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        let path = temp.path().to_owned();
        std::thread::spawn(move || {
            let read = JobFiles::read(&path, &JobId("1".to_owned()));
            let _ = sender.send(read.map(drop).map_err(|error| error.kind()));
        });
        let read = receiver.recv_timeout(Duration::from_secs(30)).unwrap();
        assert_eq!(read, Err(io::ErrorKind::InvalidInput));
    }
}
