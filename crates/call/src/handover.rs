//! What a call leaves behind goes on without it: its processes as a job, and what they print in the call's file.
//!
//! What is *not* here: the registry that jobs are entered into (`agent-bash-exec`), and who is left at all.

use crate::Source;
use agent_bash_core::{JobId, OutputConsumer, RunSpec, Survivor, Timestamp};
use agent_bash_process::supervisor::Supervised;
use async_trait::async_trait;
use std::fmt::Debug;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

/// Where survivors become jobs, which can be listed and ended by whoever comes later.
#[async_trait]
pub trait SurvivorRegistry: Debug + Send + Sync {
    /// Hands survivors over to their supervisor as a job. They are handed over in any case, though in a session
    /// only as long as its shell lives; `None` if they could not become a job.
    async fn adopt(&self, adoption: Adoption<'_>) -> Option<JobId>;
}

/// Survivors of a call, and what they still write to.
#[derive(Debug)]
pub struct Adoption<'a> {
    /// What the call was.
    pub spec: &'a RunSpec,
    /// When the call's script was handed over.
    pub started_at: Timestamp,
    /// At least one.
    pub survivors: &'a [Survivor],
    /// Their supervisor.
    pub supervised: &'a mut Supervised,
    /// The supervisor has no other processes. Otherwise (it has a session's shell) they become a job besides that.
    pub alone: bool,
    /// What they still print into.
    pub output: &'a OpenOutput<'a>,
    /// Bytes that they may still write to the call's file.
    pub quota: u64,
}

/// Output that somebody may still print into when its call is over.
#[derive(Debug)]
pub struct OpenOutput<'a> {
    pipes: Vec<BorrowedFd<'a>>,
    files: Vec<File>,
}

impl<'a> OpenOutput<'a> {
    /// That of a call. The host's last read of it is done.
    pub fn of(source: &'a impl Source, out: &mut dyn OutputConsumer) -> Self {
        let (streams, pipes): (Vec<_>, Vec<_>) = source.open().unzip();
        let files = streams.iter().map_while(|id| out.file_for_survivors(*id));
        let mut files: Vec<File> = files.collect();
        if files.len() < pipes.len() {
            files.clear();
        }
        Self { pipes, files }
    }

    /// Our ends of it, for somebody else to read on.
    pub fn pipes(&self) -> &[BorrowedFd<'a>] {
        &self.pipes
    }

    /// A file for each of [`Self::pipes`], or none: then what is printed is read and dropped.
    pub fn files(&self) -> Vec<BorrowedFd<'_>> {
        self.files.iter().map(AsFd::as_fd).collect()
    }
}

/// The call that leaves somebody behind.
#[derive(Debug, Clone, Copy)]
pub struct SurvivorHandover<'a> {
    /// What it was.
    pub spec: &'a RunSpec,
    /// When its script was started.
    pub started_at: Timestamp,
    /// Where they become a job; without it they live on and are no job.
    pub registry: Option<&'a dyn SurvivorRegistry>,
    /// Bytes that they may still write to the call's file.
    pub quota: u64,
    /// The supervisor has no other processes; otherwise a session's shell continues beside them.
    pub alone: bool,
}

impl SurvivorHandover<'_> {
    /// Leaves `survivors` to the supervisor, and with them the reading of what they print. Says in each which job it is.
    pub async fn adopt(
        self,
        survivors: &mut [Survivor],
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
            for survivor in survivors {
                survivor.job.clone_from(&job);
            }
        } else if self.alone || !output.pipes.is_empty() || !survivors.is_empty() {
            // If it was killed in this moment nobody reads on for them, but they live; a session's next call finds that its
            // shell is gone, too.
            let (pipes, files) = (output.pipes(), output.files());
            let _ = supervised
                .adopt(pipes, &files, self.alone, self.quota)
                .await;
        }
    }
}
