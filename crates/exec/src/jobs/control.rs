//! Waits for jobs, ends them, and writes to their stdin: from any process, through the job's
//! supervisor.

use crate::jobs::entry::JobFiles;
use crate::jobs::{Job, JobError, JobState, Jobs};
use agent_bash_core::{Cancel, JobId, Survivor};
use agent_bash_process::supervisor::{JobClient, JobKilled};
use std::io;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe::Sender;

/// Polling interval if the job has no supervisor that reports its end.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Maximum time after the grace period until a kill returns, even if processes withstand SIGKILL.
const AFTER_GRACE: Duration = Duration::from_secs(1);

/// Time limit for a supervisor to accept a connection, to send a descriptor, or to exit.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// The result of waiting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitOutcome {
    /// The job has ended, or is lost.
    Over(Job),
    /// The wait timed out; the job is still running.
    StillRunning(Job),
    /// The wait was cancelled; the job is still running.
    Cancelled(Job),
}

/// The result of a request to end a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KillOutcome {
    /// The state of the job after the request.
    pub job: Job,
    /// The job's processes that are still alive. A process that withstands SIGKILL is in
    /// uninterruptible sleep.
    pub survivors: Vec<Survivor>,
}

impl Jobs {
    /// Waits until a job has ended, at most for `deadline` (`None`: without a limit). The job is
    /// not affected.
    ///
    /// # Errors
    /// [`JobError::Unknown`], [`JobError::Registry`].
    pub async fn wait(
        &self,
        id: &JobId,
        deadline: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<WaitOutcome, JobError> {
        let clock = &self.options.clock;
        let limit = async {
            match deadline {
                Some(deadline) => clock.sleep(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(limit);
        loop {
            let job_files = self.registry.job(id)?;
            if !job_files.is_running() {
                return Ok(WaitOutcome::Over(job_files.to_job()));
            }
            let ended = async {
                match JobClient::connect(&job_files.directory).await {
                    Ok(mut client) => drop(client.ended().await),
                    // The supervisor is exiting, or cannot be reached. This loop then polls the
                    // job's files.
                    Err(_) => clock.sleep(POLL_INTERVAL).await,
                }
            };
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Ok(WaitOutcome::Cancelled(job_files.to_job())),
                () = ended => {}
                () = &mut limit => return Ok(WaitOutcome::StillRunning(job_files.to_job())),
            }
        }
    }

    /// Ends a job and all its processes: SIGTERM and SIGCONT, then SIGKILL after `grace`. If the
    /// job has already ended, ends its remaining processes. Returns as soon as all processes have
    /// ended, at the latest a second after the grace period.
    ///
    /// # Errors
    /// [`JobError::Unknown`], [`JobError::Unreachable`], [`JobError::Registry`].
    pub async fn kill(&self, id: &JobId, grace: Duration) -> Result<KillOutcome, JobError> {
        let job_files = self.registry.job(id)?;
        job_files.mark_kill_requested();
        let stuck = if let Some(client) = self.connect(&job_files).await? {
            self.end(&job_files, client, grace).await
        } else {
            self.end_remaining(&job_files, grace).await;
            Vec::new()
        };
        let job = self.show(id)?;
        // The job's files now tell how the job ended.
        let survivors = match &job.state {
            _ if !stuck.is_empty() => stuck,
            JobState::Running => self.processes(id).await?,
            JobState::Ended(_) | JobState::Lost { .. } => job.remaining.clone(),
        };
        Ok(KillOutcome { job, survivors })
    }

    /// Writes to a job's stdin, for at most `deadline`.
    ///
    /// # Errors
    /// [`JobError::NoStdin`], [`JobError::NotRead`] (the job may still read input that is in the
    /// pipe), [`JobError::Unknown`], [`JobError::Unreachable`], [`JobError::Registry`].
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O enabled.
    pub async fn write_stdin(
        &self,
        id: &JobId,
        bytes: &[u8],
        deadline: Duration,
    ) -> Result<(), JobError> {
        let no_stdin = || JobError::NoStdin { id: id.clone() };
        let mut client = self.connect_for_stdin(id).await?;
        let stdin = self.within_answer_timeout(id, client.stdin()).await?;
        let stdin = stdin.ok().flatten().ok_or_else(no_stdin)?;
        let mut pipe = Sender::from_owned_fd(stdin).map_err(|_| no_stdin())?;
        let mut written = 0;
        let write = async {
            while written < bytes.len() {
                match pipe.write(&bytes[written..]).await {
                    Ok(count) => written += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => return Err(no_stdin()),
                }
            }
            Ok(())
        };
        tokio::select! {
            biased;
            done = write => return done,
            () = self.options.clock.sleep(deadline) => {}
        }
        Err(JobError::NotRead {
            id: id.clone(),
            written,
            length: bytes.len(),
        })
    }

    /// Closes a job's stdin.
    ///
    /// # Errors
    /// [`JobError::NoStdin`], [`JobError::Unknown`], [`JobError::Unreachable`],
    /// [`JobError::Registry`].
    pub async fn close_stdin(&self, id: &JobId) -> Result<(), JobError> {
        let mut client = self.connect_for_stdin(id).await?;
        match self.within_answer_timeout(id, client.close_stdin()).await? {
            Ok(true) => Ok(()),
            _ => Err(JobError::NoStdin { id: id.clone() }),
        }
    }

    /// Returns the living processes of a job, from its supervisor or, without a supervisor, from a
    /// scan of `/proc`.
    ///
    /// # Errors
    /// [`JobError::Unknown`], [`JobError::Unreachable`], [`JobError::Registry`].
    pub async fn processes(&self, id: &JobId) -> Result<Vec<Survivor>, JobError> {
        let job_files = self.registry.job(id)?;
        let Some(mut client) = self.connect(&job_files).await? else {
            return Ok(job_files.leftovers().survivors());
        };
        let survivors = self.within_answer_timeout(id, client.survivors()).await?;
        Ok(survivors.unwrap_or_default())
    }

    /// Waits for a supervisor's answer for at most [`ANSWER_TIMEOUT`].
    async fn within_answer_timeout<T>(
        &self,
        id: &JobId,
        answer: impl Future<Output = T>,
    ) -> Result<T, JobError> {
        tokio::select! {
            biased;
            answer = answer => Ok(answer),
            () = self.options.clock.sleep(ANSWER_TIMEOUT) => Err(JobError::Unreachable {
                id: id.clone(),
                source: io::ErrorKind::TimedOut.into(),
            }),
        }
    }

    /// Connects to the supervisor of a running job that has a stdin.
    async fn connect_for_stdin(&self, id: &JobId) -> Result<JobClient, JobError> {
        let job_files = self.registry.job(id)?;
        let no_stdin = || JobError::NoStdin { id: id.clone() };
        if !job_files.entry.stdin || !job_files.is_running() {
            return Err(no_stdin());
        }
        self.connect(&job_files).await?.ok_or_else(no_stdin)
    }

    /// Connects to a job's supervisor; returns `None` if the supervisor has exited. Sends SIGCONT
    /// first, in case the supervisor was stopped.
    async fn connect(&self, job_files: &JobFiles) -> Result<Option<JobClient>, JobError> {
        let clock = &self.options.clock;
        let give_up = clock.now() + ANSWER_TIMEOUT;
        loop {
            if job_files.entry.supervisor.is_dead() {
                return Ok(None);
            }
            let _ = job_files.entry.supervisor.wake();
            match JobClient::connect(&job_files.directory).await {
                Ok(client) => return Ok(Some(client)),
                // The job has ended, but its supervisor continues for other processes.
                Err(_)
                    if job_files.entry.is_adopted
                        && !self.registry.job(&job_files.id)?.is_running() =>
                {
                    return Ok(None);
                }
                // The supervisor may be exiting: it removes its socket before it exits.
                Err(_) if clock.now() < give_up => clock.sleep(POLL_INTERVAL).await,
                Err(source) => {
                    return Err(JobError::Unreachable {
                        id: job_files.id.clone(),
                        source,
                    });
                }
            }
        }
    }

    /// Ends a job through its supervisor. Returns the processes that withstand SIGKILL.
    async fn end(
        &self,
        job_files: &JobFiles,
        mut client: JobClient,
        grace: Duration,
    ) -> Vec<Survivor> {
        let clock = &self.options.clock;
        if client.end(grace).is_ok() {
            tokio::select! {
                biased;
                killed = client.killed() => if let JobKilled::Stuck(survivors) = killed {
                    return survivors;
                },
                () = clock.sleep(grace + AFTER_GRACE) => {}
            }
        }
        // Waits until the supervisor has exited, so that later requests do not find the job
        // running. The supervisor of an adopted job may continue for other processes.
        let give_up = clock.now() + AFTER_GRACE;
        while !job_files.entry.is_adopted
            && job_files.entry.supervisor.is_alive()
            && clock.now() < give_up
        {
            clock.sleep(POLL_INTERVAL / 10).await;
        }
        // The supervisor may have been killed meanwhile.
        if self
            .registry
            .job(&job_files.id)
            .is_ok_and(|now| matches!(now.state, JobState::Lost { .. }))
        {
            self.end_remaining(job_files, Duration::ZERO).await;
        }
        Vec::new()
    }

    /// Ends the remaining processes from this process, because the job has no supervisor.
    async fn end_remaining(&self, job_files: &JobFiles, grace: Duration) {
        let clock = &self.options.clock;
        let leftovers = job_files.leftovers();
        if leftovers.find().is_empty() {
            return;
        }
        if !grace.is_zero() {
            leftovers.terminate();
        }
        let kill_at = clock.now() + grace;
        while clock.now() < kill_at && !leftovers.find().is_empty() {
            clock.sleep(POLL_INTERVAL).await;
        }
        let give_up = clock.now() + AFTER_GRACE;
        while leftovers.kill() > 0 && clock.now() < give_up {
            clock.sleep(POLL_INTERVAL / 4).await;
        }
    }
}
