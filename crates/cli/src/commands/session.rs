//! The tool as one-shot commands use it: real shells, and artifacts in a session on disk that outlives the process.

use crate::Usage;
use crate::start::Start;
use agent_bash::core::{ArtifactStore, Clock, Executor};
use agent_bash::exec::{Jobs, JobsOptions, ShellCache, ShellCacheOptions};
use agent_bash::process::SystemClock;
use agent_bash::process::supervisor::Supervisor;
use agent_bash::settings::Settings;
use agent_bash::sink::{ArtifactDir, Lifetime, Naming};
use agent_bash::{BashTool, BashToolBuilder, artifacts};
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

/// The background jobs of the session `name`; `None` where neither a state directory nor a home is known.
pub(crate) fn jobs(start: &Start, name: &str) -> Option<Arc<Jobs>> {
    let directory = start.host.state_dir()?.join(name).join("jobs");
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    Some(Arc::new(Jobs::new(JobsOptions::new(directory, clock))))
}

/// A tool with these settings that runs commands here and keeps their artifacts in the session `name`.
pub(crate) fn tool(
    settings: &Settings,
    start: &Start,
    name: &str,
) -> anyhow::Result<BashToolBuilder> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let supervisor = Supervisor::this_program(&start.token);
    let jobs = jobs(start, name);
    let shells = Arc::new(ShellCache::new(ShellCacheOptions {
        jobs: jobs.clone(),
        ..ShellCacheOptions::one_call(supervisor, Arc::clone(&clock))
    }));
    let executor: Arc<dyn Executor> = shells.clone();
    let profile = settings.profile();
    let naming = artifacts::naming(profile.layout);
    let builder = BashTool::builder(profile, start.host.clone(), executor, clock);
    let mut builder = settings.configure(builder)?;
    if jobs.is_some() {
        builder = builder.jobs(shells);
    }
    Ok(match artifact_dir(start, name, naming)? {
        Some(dir) => {
            let store: Arc<dyn ArtifactStore> = Arc::new(dir);
            builder.artifacts(store)
        }
        None => builder,
    })
}
