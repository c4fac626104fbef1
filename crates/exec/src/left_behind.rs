//! What a call leaves behind goes on without it: its processes as a job, and what they print in the call's file.
//!
//! What is *not* here: the job's entry (`jobs`), and who is left at all (the calls).

use crate::cache::ShellCacheOptions;
use crate::jobs::Adoption;
use crate::streams::OutputStreams;
use agent_bash_core::{OutputConsumer, RunSpec, Survivor, Timestamp};
use agent_bash_process::supervisor::Supervised;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

/// The call that leaves them.
#[derive(Debug)]
pub(crate) struct LeftBehind<'a> {
    pub(crate) spec: &'a RunSpec,
    pub(crate) options: &'a ShellCacheOptions,
    pub(crate) started_at: Timestamp,
    pub(crate) supervised: &'a mut Supervised,
    /// The supervisor has nobody else; if it has, a session's shell goes on beside them.
    pub(crate) alone: bool,
    /// The host's last read of them is done; what comes from now on is the supervisor's.
    pub(crate) streams: &'a OutputStreams,
}

impl LeftBehind<'_> {
    /// Leaves `survivors` to the supervisor, their output included, and says in each which job it is.
    pub(crate) async fn adopt(self, survivors: &mut [Survivor], out: &mut dyn OutputConsumer) {
        let open: Vec<_> = self.streams.open().collect();
        let files: Vec<File> = open
            .iter()
            .filter_map(|(stream, _)| out.file_for_survivors(*stream))
            .collect();
        let pipes: Vec<BorrowedFd<'_>> = open.iter().map(|(_, pipe)| *pipe).collect();
        let files: Vec<BorrowedFd<'_>> = if files.len() == pipes.len() {
            files.iter().map(AsFd::as_fd).collect()
        } else {
            Vec::new()
        };
        let quota = self.options.survivor_quota;
        let jobs = self.options.jobs.as_ref();
        if let Some(jobs) = jobs.filter(|_| !survivors.is_empty()) {
            let adoption = Adoption {
                spec: self.spec,
                started_at: self.started_at,
                survivors,
                supervised: self.supervised,
                alone: self.alone,
                pipes: &pipes,
                files: &files,
                quota,
            };
            let job = jobs.adopt(adoption).await;
            for survivor in survivors {
                survivor.job.clone_from(&job);
            }
        } else if self.alone || !pipes.is_empty() || !survivors.is_empty() {
            // Gone: it was killed in this moment. Nobody reads on for them, but they live; a session's next call finds that
            // its shell is gone, too.
            let adopted = self.supervised.adopt(&pipes, &files, self.alone, quota);
            let _ = adopted.await;
        }
    }
}
