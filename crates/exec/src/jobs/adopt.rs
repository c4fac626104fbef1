//! Turns survivors of a call into a job.

use crate::jobs::entry::{JobEntry, observed_sandbox};
use crate::jobs::registry::{NewJob, RegistryLock};
use crate::jobs::{JobError, JobKind, Jobs};
use agent_bash_call::{Adoption, SurvivorRegistry};
use agent_bash_core::{JobId, Timestamp};
use agent_bash_process::{ProcessIdentity, ProcessInfo, inode_of_pipe};
use async_trait::async_trait;
use std::fs;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

/// Maximum wait for the registry's lock; short, because a call waits for it.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

#[async_trait]
impl SurvivorRegistry for Jobs {
    async fn adopt(&self, adoption: Adoption<'_>) -> Option<JobId> {
        let now = self.options.clock.wall();
        let entry = entry(&adoption, now);
        let Adoption {
            supervised,
            output,
            quota,
            alone,
            ..
        } = adoption;
        let (pipes, files) = (output.pipes(), output.files());
        let locked = match self.registry.lock(&*self.options.clock, LOCK_TIMEOUT).await {
            Ok(locked) => Some(locked),
            Err(error) => {
                tracing::warn!(%error, "survivors are no job");
                None
            }
        };
        let new_job = locked
            .as_ref()
            .and_then(|locked| create_job(locked, &entry?));
        let job = new_job.as_ref().map(|new| &*new.directory);
        let _ = supervised.adopt(pipes, &files, alone, quota, job).await;
        new_job.filter(NewJob::is_taken).map(NewJob::keep)
    }
}

fn create_job(locked: &RegistryLock<'_>, entry: &JobEntry) -> Option<NewJob> {
    let created = locked.new_job().and_then(|new| match new.write(entry) {
        Ok(()) => Ok(new),
        Err(source) => Err(JobError::Registry {
            path: new.directory.clone(),
            source,
        }),
    });
    created
        .inspect_err(|error| tracing::warn!(%error, "survivors are no job"))
        .ok()
}

/// The registry entry of the survivors; `None` if all have ended, or none can be identified.
fn entry(adoption: &Adoption<'_>, now: Timestamp) -> Option<JobEntry> {
    let identity = |pid: u32| ProcessIdentity::of(i32::try_from(pid).ok()?);
    let process = adoption
        .survivors
        .iter()
        .find_map(|survivor| identity(survivor.pid))?;
    let group = ProcessInfo::read(process.pid).map_or(process.pid, |info| info.group);
    Some(JobEntry {
        kind: JobKind::Adopted,
        command: adoption.spec.recorded().to_owned(),
        cwd: adoption.spec.cwd.to_string_lossy().into_owned(),
        pgid: group.unsigned_abs(),
        process,
        supervisor: identity(adoption.supervised.pid())?,
        is_adopted: !adoption.alone,
        pipe: adoption
            .output
            .pipes()
            .first()
            .and_then(|pipe| inode_of_pipe(*pipe)),
        output: adoption.output.files().first().copied().and_then(path_of),
        stdin: false,
        started_at: adoption.started_at,
        adopted_at: Some(now),
        sandbox: observed_sandbox(adoption.spec, adoption.supervised),
        // The call's tracer also records its survivors.
        unrecorded: None,
    })
}

/// The path of an open file, if other processes can open it.
fn path_of(file: BorrowedFd<'_>) -> Option<PathBuf> {
    let path = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
    let open = fs::File::from(file.try_clone_to_owned().ok()?);
    let (named, open) = (fs::metadata(&path).ok()?, open.metadata().ok()?);
    (named.ino() == open.ino() && named.dev() == open.dev() && path.to_str().is_some())
        .then_some(path)
}
