//! Sets up the tool for one-shot commands: real shells, and artifacts in a state directory that
//! outlives the process.

use crate::args::ChosenSettings;
use crate::process_start::StartContext;
use crate::usage::UsageError;
use agent_bash::core::{Clock, OutputMask};
use agent_bash::exec::Jobs;
use agent_bash::process::SystemClock;
use agent_bash::process::supervisor::Supervisor;
use agent_bash::session::{Conversation, ConversationOptions, OpenError, jobs_of_session};
use agent_bash::settings::Settings;
use agent_bash::sink::{ArtifactDir, Lifetime, Naming};
use agent_bash::{BashToolBuilder, artifacts};
use std::sync::Arc;

/// Returns the artifacts of the session `name`, after a step of the sweep of all artifacts; `None`
/// if neither a state directory nor a home is known.
pub(crate) fn artifact_dir(
    start: &StartContext,
    name: &str,
) -> anyhow::Result<Option<ArtifactDir>> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    if let Some(root) = start.host.state_dir() {
        ArtifactDir::sweep_when_due(&root, clock.wall());
    }
    // No artifact is created here, so the naming does not matter.
    artifacts::of_session(&start.host, name, Naming::Numbered, Lifetime::Day, clock)
        .map_err(|error| UsageError(format!("--state: {error}")).into())
}

/// Returns the mask for secrets in stored outputs; `None` if the settings mask nothing.
pub(crate) fn output_mask(start: &StartContext) -> Option<Arc<dyn OutputMask>> {
    let loaded = start.settings(&ChosenSettings::default()).ok()?;
    loaded.settings.output_mask(&start.host)
}

/// Returns the background jobs of the session `name`; `None` if neither a state directory nor a
/// home is known.
pub(crate) fn jobs(start: &StartContext, name: &str) -> Option<Arc<Jobs>> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    jobs_of_session(&start.host, name, &clock)
}

/// Opens the session `name` for a few harmless calls; its artifacts are removed when it ends.
pub(crate) fn open_for_checks(
    settings: &Settings,
    start: &StartContext,
    supervisor: &Supervisor,
    name: &str,
) -> anyhow::Result<Conversation> {
    let (lifetime, unchanged) = (Lifetime::Session, |builder| builder);
    open_with(settings, start, supervisor, name, lifetime, unchanged)
}

/// Opens the session `name` with these settings, for one or a few calls; its artifacts are kept for
/// `lifetime`. `add` adds parts to the tool.
pub(crate) fn open_with(
    settings: &Settings,
    start: &StartContext,
    supervisor: &Supervisor,
    name: &str,
    lifetime: Lifetime,
    add: impl FnOnce(BashToolBuilder) -> BashToolBuilder,
) -> anyhow::Result<Conversation> {
    let options = ConversationOptions {
        lifetime,
        ..ConversationOptions::one_shot(name, supervisor.clone())
    };
    Conversation::open_with(settings, start.host.clone(), options, add).map_err(not_opened)
}

/// Converts the error of opening a session. The name of the session comes from `--state`.
pub(super) fn not_opened(error: OpenError) -> anyhow::Error {
    match error {
        OpenError::Name(error) => UsageError(format!("--state: {error}")).into(),
        other => other.into(),
    }
}
