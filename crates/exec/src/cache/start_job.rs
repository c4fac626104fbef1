//! Starts background jobs in the same shells as calls, and hands the shells to their own
//! supervisors.

use super::{ShellCache, ShellForCall};
use crate::jobs::{Job, JobError, JobStdin, Launch, UnlaunchedReason};
use crate::pool::ShellKind;
use crate::snapshot::SnapshotForCall;
use agent_bash_core::{Cancel, NotStarted, RunSpec, StdinSource, Streams};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

impl ShellCache {
    /// Starts a background job. A job starts like a call, but outlives this process, and its output
    /// goes to a file. Its time limit is `spec.timeout`, or else
    /// [`JobsOptions::limit`](crate::JobsOptions::limit), and begins now. The job's supervisor
    /// enforces it. [`Jobs::kill`](crate::Jobs::kill) ends the job.
    ///
    /// Returns 250 ms after the start, or earlier if the job has ended by then. These fields of
    /// `spec` are ignored: `streams`, `stdin`, `survivors`, `session` and `report_stages`. If the
    /// future is dropped, either nothing was started or the job is in the list.
    ///
    /// # Errors
    /// [`JobError::NotStarted`], [`JobError::TooMany`], [`JobError::NoDirectory`] without
    /// [`ShellCacheOptions::jobs`], [`JobError::Cancelled`], [`JobError::Busy`],
    /// [`JobError::Registry`]: no part of the script has run.
    ///
    /// [`ShellCacheOptions::jobs`]: crate::ShellCacheOptions::jobs
    pub async fn start_job(
        &self,
        spec: &RunSpec,
        stdin: JobStdin,
        cancel: &Cancel,
    ) -> Result<Job, JobError> {
        if spec.trial.is_some() {
            let reason = "a job outlives its call".to_owned();
            return Err(NotStarted::Trial { reason }.into());
        }
        let options = &self.inner.options;
        let jobs = options.jobs.as_ref().ok_or(JobError::NoDirectory)?;
        if stdin == JobStdin::Pipe && !spec.shell.is_bash {
            let shell = spec.shell.path.clone();
            return Err(NotStarted::JobNeedsBash { shell }.into());
        }
        let spec = spec
            .clone()
            .streams(Streams::Merged)
            .stdin(StdinSource::Null)
            .session(None)
            .report_stages(false);
        let snapshots = &self.inner.snapshots;
        let configured = snapshots.for_call(&spec, &spec.cwd, options.starter());
        let SnapshotForCall { snapshot, .. } = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(JobError::Cancelled),
            configured = configured => configured,
        };
        let kind = ShellKind::of(&spec, snapshot);
        let mut warm = stdin == JobStdin::Null;
        loop {
            let reserved = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(JobError::Cancelled),
                reserved = jobs.reserve() => reserved?,
            };
            let (acquired, writer) = self.shell_for_job(&spec, &kind, stdin, warm).await?;
            warm = acquired.is_warm;
            if let Some(reason) = acquired.shell.supervised.fallback_reason() {
                let reason = reason.to_owned();
                return Err(NotStarted::JobNeedsSupervisor { reason }.into());
            }
            let launch = Launch {
                spec: &spec,
                shell: acquired.shell,
                sets_variables: warm,
                stdin: writer,
            };
            match jobs.launch(reserved, launch).await {
                Ok(job) => {
                    // Unlike a call, a job keeps its supervisor.
                    self.refill(&kind, None, 0);
                    return Ok(job);
                }
                // A warm shell may have been killed while it waited, so a new shell is tried once.
                Err(UnlaunchedReason::RefusedHandoff(_)) if warm => warm = false,
                Err(UnlaunchedReason::RefusedHandoff(refused)) => {
                    return Err(NotStarted::from(refused).into());
                }
                Err(UnlaunchedReason::Refused(error)) => return Err(error),
            }
        }
    }

    /// Returns a shell for a job, and the write end of the job's stdin. `warm`: the shell may be a
    /// warm one.
    async fn shell_for_job(
        &self,
        spec: &RunSpec,
        kind: &ShellKind,
        stdin: JobStdin,
        warm: bool,
    ) -> Result<(ShellForCall, Option<OwnedFd>), NotStarted> {
        let failed = |error: io::Error| {
            NotStarted::new(format!("cannot create a pipe for the job's stdin: {error}"))
        };
        let (pipe, writer) = match stdin {
            JobStdin::Null if warm => return Ok((self.shell(spec, kind).await?, None)),
            JobStdin::Null => (None, None),
            JobStdin::Pipe => {
                let (read, write) = io::pipe().map_err(failed)?;
                (Some(read), Some(OwnedFd::from(write)))
            }
        };
        let pipe = pipe.as_ref().map(AsFd::as_fd);
        Ok((self.new_shell(spec, kind, pipe).await?, writer))
    }
}
