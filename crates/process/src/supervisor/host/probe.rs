//! Determines what sandboxes enforce on this system, by starting a sandboxed process.

use super::launch::Supervisor;
use super::start_error::StartError;
use crate::supervisor::protocol::{ShellSandbox, ShellStart};
use agent_bash_core::sandbox::{Level, Network, Plan, Report, Tier};
use agent_bash_core::{Clock, NotStarted, Shell};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Time limit for starting a sandbox: a file system that does not respond would block it forever.
const PROBE_TIMEOUT: Duration = Duration::from_millis(500);

impl Supervisor {
    /// Returns what a sandbox of the best available tier enforces. The first time takes a few
    /// milliseconds, at most a second; the answer is cached, also for clones. `directory` is the
    /// parent of the private directories.
    ///
    /// # Errors
    /// [`NotStarted::SandboxLacks`] or [`NotStarted::Sandbox`] if no sandbox is possible; others if
    /// no supervisor can be started.
    ///
    /// # Panics
    /// Panics outside a tokio runtime with I/O enabled.
    pub async fn confines(
        &self,
        directory: &Path,
        clock: &Arc<dyn Clock>,
    ) -> Result<Report, NotStarted> {
        // The probe needs no variables of the host.
        let env = BTreeMap::new();
        let found = self.confines.get_or_init(async || {
            let found = self.probe_sandbox(&env, directory, clock).await;
            found.map_err(NotStarted::from)
        });
        found.await.clone()
    }

    async fn probe_sandbox(
        &self,
        env: &BTreeMap<OsString, OsString>,
        directory: &Path,
        clock: &Arc<dyn Clock>,
    ) -> Result<Report, StartError> {
        match self.probe_tier(Tier::Full, env, directory, clock).await {
            Err(reason @ (StartError::Sandbox(_) | StartError::SandboxLacks(_))) => {
                tracing::debug!(%reason, "no box of the full tier");
                self.probe_tier(Tier::Base, env, directory, clock).await
            }
            other => other,
        }
    }

    async fn probe_tier(
        &self,
        tier: Tier,
        env: &BTreeMap<OsString, OsString>,
        directory: &Path,
        clock: &Arc<dyn Clock>,
    ) -> Result<Report, StartError> {
        let plan = Plan {
            level: Level::ReadOnly,
            network: Network::Off,
            tier,
            writable: Vec::new(),
            hidden: Vec::new(),
            protected: Vec::new(),
            devices: Vec::new(),
        };
        let nothing = ["-c", ":"].map(OsString::from);
        let start = ShellStart {
            sandbox: Some(ShellSandbox {
                plan: Some(plan),
                trial: None,
                private_mounts: false,
                trace: false,
                directory: directory.to_owned(),
                writable: Vec::new(),
            }),
            ..ShellStart::of(&Shell::bash("/bin/sh"), nothing.into())
        };
        let mut supervised = self.launch(env, clock).await?;
        let started = tokio::select! {
            biased;
            started = supervised.start(start, None) => started,
            () = clock.sleep(PROBE_TIMEOUT) => {
                let reason = format!("it was not set up within {} ms", PROBE_TIMEOUT.as_millis());
                Err(StartError::Sandbox(reason))
            }
        };
        supervised.close().await;
        let no_report = || StartError::Sandbox("nothing was said about it".to_owned());
        started?.sandbox.ok_or_else(no_report)
    }
}
