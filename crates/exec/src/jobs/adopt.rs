//! Turns survivors of a call into a job.

use crate::jobs::entry::{JobEntry, observed_sandbox};
use crate::jobs::registry::{NewJob, RegistryLock};
use crate::jobs::{JobError, JobKind, Jobs};
use agent_bash_call::{Adoption, SurvivorRegistry};
use agent_bash_core::{JobId, Timestamp};
use agent_bash_os::proc_path;
use agent_bash_process::{ProcessIdentity, ProcessInfo, inode_of_pipe};
use async_trait::async_trait;
use std::fs;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

/// Maximum wait for the registry's lock. Short, because the answer to a call waits for the lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

#[async_trait]
impl SurvivorRegistry for Jobs {
    async fn adopt(&self, adoption: Adoption<'_>) -> Option<JobId> {
        let now = self.options.clock.wall();
        let entry = registry_entry(&adoption, now);
        let Adoption {
            supervised,
            output,
            quota,
            one_shot,
            ..
        } = adoption;
        let (pipes, files) = (output.pipes(), output.files());
        let locked = match self.registry.lock(&*self.options.clock, LOCK_TIMEOUT).await {
            Ok(locked) => Some(locked),
            Err(error) => {
                tracing::warn!(%error, "the survivors could not become a job");
                None
            }
        };
        let new_job = locked
            .as_ref()
            .and_then(|locked| create_job(locked, &entry?));
        let directory = new_job.as_ref().map(|new| &*new.directory);
        let _ = supervised
            .adopt(pipes, &files, one_shot, quota, directory)
            .await;
        new_job.filter(NewJob::has_supervisor).map(NewJob::keep)
    }
}

/// Creates the directory of the job. If that fails, the survivors continue without being a job.
fn create_job(locked: &RegistryLock<'_>, entry: &JobEntry) -> Option<NewJob> {
    let created = locked.new_job().and_then(|new| match new.write(entry) {
        Ok(()) => Ok(new),
        Err(source) => Err(JobError::Registry {
            path: new.directory.clone(),
            source,
        }),
    });
    created
        .inspect_err(|error| tracing::warn!(%error, "the survivors could not become a job"))
        .ok()
}

/// Returns the registry entry of the survivors; `None` if no survivor, or not the supervisor, can
/// be identified. For example, all may have ended.
fn registry_entry(adoption: &Adoption<'_>, now: Timestamp) -> Option<JobEntry> {
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
        is_adopted: !adoption.one_shot,
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

/// Returns the path of an open file, if other processes can open the file by this path.
fn path_of(fd: BorrowedFd<'_>) -> Option<PathBuf> {
    let path = fs::read_link(proc_path(&fd)).ok()?;
    let file = fs::File::from(fd.try_clone_to_owned().ok()?);
    let (by_path, by_fd) = (fs::metadata(&path).ok()?, file.metadata().ok()?);
    (by_path.ino() == by_fd.ino() && by_path.dev() == by_fd.dev() && path.to_str().is_some())
        .then_some(path)
}
