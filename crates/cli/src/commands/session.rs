//! The tool as one-shot commands use it: real shells, and artifacts in a session on disk that outlives the process.

use crate::Usage;
use crate::start::Start;
use agent_bash::core::Clock;
use agent_bash::exec::Jobs;
use agent_bash::process::SystemClock;
use agent_bash::process::supervisor::Supervisor;
use agent_bash::session::{OpenError, Session, SessionOptions, jobs_of_session};
use agent_bash::settings::Settings;
use agent_bash::sink::{ArtifactDir, Lifetime, Naming};
use agent_bash::{BashToolBuilder, artifacts};
use std::sync::Arc;

/// The artifacts of the session `name`; `None` where neither a state directory nor a home is known. What is past its
/// time is removed first.
pub(crate) fn artifact_dir(start: &Start, name: &str) -> anyhow::Result<Option<ArtifactDir>> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    if let Some(root) = start.host.state_dir() {
        ArtifactDir::sweep(&root, clock.wall());
    }
    // Nothing is made by it, so it does not matter how files would be called.
    artifacts::of_session(&start.host, name, Naming::Numbered, Lifetime::Day, clock)
        .map_err(|error| Usage(format!("--state: {error}")).into())
}

/// The background jobs of the session `name`; `None` where neither a state directory nor a home is known.
pub(crate) fn jobs(start: &Start, name: &str) -> Option<Arc<Jobs>> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    jobs_of_session(&start.host, name, &clock)
}

/// The session `name` with these settings, for a call or a few; its artifacts stay for `lifetime`.
pub(crate) fn open(
    settings: &Settings,
    start: &Start,
    name: &str,
    lifetime: Lifetime,
) -> anyhow::Result<Session> {
    open_with(settings, start, name, lifetime, |builder| builder)
}

/// As [`open`], with what the tool gets besides.
pub(crate) fn open_with(
    settings: &Settings,
    start: &Start,
    name: &str,
    lifetime: Lifetime,
    add: impl FnOnce(BashToolBuilder) -> BashToolBuilder,
) -> anyhow::Result<Session> {
    let supervisor = Supervisor::this_program(&start.token);
    let options = SessionOptions {
        lifetime,
        ..SessionOptions::one_call(name, supervisor)
    };
    Session::open_with(settings, start.host.clone(), options, add).map_err(|error| match error {
        OpenError::Name(error) => Usage(format!("--state: {error}")).into(),
        OpenError::Rule(error) => error.into(),
    })
}
