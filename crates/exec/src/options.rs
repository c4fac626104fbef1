//! The options of a shell cache, its calls and its sessions.

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
    /// Starts the supervisors.
    pub supervisor: Supervisor,
    /// The clock for all waits and measurements.
    pub clock: Arc<dyn Clock>,
    /// Number of warm shells of each kind (shell, environment, umask, limits). While calls run
    /// concurrently, the cache keeps one more shell per running call. Afterwards, it keeps up to
    /// four times this number. 0 starts each shell when it is needed, which suits programs that
    /// make one call.
    pub warm_shells: usize,
    /// Warm shells of a kind that no call has used for this time are ended.
    pub idle: Duration,
    /// The directory in which sessions create the private directories for their FIFOs.
    pub directory: PathBuf,
    /// The user's configuration that shells load; `None` loads none.
    pub snapshot: Option<SnapshotOptions>,
    /// Maximum number of bytes that adopted survivors may still write to their call's file.
    pub survivor_quota: u64,
    /// The background jobs: jobs started by [`start_job`](crate::ShellCache::start_job), and
    /// survivors of calls. With `None`, no job can be started, and survivors continue without being
    /// listed; survivors of a persistent shell's call end with that shell.
    pub jobs: Option<Arc<Jobs>>,
}

impl ShellCacheOptions {
    /// Returns the means by which a shell is started.
    pub(crate) fn starter(&self) -> (&Supervisor, &Arc<dyn Clock>) {
        (&self.supervisor, &self.clock)
    }

    /// Returns options for a program that makes one call and exits: no shell is started in advance.
    pub fn one_shot(supervisor: Supervisor, clock: Arc<dyn Clock>, directory: PathBuf) -> Self {
        Self {
            warm_shells: 0,
            ..Self::long_lived(supervisor, clock, directory)
        }
    }

    /// Returns options for a host that makes many calls: two warm shells of each kind, ended after
    /// five minutes without a call.
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

    /// Returns how a call hands over its survivors. `one_shot`: the supervisor serves only this
    /// call.
    pub(crate) fn handover<'a>(
        &'a self,
        spec: &'a RunSpec,
        started_at: Timestamp,
        one_shot: bool,
    ) -> SurvivorHandover<'a> {
        SurvivorHandover {
            spec,
            started_at,
            registry: self
                .jobs
                .as_deref()
                .map(|jobs| jobs as &dyn SurvivorRegistry),
            quota: self.survivor_quota,
            one_shot,
        }
    }
}
