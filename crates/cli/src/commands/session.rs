//! The tool as one-shot commands use it: real shells, and artifacts in a session on disk that outlives the process.

use crate::start::Start;
use agent_bash::BashTool;
use agent_bash::core::{Clock, Executor, Profile};
use agent_bash::process::SystemClock;
use agent_bash::process::supervisor::Supervisor;
use agent_bash_exec::{ShellCache, ShellCacheOptions};
use std::path::PathBuf;
use std::sync::Arc;

/// Where the artifacts of the session `name` are; `None` where neither a state directory nor a home is known.
pub(crate) fn artifact_dir(start: &Start, name: &str) -> Option<PathBuf> {
    Some(start.host.state_dir()?.join(name).join("artifacts"))
}

/// A tool of `profile` that runs commands here and keeps their artifacts in the session `name`.
pub(crate) fn tool(profile: &Profile, start: &Start, name: &str) -> BashTool {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let supervisor = Supervisor::this_program(&start.token);
    let options = ShellCacheOptions::one_call(supervisor, Arc::clone(&clock));
    let shells = ShellCache::new(options);
    let executor: Arc<dyn Executor> = Arc::new(shells);
    let builder = BashTool::builder(profile.clone(), start.host.clone(), executor, clock);
    let _ = artifact_dir(start, name);
    builder.build()
}
