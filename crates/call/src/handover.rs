//! Hands over what a call leaves running: its processes become a job, and their output goes on into the call's
//! file.
//!
//! What is *not* here: the registry of jobs (`agent-bash-exec`), and finding out which processes are left.

use crate::Source;
use agent_bash_core::{JobId, OutputConsumer, RunSpec, Survivor, Timestamp};
use agent_bash_process::ProcessInfo;
use agent_bash_process::supervisor::Supervised;
use async_trait::async_trait;
use std::fmt::Debug;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

/// Turns survivors into jobs, which later calls and programs can list and kill.
#[async_trait]
pub trait SurvivorRegistry: Debug + Send + Sync {
    /// Hands survivors over to their supervisor, as a job. Even if that fails, they are left to the supervisor;
    /// those beside a session's shell only while the shell lives. `None` if they did not become a job, because
    /// there was no room for one, or all have ended by now.
    async fn adopt(&self, adoption: Adoption<'_>) -> Option<JobId>;
}

/// Survivors of a call, and the output they still have open.
#[derive(Debug)]
pub struct Adoption<'a> {
    /// The call's specification.
    pub spec: &'a RunSpec,
    /// When the call's script was handed over.
    pub started_at: Timestamp,
    /// At least one.
    pub survivors: &'a [Survivor],
    /// Their supervisor.
    pub supervised: &'a mut Supervised,
    /// The supervisor has no other processes. If it has (a session's shell), they become a job beside that.
    pub alone: bool,
    /// The output they still write to.
    pub output: &'a OpenOutput<'a>,
    /// Bytes that they may still write to the call's file.
    pub quota: u64,
}

/// Output that may still be written to after its call.
#[derive(Debug)]
pub struct OpenOutput<'a> {
    pipes: Vec<BorrowedFd<'a>>,
    files: Vec<File>,
}

impl<'a> OpenOutput<'a> {
    /// The open output of a call, after the host's last read.
    pub fn of(source: &'a impl Source, out: &mut dyn OutputConsumer) -> Self {
        let (streams, pipes): (Vec<_>, Vec<_>) = source.open().unzip();
        let files = streams.iter().map_while(|id| out.file_for_survivors(*id));
        let mut files: Vec<File> = files.collect();
        if files.len() < pipes.len() {
            files.clear();
        }
        Self { pipes, files }
    }

    /// Our ends of it, for the supervisor to read on.
    pub fn pipes(&self) -> &[BorrowedFd<'a>] {
        &self.pipes
    }

    /// A file for each of [`Self::pipes`], or none: then the output is read and discarded.
    pub fn files(&self) -> Vec<BorrowedFd<'_>> {
        self.files.iter().map(AsFd::as_fd).collect()
    }
}

/// A call that leaves processes behind.
#[derive(Debug, Clone, Copy)]
pub struct SurvivorHandover<'a> {
    /// Its specification.
    pub spec: &'a RunSpec,
    /// When its script was handed over.
    pub started_at: Timestamp,
    /// Where they become a job. Without a registry they live on without being a job.
    pub registry: Option<&'a dyn SurvivorRegistry>,
    /// Bytes that they may still write to the call's file.
    pub quota: u64,
    /// The supervisor has no other processes; otherwise a session's shell continues beside them.
    pub alone: bool,
}

impl SurvivorHandover<'_> {
    /// Hands `survivors`, and the reading of their output, over to the supervisor. Sets the job in each of them. Of those
    /// who are none, nothing would tell when they end: who has ended by now is left out.
    pub async fn adopt(
        self,
        survivors: &mut Vec<Survivor>,
        supervised: &mut Supervised,
        output: OpenOutput<'_>,
    ) {
        if let Some(registry) = self.registry.filter(|_| !survivors.is_empty()) {
            let adoption = Adoption {
                spec: self.spec,
                started_at: self.started_at,
                survivors,
                supervised,
                alone: self.alone,
                output: &output,
                quota: self.quota,
            };
            let job = registry.adopt(adoption).await;
            for survivor in &mut *survivors {
                survivor.job.clone_from(&job);
            }
        } else if self.alone || !output.pipes.is_empty() || !survivors.is_empty() {
            // If the supervisor was killed just now, nobody reads their output any more, but they live. A session's
            // next call finds that its shell is gone, too.
            let (pipes, files) = (output.pipes(), output.files());
            let _ = supervised
                .adopt(pipes, &files, self.alone, self.quota, None)
                .await;
        }
        survivors.retain(|one| one.job.is_some() || !ProcessInfo::has_ended(one.pid.cast_signed()));
    }
}
