//! The tool as one-shot commands use it: real shells, and artifacts in a session on disk that outlives the process.

use crate::Usage;
use crate::start::Start;
use agent_bash::core::{ArtifactStore, Clock, Executor};
use agent_bash::process::SystemClock;
use agent_bash::process::supervisor::Supervisor;
use agent_bash::settings::Settings;
use agent_bash::sink::{ArtifactDir, Lifetime, Naming};
use agent_bash::{BashTool, BashToolBuilder, artifacts};
use agent_bash_exec::{ShellCache, ShellCacheOptions};
use std::sync::Arc;

/// The artifacts of the session `name`; `None` where neither a state directory nor a home is known. What is past its
/// time is removed first.
pub(crate) fn artifact_dir(
    start: &Start,
    name: &str,
    naming: Naming,
) -> anyhow::Result<Option<ArtifactDir>> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    if let Some(root) = artifacts::root(&start.host, naming) {
        ArtifactDir::sweep(&root, naming, clock.wall());
    }
    artifacts::of_session(&start.host, name, naming, Lifetime::Day, clock)
        .map_err(|error| Usage(format!("--state: {error}")).into())
}

/// A tool with these settings that runs commands here and keeps their artifacts in the session `name`.
pub(crate) fn tool(
    settings: &Settings,
    start: &Start,
    name: &str,
) -> anyhow::Result<BashToolBuilder> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let supervisor = Supervisor::this_program(&start.token);
    let options = ShellCacheOptions::one_call(supervisor, Arc::clone(&clock));
    let executor: Arc<dyn Executor> = Arc::new(ShellCache::new(options));
    let profile = settings.profile();
    let naming = artifacts::naming(profile.layout);
    let builder = BashTool::builder(profile, start.host.clone(), executor, clock);
    let builder = settings.configure(builder)?;
    Ok(match artifact_dir(start, name, naming)? {
        Some(dir) => {
            let store: Arc<dyn ArtifactStore> = Arc::new(dir);
            builder.artifacts(store)
        }
        None => builder,
    })
}
