//! Determines what sandboxes enforce on this system, by starting a sandboxed process.

use super::launch::Supervisor;
use super::start_error::StartError;
use crate::supervisor::protocol::{ShellSandbox, ShellStart};
use agent_bash_core::sandbox::{Plan, Report, Tier, WriteLevel};
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
    /// Starts a sandbox of the best tier that this system supports, and returns its report. The
    /// first call takes a few milliseconds; the result is cached, also for clones. `directory` is
    /// the parent of the private directories.
    ///
    /// # Errors
    /// [`NotStarted::SandboxLacks`], [`NotStarted::Sandbox`]: no sandbox is possible here, or none
    /// started within eight seconds. A timeout is not cached: the next call tries again. Others if
    /// no supervisor can be started.
    ///
    /// # Panics
    /// Panics outside a tokio runtime with I/O enabled.
    pub async fn sandbox_report(
        &self,
        directory: &Path,
        clock: &Arc<dyn Clock>,
    ) -> Result<Report, NotStarted> {
        let probe = async || {
            let report = self.probe_sandbox(directory, clock).await;
            let report = report.ok_or_else(|| NotStarted::Sandbox {
                reason: format!("it did not start within {} s", PROBE_TIMEOUT.as_secs()),
            })?;
            match report.map_err(NotStarted::from) {
                Err(lacks @ (NotStarted::SandboxLacks { .. } | NotStarted::Sandbox { .. })) => {
                    Ok(Err(lacks))
                }
                other => other.map(Ok),
            }
        };
        self.sandbox_report.get_or_try_init(probe).await?.clone()
    }

    /// Returns the report of a sandbox of the best possible tier; `None` on a time-out. A time-out
    /// does not select a weaker tier, because all later calls would use that tier, and because a
    /// sandboxed process can cause the time-out.
    async fn probe_sandbox(
        &self,
        directory: &Path,
        clock: &Arc<dyn Clock>,
    ) -> Option<Result<Report, StartError>> {
        match self.probe_tier(Tier::Full, directory, clock).await? {
            Err(reason @ (StartError::Sandbox(_) | StartError::SandboxLacks(_))) => {
                tracing::debug!(%reason, "no sandbox of the full tier");
                self.probe_tier(Tier::Base, directory, clock).await
            }
            other => Some(other),
        }
    }

    /// Returns the report of a sandbox of this tier; `None` on a time-out.
    async fn probe_tier(
        &self,
        tier: Tier,
        directory: &Path,
        clock: &Arc<dyn Clock>,
    ) -> Option<Result<Report, StartError>> {
        let plan = Plan::new(WriteLevel::ReadOnly, tier);
        let empty_command = ["-c", ":"].map(OsString::from);
        let start = ShellStart {
            sandbox: Some(ShellSandbox {
                plan: Some(plan),
                directory: directory.to_owned(),
                ..ShellSandbox::default()
            }),
            ..ShellStart::of(&Shell::bash(probe_shell()), empty_command.into())
        };
        // The probe needs no variables of the host.
        let mut client = match self.launch(&BTreeMap::new(), clock).await {
            Ok(client) => client,
            Err(error) => return Some(Err(error)),
        };
        let started = tokio::select! {
            biased;
            started = client.start(start, None) => Some(started),
            () = clock.sleep(PROBE_TIMEOUT) => None,
        };
        client.close().await;
        let no_report = || StartError::Sandbox("the launcher sent no report".to_owned());
        Some(started?.and_then(|started| started.sandbox.ok_or_else(no_report)))
    }
}

/// Returns the shell that a probe starts. A container with bash alone has no `/bin/sh`.
fn probe_shell() -> &'static str {
    let shells = ["/bin/sh", "/bin/bash", "/usr/bin/bash"];
    let found = shells.into_iter().find(|shell| Path::new(shell).exists());
    found.unwrap_or("/bin/sh")
}
