//! Reads a job's files, and derives the job's state from them.

use crate::jobs::{Job, JobKind, JobState};
use agent_bash_core::sandbox::JobSandbox;
use agent_bash_core::{JobId, RunSpec, Timestamp};
use agent_bash_os::{PrivateDir, open_regular};
use agent_bash_process::supervisor::job_directory::{END_FILE, ENTRY_FILE, OUTPUT_FILE};
use agent_bash_process::supervisor::{JobEnd, JobSupervisor, SupervisorClient};
use agent_bash_process::{Leftovers, ProcessIdentity};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The name of the file that exists if the job's end was requested.
const KILL_MARK_FILE: &str = "asked";

/// Maximum number of bytes read from a file. Large, because a description contains the command.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// A job's description, written once, before the job runs. Its supervisor writes how the job ended
/// to a separate file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JobEntry {
    pub(super) kind: JobKind,
    pub(super) command: String,
    /// The working directory, for display; not every path is valid UTF-8.
    pub(super) cwd: String,
    /// The job's shell; for adopted survivors, the first survivor.
    pub(super) process: ProcessIdentity,
    pub(super) pgid: u32,
    pub(super) supervisor: ProcessIdentity,
    /// True if the supervisor also has a persistent shell, and may outlive the job.
    pub(super) is_adopted: bool,
    /// Inode of the job's output pipe.
    pub(super) pipe: Option<u64>,
    /// For adopted survivors: the output file of their call, to which they continue to write.
    /// `None` for a started job, which has its own file.
    pub(super) output: Option<PathBuf>,
    pub(super) stdin: bool,
    pub(super) started_at: Timestamp,
    /// For survivors: the time at which they became a job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) adopted_at: Option<Timestamp>,
    /// The job's sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sandbox: Option<JobSandbox>,
    /// The reason why the job's changes are not recorded, although recording was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unrecorded: Option<String>,
}

/// Returns the sandbox of a shell below this supervisor: the requested plan, and the parts that are
/// enforced.
pub(super) fn observed_sandbox(
    spec: &RunSpec,
    supervised: &SupervisorClient,
) -> Option<JobSandbox> {
    Some(JobSandbox::new(
        spec.sandbox.as_deref()?,
        supervised.sandbox_report()?,
    ))
}

/// A job's directory and the files read from it.
#[derive(Debug, Clone)]
pub(super) struct JobFiles {
    pub(super) directory: PathBuf,
    pub(super) id: JobId,
    pub(super) entry: JobEntry,
    pub(super) state: JobState,
    /// True if the description is the supervisor's copy, because the file was damaged or removed.
    pub(super) is_from_supervisor: bool,
}

impl JobFiles {
    /// Reads a job; returns `None` if the directory contains no job.
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
            is_from_supervisor: false,
        }))
    }

    /// Returns a job whose description was damaged or removed, from the supervisor's copy; `None`
    /// if the copy is unusable.
    pub(super) fn from_supervisor(jobs: &Path, found: &JobSupervisor) -> Option<Self> {
        let entry: JobEntry = serde_json::from_slice(&found.description).ok()?;
        if entry.supervisor != found.process {
            return None;
        }
        let directory = jobs.join(&found.job);
        Some(Self {
            state: state(&directory, &entry).unwrap_or(JobState::Running),
            id: JobId(found.job.clone()),
            directory,
            entry,
            is_from_supervisor: true,
        })
    }

    /// Returns the job with its present state, after its description was damaged or removed.
    pub(super) fn renewed(self) -> Self {
        let state = match state(&self.directory, &self.entry) {
            Ok(JobState::Lost { .. }) | Err(_) => JobState::Lost {
                reason: "its files were damaged or removed, so its end was not recorded".to_owned(),
            },
            Ok(state) => state,
        };
        Self { state, ..self }
    }

    pub(super) fn is_running(&self) -> bool {
        self.state == JobState::Running
    }

    pub(super) fn is_lost(&self) -> bool {
        matches!(self.state, JobState::Lost { .. })
    }

    /// Marks that the job's end was requested. For survivors, whose exit status is not observed,
    /// only the mark shows that. If the mark cannot be written, the job is still ended.
    pub(super) fn mark_kill_requested(&self) {
        if self.is_running()
            && let Ok(private) = PrivateDir::open(&self.directory, &[])
        {
            let _ = private.open_or_create(KILL_MARK_FILE);
        }
    }

    /// Returns the search for processes of the job that outlived its supervisor.
    pub(super) fn leftovers(&self) -> Leftovers {
        Leftovers {
            supervisor: self.entry.supervisor.clone(),
            pipe: self.entry.pipe,
        }
    }

    /// Returns the path of the job's output file.
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
            listens_on: Vec::new(),
        }
    }
}

/// Returns the state of a job. A supervisor records the end before it exits, so the end is read
/// first, and again if the supervisor has exited.
fn state(directory: &Path, entry: &JobEntry) -> io::Result<JobState> {
    let ended = || -> io::Result<Option<JobState>> {
        let end = read_json::<JobEnd>(&directory.join(END_FILE))?;
        Ok(end.map(|mut end| {
            end.has_remaining = end.has_remaining && !entry.supervisor.is_dead();
            JobState::Ended(end)
        }))
    };
    match ended() {
        Ok(Some(ended)) => return Ok(ended),
        // A supervisor in another PID namespace cannot be checked, so it counts as alive. A record
        // that a command has damaged does not count either while the supervisor is alive.
        _ if !entry.supervisor.is_dead() => return Ok(JobState::Running),
        Ok(None) => {}
        Err(error) => return Err(error),
    }
    Ok(ended()?.unwrap_or_else(|| JobState::Lost {
        reason: if entry.supervisor.is_local() {
            "its supervisor was killed, so the end of the job was not observed".to_owned()
        } else {
            "the system restarted while the job ran".to_owned()
        },
    }))
}

/// Reads a JSON file; returns `None` if the file does not exist. A command may have replaced the
/// file.
fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> io::Result<Option<T>> {
    let file = match open_regular(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut text = Vec::new();
    file.take(MAX_FILE_BYTES).read_to_end(&mut text)?;
    Ok(Some(serde_json::from_slice(&text)?))
}
