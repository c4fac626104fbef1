//! Resolves the settings of the sandbox to a plan.

use super::{caches, git_config};
use agent_bash_core::sandbox::{TmpDirectory, WriteLevel};
use agent_bash_os::PrivateDir;
use agent_bash_sandbox::{HostFacts, ResolveError, ResolvedSandbox, WantedSandbox, resolve};
use agent_bash_settings::{CacheAccess, SandboxSettings};
use std::path::{Path, PathBuf};

/// Directories of the state directory that calls may not read. The host creates them before the
/// first call, because a mount hides only what exists when a shell starts.
const HIDDEN_DIRECTORIES: [&str; 3] = ["changes", "journal", "targets"];

/// Returns the input for [`resolve`]: the sandbox that the settings want at `level`.
fn wanted(settings: &SandboxSettings, level: WriteLevel, facts: &HostFacts) -> WantedSandbox {
    WantedSandbox {
        caches: caches::shared(settings.caches, facts),
        network: settings.network,
        hosts: settings.hosts.clone(),
        writable: settings.writable.clone(),
        readable: settings.readable.clone(),
        hidden: settings.hidden.clone(),
        protected: settings.protected.clone(),
        devices: settings.devices.clone(),
        shared_tmp: settings.tmp == TmpDirectory::Shared,
        ..WantedSandbox::new(level)
    }
}

/// Resolves the plan of the sandbox, and creates the private caches, the copy of git's
/// configuration and the hidden directories in the state directory `state`. Returns `None` if the
/// settings ask for no sandbox.
pub(super) fn resolved(
    settings: &SandboxSettings,
    facts: &HostFacts,
    state: Option<&Path>,
) -> Result<Option<ResolvedSandbox>, ResolveError> {
    let Some(level) = settings.level.write_level() else {
        return Ok(None);
    };
    if let Some(state) = state.filter(|state| !state.exists()) {
        // A mount can protect it only if it exists.
        let _ = PrivateDir::create(state, &[]);
    }
    let mut resolved = resolve(&wanted(settings, level, facts), facts)?;
    for (state, name) in state
        .iter()
        .flat_map(|it| HIDDEN_DIRECTORIES.map(|name| (it, name)))
    {
        let _ = PrivateDir::create(state, &[name]);
    }
    if let (Some(workspace), Some(state)) = (&resolved.workspace, state) {
        let plan = &mut resolved.plan;
        if settings.caches == CacheAccess::Private {
            plan.caches = caches::private(plan, workspace, facts, state);
        }
        let home = facts.home.as_deref().unwrap_or(Path::new(""));
        let absolute = |path: &PathBuf| match path.strip_prefix("~") {
            Ok(below) => home.join(below),
            Err(_) => path.clone(),
        };
        let user_protected: Vec<PathBuf> = settings.protected.iter().map(absolute).collect();
        plan.git_config = git_config::redirected(plan, workspace, &user_protected, state);
    }
    Ok(Some(resolved))
}
