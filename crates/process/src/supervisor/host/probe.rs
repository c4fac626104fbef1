//! Determines what sandboxes enforce on this system, by starting a sandboxed process.

use super::launch::Supervisor;
use super::start_error::StartError;
use crate::supervisor::protocol::{ShellSandbox, ShellStart};
use agent_bash_core::sandbox::{Caches, Level, Network, Plan, Report, Tier};
use agent_bash_core::{Clock, NotStarted, Shell};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Time limit for starting a sandbox, because a file system may never respond. A machine under load
/// needs much less.
const PROBE_TIMEOUT: Duration = Duration::from_secs(8);

impl Supervisor {
    /// Returns what a sandbox of the best tier enforces here. The first time takes a few
    /// milliseconds; the answer is cached, also for clones. `directory` is the parent of the
    /// private directories.
    ///
    /// # Errors
    /// [`NotStarted::SandboxLacks`], [`NotStarted::Sandbox`]: no sandbox is possible here, or none
    /// started within eight seconds; the next call tries the latter again. Others if no supervisor
    /// can be started.
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
        let probe = async || {
            let found = self.probe_sandbox(&env, directory, clock).await;
            let found = found.ok_or_else(|| NotStarted::Sandbox {
                reason: format!("it did not start within {} s", PROBE_TIMEOUT.as_secs()),
            })?;
            match found.map_err(NotStarted::from) {
                Err(lacks @ (NotStarted::SandboxLacks { .. } | NotStarted::Sandbox { .. })) => {
                    Ok(Err(lacks))
                }
                other => other.map(Ok),
            }
        };
        self.confines.get_or_try_init(probe).await?.clone()
    }

    /// Returns `None` on a time-out. Load is no reason for a weaker tier: it would hold for all
    /// calls, and a sandboxed process can cause it.
    async fn probe_sandbox(
        &self,
        env: &BTreeMap<OsString, OsString>,
        directory: &Path,
        clock: &Arc<dyn Clock>,
    ) -> Option<Result<Report, StartError>> {
        match self.probe_tier(Tier::Full, env, directory, clock).await? {
            Err(reason @ (StartError::Sandbox(_) | StartError::SandboxLacks(_))) => {
                tracing::debug!(%reason, "no box of the full tier");
                self.probe_tier(Tier::Base, env, directory, clock).await
            }
            other => Some(other),
        }
    }

    /// Returns `None` on a time-out.
    async fn probe_tier(
        &self,
        tier: Tier,
        env: &BTreeMap<OsString, OsString>,
        directory: &Path,
        clock: &Arc<dyn Clock>,
    ) -> Option<Result<Report, StartError>> {
        let plan = Plan {
            level: Level::ReadOnly,
            network: Network::Off,
            tier,
            writable: Vec::new(),
            hidden: Vec::new(),
            protected: Vec::new(),
            devices: Vec::new(),
            caches: Caches::default(),
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
        let mut supervised = match self.launch(env, clock).await {
            Ok(supervised) => supervised,
            Err(error) => return Some(Err(error)),
        };
        let started = tokio::select! {
            biased;
            started = supervised.start(start, None) => Some(started),
            () = clock.sleep(PROBE_TIMEOUT) => None,
        };
        supervised.close().await;
        let no_report = || StartError::Sandbox("the launcher sent no report".to_owned());
        Some(started?.and_then(|started| started.sandbox.ok_or_else(no_report)))
    }
}
