//! The directory of a session's jobs: `<n>/` for each, `next` with the number of the next, `lock`. Whoever makes or
//! removes a job holds the lock; whoever reads needs none.

use crate::jobs::entry::{Entry, Record};
use crate::jobs::{JobError, JobState};
use agent_bash_core::{Clock, JobId, Timestamp};
use agent_bash_process::supervisor::job_directory::{
    END_LENGTH, ENTRY, NEW_END, NEW_ENTRY, OUTPUT,
};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Between two attempts to get the lock; it is held for a few milliseconds.
const RETRY: Duration = Duration::from_millis(3);

/// A session's jobs on disk.
#[derive(Debug)]
pub(super) struct Registry {
    directory: PathBuf,
}

/// The right to make and remove jobs, until dropped; a process that dies has it no more.
#[derive(Debug)]
pub(super) struct Locked<'a> {
    registry: &'a Registry,
    _lock: File,
}

/// The directory of a job that is being made. Unless kept it is removed when dropped.
#[derive(Debug)]
pub(super) struct NewJob {
    pub(super) id: JobId,
    pub(super) directory: PathBuf,
    kept: bool,
}

impl Registry {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// All jobs, in the order of their numbers. One that cannot be read is left out.
    pub(super) fn jobs(&self) -> Result<Vec<Record>, JobError> {
        let mut found = Vec::new();
        for (number, path) in self.directories()? {
            match Record::read(&path, &JobId(number.to_string())) {
                Ok(record) => found.extend(record),
                Err(error) => {
                    tracing::warn!(path = %path.display(), %error, "a job cannot be read");
                }
            }
        }
        Ok(found)
    }

    pub(super) fn job(&self, id: &JobId) -> Result<Record, JobError> {
        let unknown = || JobError::Unknown { id: id.clone() };
        // The name of a file is made of it.
        let number: u64 = id.0.parse().map_err(|_| unknown())?;
        if number.to_string() != id.0 {
            return Err(unknown());
        }
        let path = self.directory.join(&id.0);
        Record::read(&path, id)
            .map_err(|error| self.failed(&path, error))?
            .ok_or_else(unknown)
    }

    /// Gets the lock, at the latest after `patience`.
    pub(super) async fn lock(
        &self,
        clock: &dyn Clock,
        patience: Duration,
    ) -> Result<Locked<'_>, JobError> {
        let path = self.directory.join("lock");
        let open = || -> io::Result<File> {
            private_directories().create(&self.directory)?;
            private_file().create(true).truncate(false).open(&path)
        };
        let file = open().map_err(|error| self.failed(&path, error))?;
        let give_up = clock.now() + patience;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    return Ok(Locked {
                        registry: self,
                        _lock: file,
                    });
                }
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(self.failed(&path, error.into())),
            }
            if clock.now() >= give_up {
                return Err(JobError::Busy { path });
            }
            clock.sleep(RETRY).await;
        }
    }

    fn directories(&self) -> Result<Vec<(u64, PathBuf)>, JobError> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.failed(&self.directory, error)),
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

    #[expect(
        clippy::unused_self,
        reason = "reads as what it is: the registry's failure"
    )]
    fn failed(&self, path: &Path, source: io::Error) -> JobError {
        JobError::Registry {
            path: path.to_owned(),
            source,
        }
    }
}

impl Locked<'_> {
    /// A directory for a job, under a number that none has had before.
    pub(super) fn new_job(&self) -> Result<NewJob, JobError> {
        let registry = self.registry;
        let counter = registry.directory.join("next");
        let failed = |error| registry.failed(&counter, error);
        let following = match fs::read_to_string(&counter) {
            Ok(text) => text.trim().parse().unwrap_or(1),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 1,
            Err(error) => return Err(failed(error)),
        };
        let highest = registry
            .directories()?
            .last()
            .map_or(0, |(number, _)| *number);
        let number: u64 = following.max(highest + 1);
        write_whole(&counter, format!("{}\n", number + 1).as_bytes()).map_err(failed)?;
        let id = JobId(number.to_string());
        let directory = registry.directory.join(&id.0);
        let made = DirBuilder::new().mode(0o700).create(&directory);
        made.map_err(|error| registry.failed(&directory, error))?;
        Ok(NewJob {
            id,
            directory,
            kept: false,
        })
    }

    /// Removes what was never a job, and what has ended longer than `keep` ago. Returns how many jobs were removed.
    pub(super) fn clean(&self, now: Timestamp, keep: Duration) -> Result<usize, JobError> {
        let mut removed = 0;
        for (number, path) in self.registry.directories()? {
            // What cannot be read is left to people.
            let Ok(record) = Record::read(&path, &JobId(number.to_string())) else {
                continue;
            };
            let cleaned = match &record {
                // Nobody else makes one while we have the lock: whoever did is dead.
                None => withdraw(&path).map(drop),
                Some(record) => {
                    let old = over_since(record).is_some_and(|since| {
                        Duration::from_millis(now.0.saturating_sub(since.0)) >= keep
                    });
                    if !old {
                        continue;
                    }
                    removed += 1;
                    fs::remove_dir_all(&path)
                }
            };
            cleaned.map_err(|error| self.registry.failed(&path, error))?;
        }
        Ok(removed)
    }
}

/// When the last process of a job had ended; `None` if some live.
fn over_since(record: &Record) -> Option<Timestamp> {
    let written = |path: PathBuf| {
        let time: SystemTime = fs::metadata(path).and_then(|meta| meta.modified()).ok()?;
        Some(Timestamp::from(time))
    };
    match &record.state {
        JobState::Running => None,
        JobState::Ended(end) => (!end.left).then_some(end.ended_at),
        JobState::Lost { .. } if !record.leftovers().find().is_empty() => None,
        // The last sign of life.
        JobState::Lost { .. } => record
            .output()
            .and_then(written)
            .max(Some(record.entry.started_at)),
    }
}

impl NewJob {
    /// Makes the files that a supervisor needs to take the job.
    pub(super) fn write(&self, entry: &Entry) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(entry)?;
        for (name, content) in [(NEW_ENTRY, &text[..]), (NEW_END, &[b' '; END_LENGTH][..])] {
            let path = self.directory.join(name);
            private_file()
                .create_new(true)
                .open(path)?
                .write_all(content)?;
        }
        Ok(())
    }

    /// Makes the file of a job that has one of its own.
    pub(super) fn make_output(&self) -> io::Result<()> {
        let path = self.directory.join(OUTPUT);
        private_file().create_new(true).open(path).map(drop)
    }

    /// Whether a supervisor has taken it.
    pub(super) fn is_taken(&self) -> bool {
        self.directory.join(ENTRY).exists()
    }

    /// It stays.
    pub(super) fn keep(mut self) -> JobId {
        self.kept = true;
        self.id.clone()
    }
}

impl Drop for NewJob {
    fn drop(&mut self) {
        if !self.kept {
            let _ = withdraw(&self.directory);
        }
    }
}

/// Removes the directory of a job that nobody has taken; false if somebody has. A supervisor may be about to, so the file
/// that it must rename goes first.
fn withdraw(directory: &Path) -> io::Result<bool> {
    match fs::remove_file(directory.join(NEW_ENTRY)) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if directory.join(ENTRY).exists() {
                return Ok(false);
            }
        }
        Err(error) => return Err(error),
    }
    fs::remove_dir_all(directory)?;
    Ok(true)
}

fn private_directories() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder
}

fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

/// Replaces a file at once.
fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    private_file()
        .create(true)
        .truncate(true)
        .open(&new)?
        .write_all(content)?;
    fs::rename(new, path)
}
