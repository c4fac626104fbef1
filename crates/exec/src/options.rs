//! The options of a shell cache, which its calls and sessions read.

use crate::jobs::Jobs;
use crate::snapshot::SnapshotOptions;
use agent_bash_call::{SurvivorHandover, SurvivorRegistry};
use agent_bash_core::{Clock, RunSpec, Timestamp};
use agent_bash_process::supervisor::Supervisor;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Options of a [`ShellCache`](crate::ShellCache).
#[derive(Debug, Clone)]
pub struct ShellCacheOptions {
    /// How to start supervisors.
    pub supervisor: Supervisor,
    /// Used for every wait and every measurement.
    pub clock: Arc<dyn Clock>,
    /// Number of warm shells of each kind (shell, environment, umask, limits). While calls run
    /// concurrently, as many more are kept as there are calls, and afterwards up to four times this
    /// number. 0 starts each shell when it is needed, which suits programs that make one call.
    pub warm_shells: usize,
    /// Warm shells of a kind that was not used for this long are ended.
    pub idle: Duration,
    /// The directory in which sessions create the private directories for their FIFOs.
    pub directory: PathBuf,
    /// The snapshot of the user's shell to load into shells; `None` leaves them bare.
    pub snapshot: Option<SnapshotOptions>,
    /// Bytes that adopted survivors may still write to their call's file.
    pub survivor_quota: u64,
    /// The session's background jobs: those that [`start_job`](crate::ShellCache::start_job)
    /// starts, and survivors of calls. `None`: none can be started, and survivors live on without
    /// being recorded, those of a session's call only as long as the session.
    pub jobs: Option<Arc<Jobs>>,
}

impl ShellCacheOptions {
    /// Options for a program that makes one call and exits: no shells are started ahead.
    pub fn one_shot(supervisor: Supervisor, clock: Arc<dyn Clock>, directory: PathBuf) -> Self {
        Self {
            warm_shells: 0,
            ..Self::long_lived(supervisor, clock, directory)
        }
    }

    /// Options for a host that makes many calls: two warm shells of each kind, kept for five
    /// minutes without a call.
    pub fn long_lived(supervisor: Supervisor, clock: Arc<dyn Clock>, directory: PathBuf) -> Self {
        Self {
            supervisor,
            clock,
            warm_shells: 2,
            idle: Duration::from_secs(300),
            directory,
            snapshot: None,
            survivor_quota: 100 << 20,
            jobs: None,
        }
    }

    /// How a call hands over its survivors. `alone`: its supervisor has no other processes.
    pub(crate) fn handover<'a>(
        &'a self,
        spec: &'a RunSpec,
        started_at: Timestamp,
        alone: bool,
    ) -> SurvivorHandover<'a> {
        SurvivorHandover {
            spec,
            started_at,
            registry: self
                .jobs
                .as_deref()
                .map(|jobs| jobs as &dyn SurvivorRegistry),
            quota: self.survivor_quota,
            alone,
        }
    }
}
