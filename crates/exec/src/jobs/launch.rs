//! Starts a job: hands a waiting shell over to its own supervisor, along with the script.

use crate::jobs::entry::{JobEntry, observed_sandbox};
use crate::jobs::{Job, JobError, JobKind, Jobs, ReservedJob};
use crate::pool::WaitingShell;
use crate::record::script_file;
use agent_bash_call::{RefusedHandoff, ScriptFile, UnstartedReason};
use agent_bash_core::{JobId, RunSpec};
use agent_bash_process::supervisor::{DetachOptions, JobFds, SupervisorClient};
use agent_bash_process::{ProcessIdentity, inode_of_pipe};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// A job that ends within this time is reported as ended rather than started.
const EARLY_END: Duration = Duration::from_millis(250);

/// The command of a job, and the shell that runs it.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    /// The command, with merged streams.
    pub(crate) spec: &'a RunSpec,
    pub(crate) shell: WaitingShell,
    /// True if the shell was started without the call's variables, so that the record must set
    /// them.
    pub(crate) sets_variables: bool,
    /// The write end of the command's stdin.
    pub(crate) stdin: Option<OwnedFd>,
}

/// The reason why a job was not launched. No part of its script has run, and no files are left.
#[derive(Debug)]
pub(crate) enum UnlaunchedReason {
    /// The shell, or its supervisor, ended before taking the script: retry with another shell.
    RefusedHandoff(RefusedHandoff),
    /// The command cannot run as requested, or the job's directory is unusable.
    Refused(JobError),
}

impl From<UnstartedReason> for UnlaunchedReason {
    fn from(unstarted: UnstartedReason) -> Self {
        match unstarted {
            UnstartedReason::RefusedHandoff(refused) => Self::RefusedHandoff(refused),
            UnstartedReason::Refused(refused) => Self::Refused(refused.into()),
        }
    }
}

/// A job that was started, and is watched for [`EARLY_END`].
#[derive(Debug)]
struct LaunchedJob {
    supervised: SupervisorClient,
    script: ScriptFile,
}

impl Jobs {
    /// Starts a job in its directory, and waits for [`EARLY_END`] or the job's end.
    pub(crate) async fn launch(
        &self,
        reserved: ReservedJob<'_>,
        launch: Launch<'_>,
    ) -> Result<Job, UnlaunchedReason> {
        let spec = launch.spec;
        let LaunchedJob {
            mut supervised,
            script,
        } = self
            .detach(&reserved, launch)
            .await
            .map_err(|reason| UnlaunchedReason::RefusedHandoff(RefusedHandoff { reason }))?;
        // Releases the registry's lock, so that other processes can create jobs.
        let ReservedJob { new, locked } = reserved;
        let id = new.keep();
        drop(locked);

        tokio::select! {
            biased;
            _ = supervised.job_ended() => {
                if let Some(unstarted) = script.unstarted(spec) {
                    supervised.close().await;
                    self.forget(&id);
                    return Err(unstarted.into());
                }
            }
            () = self.options.clock.sleep(EARLY_END) => {}
        }
        self.show(&id).map_err(UnlaunchedReason::Refused)
    }

    /// Hands the shell and the script to the supervisor, which then belongs to the job.
    async fn detach(
        &self,
        reserved: &ReservedJob<'_>,
        launch: Launch<'_>,
    ) -> Result<LaunchedJob, String> {
        let Launch {
            spec,
            shell,
            sets_variables,
            stdin,
        } = launch;
        let WaitingShell {
            mut supervised,
            fds,
            snapshot,
        } = shell;
        let to_text = |error: io::Error| error.to_string();
        let (content, commit) = script_file(spec, &fds, snapshot.as_deref(), sets_variables);
        let output = fds.output.into_iter().next().map(|(_, output)| output);
        let output = output.ok_or("the shell of the job has no output")?;
        let script = File::from(fds.script);
        // `write_all_at` does not move the file offset, which the shell shares.
        script.write_all_at(&content, 0).map_err(to_text)?;
        let unrecorded = begin_recording(spec, &mut supervised, fds.untraced_reason.as_ref()).await;
        let entry = JobEntry {
            kind: JobKind::Started,
            command: spec.recorded().to_owned(),
            cwd: spec.cwd.to_string_lossy().into_owned(),
            process: identity(fds.pid)?,
            pgid: fds.pid,
            supervisor: identity(supervised.pid())?,
            is_adopted: false,
            pipe: inode_of_pipe(output.as_fd()),
            output: None,
            stdin: stdin.is_some(),
            started_at: self.options.clock.wall(),
            adopted_at: None,
            sandbox: observed_sandbox(spec, &supervised),
            unrecorded,
        };
        let new = &reserved.new;
        new.make_output()
            .and_then(|()| new.write(&entry))
            .map_err(to_text)?;
        let limit = spec.timeout.unwrap_or(self.options.limit);
        let detach = DetachOptions {
            directory: new.directory.clone().into_os_string(),
            commit: String::from_utf8_lossy(commit).into_owned(),
            limit_ms: millis(limit),
            grace_ms: millis(spec.grace),
            quota: self.options.quota,
            completion_status: spec.completion_status,
        };
        let job_fds = JobFds {
            output,
            control: fds.control,
            stdin,
        };
        let detached = supervised.detach(detach, job_fds).await;
        detached.map_err(|error| error.to_string())?;
        Ok(LaunchedJob {
            supervised,
            script: ScriptFile {
                file: script.into(),
                length: content.len() as u64,
                shares_offset: spec.shell.is_any_bash(),
            },
        })
    }

    /// Removes the directory of a job that did not start.
    fn forget(&self, id: &JobId) {
        if let Ok(job_files) = self.registry.job(id) {
            let _ = std::fs::remove_dir_all(job_files.directory);
        }
    }
}

/// Makes the supervisor record the changes of a job, if requested, before the job begins. Returns
/// the reason if the changes cannot be recorded.
async fn begin_recording(
    spec: &RunSpec,
    supervised: &mut SupervisorClient,
    untraced_reason: Option<&String>,
) -> Option<String> {
    let change_set = spec.trace.as_ref()?;
    if untraced_reason.is_some() {
        return untraced_reason.cloned();
    }
    // Waits for the recorder to open the change set: the host may drop it afterwards.
    let begun = supervised.record_running(change_set).await;
    begun.err().map(|error| error.to_string())
}

fn identity(pid: u32) -> Result<ProcessIdentity, String> {
    i32::try_from(pid)
        .ok()
        .and_then(ProcessIdentity::of)
        .ok_or_else(|| format!("process {pid} ended before it took the script"))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
