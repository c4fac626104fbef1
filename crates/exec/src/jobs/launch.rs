//! How a job is started: a shell that waits for its script is handed over to its own supervisor, script and all.

use crate::call::script_file;
use crate::jobs::entry::Entry;
use crate::jobs::{Job, JobError, JobKind, Jobs, Reserved};
use crate::pool::WaitingShell;
use crate::record;
use agent_bash_core::{JobId, NotStarted, RunSpec};
use agent_bash_process::ProcessIdentity;
use agent_bash_process::supervisor::{Detach, JobFds, Supervised};
use rustix::fs::{fstat, tell};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// A job that ends within this time is reported as ended, not as started (spec 2.6).
const EARLY: Duration = Duration::from_millis(250);

/// A job to be: what is to run, and the shell that will.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    /// What is to run; both its streams go into one pipe.
    pub(crate) spec: &'a RunSpec,
    /// Who will.
    pub(crate) shell: WaitingShell,
    /// The call's variables are set by the record: the shell was started without them.
    pub(crate) exports: bool,
    /// Writing end of what it reads.
    pub(crate) stdin: Option<OwnedFd>,
}

/// Nothing of the script has run: the shell, or its supervisor, was gone. Another shell can have it, in the same place.
#[derive(Debug)]
pub(crate) struct Unlaunched<'a> {
    pub(crate) reserved: Reserved<'a>,
    pub(crate) reason: String,
}

/// A job that runs, while its first moments are watched.
#[derive(Debug)]
struct Young {
    supervised: Supervised,
    script: OwnedFd,
    script_length: u64,
}

impl Jobs {
    /// Starts a job in its place, and watches its first moments.
    pub(crate) async fn launch<'a>(
        &self,
        reserved: Reserved<'a>,
        launch: Launch<'_>,
    ) -> Result<Result<Job, JobError>, Unlaunched<'a>> {
        let spec = launch.spec;
        let young = match self.detach(&reserved, launch).await {
            Ok(young) => young,
            Err(reason) => return Err(Unlaunched { reserved, reason }),
        };
        // Others may make theirs from here on.
        let Reserved { new, locked } = reserved;
        let id = new.keep();
        drop(locked);

        let Young {
            mut supervised,
            script,
            script_length,
        } = young;
        tokio::select! {
            biased;
            _ = supervised.job_ended() => {
                if let Some(reason) = not_run(&script, script_length, spec) {
                    supervised.close().await;
                    self.forget(&id);
                    return Ok(Err(NotStarted::new(reason).into()));
                }
            }
            () = self.options.clock.sleep(EARLY) => {}
        }
        Ok(self.show(&id))
    }

    async fn detach(&self, reserved: &Reserved<'_>, launch: Launch<'_>) -> Result<Young, String> {
        let Launch {
            spec,
            shell,
            exports,
            stdin,
        } = launch;
        let WaitingShell {
            mut supervised,
            fds,
            snapshot,
        } = shell;
        let readable = |error: io::Error| error.to_string();
        let (content, commit) = script_file(spec, &fds, snapshot.as_deref(), exports);
        let script = File::from(fds.script);
        // The shell shares the place where it is read, so that must not move.
        script.write_all_at(&content, 0).map_err(readable)?;
        let entry = Entry {
            kind: JobKind::Started,
            command: spec.script.clone(),
            cwd: spec.cwd.to_string_lossy().into_owned(),
            process: identity(fds.pid)?,
            pgid: fds.pid,
            supervisor: identity(supervised.pid())?,
            pipe: fstat(&fds.stdout).ok().map(|stat| stat.st_ino),
            output: None,
            stdin: stdin.is_some(),
            started_at: self.options.clock.wall(),
        };
        let new = &reserved.new;
        new.make_output()
            .and_then(|()| new.write(&entry))
            .map_err(readable)?;
        let limit = spec.timeout.unwrap_or(self.options.limit);
        let order = Detach {
            directory: new.directory.clone().into_os_string(),
            commit: String::from_utf8_lossy(commit).into_owned(),
            limit_ms: millis(limit),
            grace_ms: millis(spec.grace),
            quota: self.options.quota,
        };
        let taken = JobFds {
            output: fds.stdout,
            control: fds.control,
            stdin,
        };
        let detached = supervised.detach(order, taken).await;
        detached.map_err(|error| error.to_string())?;
        Ok(Young {
            supervised,
            script: script.into(),
            script_length: content.len() as u64,
        })
    }

    /// Removes a job that never was one.
    fn forget(&self, id: &JobId) {
        if let Ok(record) = self.registry.job(id) {
            let _ = std::fs::remove_dir_all(record.directory);
        }
    }
}

/// Why nothing of the script has run, if nothing has. The script file knows: see [`crate::call`].
fn not_run(script: &OwnedFd, written: u64, spec: &RunSpec) -> Option<String> {
    let length = fstat(script).map_or(0, |stat| stat.st_size.unsigned_abs());
    if length == written + record::FAILURE.len() as u64 {
        return Some(format!("`{}` could not be entered", spec.cwd.display()));
    }
    (spec.shell.is_bash && tell(script) == Ok(0))
        .then(|| "its shell ended before it took the script".to_owned())
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
