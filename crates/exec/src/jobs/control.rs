//! Waits for jobs, ends them, and writes to their stdin: from any process, through the job's
//! supervisor.

use crate::jobs::entry::JobFiles;
use crate::jobs::{Job, JobError, JobState, Jobs};
use agent_bash_core::{Cancel, JobId, Survivor, or_never};
use agent_bash_process::supervisor::{JobClient, JobKilled};
use agent_bash_process::{Leftovers, ProcessIdentity};
use rustix::process::Signal;
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
        let limit = or_never(deadline.map(|deadline| clock.sleep(deadline)));
        tokio::pin!(limit);
        let mut last: Option<JobFiles> = None;
        loop {
            let job_files = match (self.registry.job(id), last) {
                (Err(_), Some(last)) if last.is_from_supervisor => last.renewed(),
                (found, _) => found?,
            };
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
            last = Some(job_files);
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
        let mut stuck = Vec::new();
        match self.connect(&job_files).await {
            Ok(Some(client)) => stuck = self.end(&job_files, client, grace).await,
            Ok(None) => {
                self.end_members(&Members::Leftovers(job_files.leftovers()), grace)
                    .await;
            }
            // A command may have removed the socket.
            Err(error) => {
                let found = self.registry.job_of_supervisor(id).ok_or(error)?;
                self.end_members(&Members::BelowSupervisor(&found), grace)
                    .await;
                self.wait_for_end(&found).await;
            }
        }
        let job = self.show_after(job_files)?;
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
        let mut client = match self.connect(&job_files).await {
            Ok(Some(client)) => client,
            Ok(None) => return Ok(job_files.leftovers().survivors()),
            // A command may have removed the socket.
            Err(error) => {
                let found = self.registry.job_of_supervisor(id).ok_or(error)?;
                return Ok(found.leftovers().survivors());
            }
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
        let unreachable = |source| {
            let id = job_files.id.clone();
            JobError::Unreachable { id, source }
        };
        let give_up = clock.now() + ANSWER_TIMEOUT;
        loop {
            if job_files.entry.supervisor.is_dead() {
                return Ok(None);
            }
            let _ = job_files.entry.supervisor.wake();
            match JobClient::connect(&job_files.directory).await {
                Ok(client) if client.is_of(&job_files.entry.supervisor) => {
                    return Ok(Some(client));
                }
                Ok(_) => {
                    let reason = "another process listens on its socket";
                    return Err(unreachable(io::Error::other(reason)));
                }
                // The job has ended, but its supervisor continues for other processes.
                Err(_)
                    if job_files.entry.is_adopted
                        && !self.registry.job(&job_files.id)?.is_running() =>
                {
                    return Ok(None);
                }
                // The supervisor may be exiting: it removes its socket before it exits.
                Err(_) if clock.now() < give_up => clock.sleep(POLL_INTERVAL).await,
                Err(source) => return Err(unreachable(source)),
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
            .is_ok_and(|now| now.is_lost())
        {
            let leftovers = Members::Leftovers(job_files.leftovers());
            self.end_members(&leftovers, Duration::ZERO).await;
        }
        Vec::new()
    }

    /// Waits until the supervisor has recorded the end of a job, for at most [`AFTER_GRACE`].
    async fn wait_for_end(&self, job_files: &JobFiles) {
        let clock = &self.options.clock;
        let give_up = clock.now() + AFTER_GRACE;
        while job_files.clone().renewed().is_running() && clock.now() < give_up {
            clock.sleep(POLL_INTERVAL / 10).await;
        }
    }

    /// Returns a job that was read before, with its present state. The supervisor that had the
    /// job's description may have exited meanwhile.
    fn show_after(&self, before: JobFiles) -> Result<Job, JobError> {
        match self.registry.job(&before.id) {
            Ok(now) => Ok(now.to_job()),
            Err(_) if before.is_from_supervisor => Ok(before.renewed().to_job()),
            Err(error) => Err(error),
        }
    }

    /// Ends processes of a job from this process, because no supervisor takes the request.
    async fn end_members(&self, members: &Members<'_>, grace: Duration) {
        let clock = &self.options.clock;
        if members.find().is_empty() {
            return;
        }
        if !grace.is_zero() {
            members.signal(&[Signal::TERM, Signal::CONT]);
        }
        let kill_at = clock.now() + grace;
        while clock.now() < kill_at && !members.find().is_empty() {
            clock.sleep(POLL_INTERVAL).await;
        }
        let give_up = clock.now() + AFTER_GRACE;
        while members.signal(&[Signal::KILL]) > 0 && clock.now() < give_up {
            clock.sleep(POLL_INTERVAL / 4).await;
        }
    }
}

/// The processes of a job that its supervisor does not end.
enum Members<'a> {
    /// The supervisor was killed.
    Leftovers(Leftovers),
    /// The supervisor is alive, and its socket was removed.
    BelowSupervisor(&'a JobFiles),
}

impl Members<'_> {
    fn find(&self) -> Vec<ProcessIdentity> {
        match self {
            Self::Leftovers(leftovers) => leftovers.find(),
            Self::BelowSupervisor(job_files) => {
                let entry = &job_files.entry;
                // The supervisor of survivors may also have a shell and other jobs.
                let first = entry.is_adopted.then_some(entry.process.pid);
                job_files.leftovers().below_supervisor(first)
            }
        }
    }

    /// Sends the signals to all members, and returns the number of the members. A member may fork
    /// meanwhile.
    fn signal(&self, signals: &[Signal]) -> usize {
        let found = self.find();
        for process in &found {
            for signal in signals {
                // The process may have ended.
                let _ = process.signal(signal.as_raw());
            }
        }
        found.len()
    }
}
