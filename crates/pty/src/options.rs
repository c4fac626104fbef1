//! The options of an executor on terminals.

use crate::PtySize;
use crate::colors::TerminalColors;
use agent_bash_call::SurvivorRegistry;
use agent_bash_core::Clock;
use agent_bash_process::supervisor::Supervisor;
use std::path::PathBuf;
use std::sync::Arc;

/// Options of a [`PtyExecutor`](crate::PtyExecutor).
#[derive(Debug, Clone)]
pub struct PtyOptions {
    /// Starts the supervisors.
    pub supervisor: Supervisor,
    /// The clock for all waits and measurements.
    pub clock: Arc<dyn Clock>,
    /// Initial size of terminals.
    pub size: PtySize,
    /// The answer to programs that query the terminal's colours.
    pub colors: TerminalColors,
    /// The directory for private directories of sandboxed shells.
    pub directory: PathBuf,
    /// The number of bytes that adopted survivors may still write to their call's file.
    pub survivor_quota: u64,
    /// Registers a call's survivors as a job. `None`: survivors continue without an entry.
    pub jobs: Option<Arc<dyn SurvivorRegistry>>,
}

impl PtyOptions {
    /// Returns options with a size of 120 × 40, light text on black, and 100 MiB for survivors.
    pub fn new(supervisor: Supervisor, clock: Arc<dyn Clock>, directory: PathBuf) -> Self {
        Self {
            supervisor,
            clock,
            size: PtySize::default(),
            colors: TerminalColors::default(),
            directory,
            survivor_quota: 100 << 20,
            jobs: None,
        }
    }

    /// Registers survivors as jobs of `jobs`, if there is a registry.
    #[must_use]
    pub fn with_jobs<J: SurvivorRegistry + 'static>(mut self, jobs: Option<Arc<J>>) -> Self {
        self.jobs = jobs.map(|jobs| jobs as _);
        self
    }
}
