//! The sandbox in which a long-lived host reads the user's `~/.bashrc`: no file is written, there
//! is no network, and secrets are hidden. The file runs in the directory of the project, and may
//! run files that sandboxed calls have written.

use crate::HostContext;
use agent_bash_core::Clock;
use agent_bash_core::sandbox::{Network, Plan, SandboxLevel, Tier, TmpDirectory};
use agent_bash_exec::CaptureSandbox;
use agent_bash_settings::{CacheAccess, SandboxSettings};
use agent_bash_state::SandboxState;
use async_trait::async_trait;
use std::path::PathBuf;
use std::sync::Arc;

/// The sandbox of the user's start file.
#[derive(Debug)]
pub(crate) struct StartFileSandbox {
    state: Arc<SandboxState>,
    host: HostContext,
    clock: Arc<dyn Clock>,
}

impl StartFileSandbox {
    /// Returns the sandbox for a host with these settings; `None` if its calls have no sandbox.
    pub(crate) fn of(
        settings: &SandboxSettings,
        host: &HostContext,
        clock: &Arc<dyn Clock>,
    ) -> Option<Self> {
        if settings.level == SandboxLevel::Off {
            return None;
        }
        let settings = SandboxSettings {
            level: SandboxLevel::ReadOnly,
            network: Network::Off,
            hosts: Vec::new(),
            tmp: TmpDirectory::Private,
            caches: CacheAccess::Off,
            ..settings.clone()
        };
        Some(Self {
            state: Arc::new(SandboxState::new(settings).with_host(host)),
            host: host.clone(),
            clock: Arc::clone(clock),
        })
    }
}

#[async_trait]
impl CaptureSandbox for StartFileSandbox {
    fn directory(&self) -> PathBuf {
        self.host.temp_dir()
    }

    async fn plan(&self, tier: Tier) -> Result<Plan, String> {
        let facts = self.state.facts(&self.host, tier);
        let (state, clock) = (Arc::clone(&self.state), Arc::clone(&self.clock));
        let prepare = move || state.prepare(None, facts, false, &*clock);
        let prepared = self.state.file_access.within_limit(&*self.clock, prepare);
        match prepared.await {
            Some(Ok(Some(prepared))) => Ok(Plan::clone(&prepared.plan)),
            Some(Err(error)) => Err(error.to_string()),
            Some(Ok(None)) | None => Err("a file system does not answer".to_owned()),
        }
    }
}
