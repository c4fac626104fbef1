//! A job's files, and the state of the job that follows from them.

use crate::jobs::{Job, JobKind, JobState};
use agent_bash_core::sandbox::JobSandbox;
use agent_bash_core::{JobId, RunSpec, Timestamp};
use agent_bash_os::PrivateDir;
use agent_bash_process::supervisor::job_directory::{END_FILE, ENTRY_FILE, OUTPUT_FILE};
use agent_bash_process::supervisor::{JobEnd, SupervisorClient};
use agent_bash_process::{Leftovers, ProcessIdentity};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file that marks a requested end.
const KILL_MARK_FILE: &str = "asked";

/// A job's description: written once, before it runs. How it ended is in a separate file, written
/// by its supervisor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JobEntry {
    pub(super) kind: JobKind,
    pub(super) command: String,
    /// The working directory, for display; not every path is valid UTF-8.
    pub(super) cwd: String,
    /// The job's shell; for adopted survivors, the first one.
    pub(super) process: ProcessIdentity,
    pub(super) pgid: u32,
    pub(super) supervisor: ProcessIdentity,
    /// The supervisor also has a session's shell, and may outlive the job.
    #[serde(default)]
    pub(super) is_adopted: bool,
    /// Inode of its output pipe.
    pub(super) pipe: Option<u64>,
    /// Adopted survivors continue in their call's file. A started job has its own.
    pub(super) output: Option<PathBuf>,
    pub(super) stdin: bool,
    pub(super) started_at: Timestamp,
    /// For survivors: the time at which they became a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) adopted_at: Option<Timestamp>,
    /// The box that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sandbox: Option<JobSandbox>,
    /// The reason why the job's changes are not recorded, if they were to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unrecorded: Option<String>,
}

/// The box of a shell below this supervisor.
pub(super) fn observed_sandbox(
    spec: &RunSpec,
    supervised: &SupervisorClient,
) -> Option<JobSandbox> {
    Some(JobSandbox::new(
        spec.sandbox.as_deref()?,
        supervised.enforced()?,
    ))
}

/// A job's directory and the files read from it.
#[derive(Debug)]
pub(super) struct JobFiles {
    pub(super) directory: PathBuf,
    pub(super) id: JobId,
    pub(super) entry: JobEntry,
    pub(super) state: JobState,
}

impl JobFiles {
    /// Reads a job; `None` if there is none.
    pub(super) fn read(directory: &Path, id: &JobId) -> io::Result<Option<Self>> {
        let Some(entry) = read_json::<JobEntry>(&directory.join(ENTRY_FILE))? else {
            return Ok(None);
        };
        let state = state(directory, &entry)?;
        Ok(Some(Self {
            directory: directory.to_owned(),
            id: id.clone(),
            entry,
            state,
        }))
    }

    pub(super) fn is_running(&self) -> bool {
        self.state == JobState::Running
    }

    /// Marks a requested end, because the end of survivors is not observed. If the mark cannot be
    /// written, they are ended all the same.
    pub(super) fn asked_to_end(&self) {
        if self.is_running()
            && let Ok(private) = PrivateDir::open(&self.directory, &[])
        {
            let _ = private.open_or_create(KILL_MARK_FILE);
        }
    }

    /// The job's processes that outlived the supervisor.
    pub(super) fn leftovers(&self) -> Leftovers {
        Leftovers {
            supervisor: self.entry.supervisor.clone(),
            pipe: self.entry.pipe,
        }
    }

    /// The job's output file.
    pub(super) fn output(&self) -> Option<PathBuf> {
        match self.entry.kind {
            JobKind::Started => Some(self.directory.join(OUTPUT_FILE)),
            JobKind::Adopted => self.entry.output.clone(),
        }
    }

    pub(super) fn to_job(&self) -> Job {
        let entry = &self.entry;
        Job {
            output: self.output(),
            id: self.id.clone(),
            kind: entry.kind,
            command: entry.command.clone(),
            cwd: entry.cwd.clone(),
            pid: entry.process.pid.unsigned_abs(),
            pgid: entry.pgid,
            stdin: entry.stdin,
            remaining: match &self.state {
                JobState::Ended(end) if !end.has_remaining => Vec::new(),
                JobState::Running => Vec::new(),
                JobState::Ended(_) | JobState::Lost { .. } => self.leftovers().survivors(),
            },
            state: self.state.clone(),
            started_at: entry.started_at,
            adopted_at: entry.adopted_at,
            is_asked_to_end: self.directory.join(KILL_MARK_FILE).exists(),
            sandbox: entry.sandbox.clone(),
            unrecorded: entry.unrecorded.clone(),
        }
    }
}

/// The end is recorded before the supervisor exits: so it is checked first, and again if the
/// supervisor is gone.
fn state(directory: &Path, entry: &JobEntry) -> io::Result<JobState> {
    let ended = || -> io::Result<Option<JobState>> {
        let end = read_json::<JobEnd>(&directory.join(END_FILE))?;
        Ok(end.map(|mut end| {
            end.has_remaining = end.has_remaining && !entry.supervisor.is_dead();
            JobState::Ended(end)
        }))
    };
    if let Some(ended) = ended()? {
        return Ok(ended);
    }
    // One of another pid namespace may live: it cannot be asked for from here.
    if !entry.supervisor.is_dead() {
        return Ok(JobState::Running);
    }
    Ok(ended()?.unwrap_or_else(|| JobState::Lost {
        reason: if entry.supervisor.is_of_here() {
            "its supervisor was ended, so its end was not observed".to_owned()
        } else {
            "the system was started anew while it ran".to_owned()
        },
    }))
}

/// `None` if there is no such file.
fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> io::Result<Option<T>> {
    match fs::read(path) {
        Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
