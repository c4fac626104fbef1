//! How what a call left behind becomes a job.

use crate::jobs::entry::Entry;
use crate::jobs::registry::{Locked, NewJob};
use crate::jobs::{JobError, JobKind, Jobs};
use agent_bash_core::{JobId, RunSpec, Survivor, Timestamp};
use agent_bash_process::supervisor::Supervised;
use agent_bash_process::{ProcessIdentity, ProcessInfo};
use rustix::fs::fstat;
use std::fs;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

/// The caller waits for its answer meanwhile.
const LOCK: Duration = Duration::from_secs(1);

/// Survivors of a call, and what they still write to.
#[derive(Debug)]
pub(crate) struct Adoption<'a> {
    pub(crate) spec: &'a RunSpec,
    /// When the call's script was handed over.
    pub(crate) started_at: Timestamp,
    /// At least one.
    pub(crate) survivors: &'a [Survivor],
    /// Their supervisor.
    pub(crate) supervised: &'a mut Supervised,
    /// It has nothing else. If it has, a session's shell, they are a job beside that.
    pub(crate) alone: bool,
    /// Read ends of what they still hold.
    pub(crate) pipes: &'a [BorrowedFd<'a>],
    /// A file for each pipe, or none.
    pub(crate) files: &'a [BorrowedFd<'a>],
    pub(crate) quota: u64,
}

impl Jobs {
    /// Leaves survivors to their supervisor, as a job. They are left to it in any case, though beside a session's shell only
    /// while that lives; `None` if they are no job, since there was no place for one.
    pub(crate) async fn adopt(&self, adoption: Adoption<'_>) -> Option<JobId> {
        let entry = entry(&adoption);
        let Adoption {
            supervised,
            pipes,
            files,
            quota,
            alone,
            ..
        } = adoption;
        let locked = match self.registry.lock(&*self.options.clock, LOCK).await {
            Ok(locked) => Some(locked),
            Err(error) => {
                tracing::warn!(%error, "survivors are no job");
                None
            }
        };
        let place = locked.as_ref().and_then(|locked| place(locked, &entry?));
        let Some(new) = place else {
            let _ = supervised.adopt(pipes, files, alone, quota).await;
            return None;
        };
        let _ = supervised
            .adopt_as_job(pipes, files, alone, quota, &new.directory)
            .await;
        new.is_taken().then(|| new.keep())
    }
}

fn place(locked: &Locked<'_>, entry: &Entry) -> Option<NewJob> {
    let made = locked.new_job().and_then(|new| match new.write(entry) {
        Ok(()) => Ok(new),
        Err(source) => Err(JobError::Registry {
            path: new.directory.clone(),
            source,
        }),
    });
    made.inspect_err(|error| tracing::warn!(%error, "survivors are no job"))
        .ok()
}

/// `None` where nobody is left by now, or nobody can be told from others.
fn entry(adoption: &Adoption<'_>) -> Option<Entry> {
    let identity = |pid: u32| ProcessIdentity::of(i32::try_from(pid).ok()?);
    let process = adoption
        .survivors
        .iter()
        .find_map(|survivor| identity(survivor.pid))?;
    let group = ProcessInfo::read(process.pid).map_or(process.pid, |info| info.group);
    Some(Entry {
        kind: JobKind::Adopted,
        command: adoption.spec.script.clone(),
        cwd: adoption.spec.cwd.to_string_lossy().into_owned(),
        pgid: group.unsigned_abs(),
        process,
        supervisor: identity(adoption.supervised.pid())?,
        beside: !adoption.alone,
        pipe: adoption
            .pipes
            .first()
            .and_then(|pipe| fstat(pipe).ok())
            .map(|stat| stat.st_ino),
        output: adoption.files.first().copied().and_then(path_of),
        stdin: false,
        started_at: adoption.started_at,
    })
}

/// The path of an open file, if it has one by which others can open it.
fn path_of(file: BorrowedFd<'_>) -> Option<PathBuf> {
    let path = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
    let open = fs::File::from(file.try_clone_to_owned().ok()?);
    let (named, open) = (fs::metadata(&path).ok()?, open.metadata().ok()?);
    (named.ino() == open.ino() && named.dev() == open.dev() && path.to_str().is_some())
        .then_some(path)
}
