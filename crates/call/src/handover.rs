//! Turns the survivors of a call into a job whose output continues in the call's file.
//!
//! Not here: the registry of jobs (`agent-bash-exec`), and the search for survivors.

use crate::Source;
use agent_bash_core::{JobId, OutputConsumer, RunSpec, Survivor, Timestamp};
use agent_bash_process::ProcessInfo;
use agent_bash_process::supervisor::SupervisorClient;
use async_trait::async_trait;
use std::fmt::Debug;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

/// Turns survivors into jobs, which later calls and programs can list and kill.
#[async_trait]
pub trait SurvivorRegistry: Debug + Send + Sync {
    /// Hands survivors over to their supervisor as a job. If that fails, the supervisor continues
    /// to watch the survivors, and in a persistent shell only as long as the shell runs. Returns
    /// `None` if there is no job, because the registry is full or all survivors have ended.
    async fn adopt(&self, adoption: Adoption<'_>) -> Option<JobId>;
}

/// Survivors of a call and their open output.
#[derive(Debug)]
pub struct Adoption<'a> {
    /// The call's specification.
    pub spec: &'a RunSpec,
    /// The time at which the script was handed over.
    pub started_at: Timestamp,
    /// The survivors, at least one.
    pub survivors: &'a [Survivor],
    /// The supervisor of the survivors.
    pub supervised: &'a mut SupervisorClient,
    /// True if the supervisor serves only this call. Otherwise its persistent shell continues.
    pub one_shot: bool,
    /// The output that the survivors have open.
    pub output: &'a OpenOutput<'a>,
    /// The number of bytes that the survivors may still write to the call's file.
    pub quota: u64,
}

/// Output streams that survivors may still write to after their call.
#[derive(Debug)]
pub struct OpenOutput<'a> {
    pipes: Vec<BorrowedFd<'a>>,
    files: Vec<File>,
}

impl<'a> OpenOutput<'a> {
    /// Returns the open output of a call, after the host's last read.
    pub fn of(source: &'a impl Source, out: &mut dyn OutputConsumer) -> Self {
        let (streams, pipes): (Vec<_>, Vec<_>) = source.open_streams().unzip();
        let files = streams.iter().map_while(|id| out.file_for_survivors(*id));
        let mut files: Vec<File> = files.collect();
        if files.len() < pipes.len() {
            files.clear();
        }
        Self { pipes, files }
    }

    /// Returns the host's ends of the pipes, from which the supervisor continues to read.
    pub fn pipes(&self) -> &[BorrowedFd<'a>] {
        &self.pipes
    }

    /// Returns one file for each of [`Self::pipes`], or none. Without files, the supervisor
    /// discards the output.
    pub fn files(&self) -> Vec<BorrowedFd<'_>> {
        self.files.iter().map(AsFd::as_fd).collect()
    }
}

/// A call with surviving processes.
#[derive(Debug, Clone, Copy)]
pub struct SurvivorHandover<'a> {
    /// The specification of the call.
    pub spec: &'a RunSpec,
    /// The time at which the script was handed over.
    pub started_at: Timestamp,
    /// The registry of jobs. Without a registry, survivors continue without a job.
    pub registry: Option<&'a dyn SurvivorRegistry>,
    /// The number of bytes that the survivors may still write to the call's file.
    pub quota: u64,
    /// True if the supervisor serves only this call. Otherwise its persistent shell continues.
    pub one_shot: bool,
}

impl SurvivorHandover<'_> {
    /// Hands `survivors` and their output over to the supervisor, and sets the job of each
    /// survivor. Drops exited survivors without a job, because their exit would not be reported.
    pub async fn adopt(
        self,
        survivors: &mut Vec<Survivor>,
        supervised: &mut SupervisorClient,
        output: OpenOutput<'_>,
    ) {
        if let Some(registry) = self.registry.filter(|_| !survivors.is_empty()) {
            let adoption = Adoption {
                spec: self.spec,
                started_at: self.started_at,
                survivors,
                supervised,
                one_shot: self.one_shot,
                output: &output,
                quota: self.quota,
            };
            let job = registry.adopt(adoption).await;
            for survivor in &mut *survivors {
                survivor.job.clone_from(&job);
            }
        } else if self.one_shot || !output.pipes.is_empty() || !survivors.is_empty() {
            // An error means that the supervisor was just killed: the survivors continue, and their
            // output is no longer read. The next call of a persistent shell detects that its shell
            // has ended as well.
            let (pipes, files) = (output.pipes(), output.files());
            let _ = supervised
                .adopt(pipes, &files, self.one_shot, self.quota, None)
                .await;
        }
        survivors.retain(|survivor| {
            survivor.job.is_some() || !ProcessInfo::has_ended(survivor.pid.cast_signed())
        });
    }
}
