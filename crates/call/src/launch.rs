//! Launches a supervisor for a call, even while the supervisor's program file is being replaced, or
//! if the system refuses new processes.

use agent_bash_core::{Clock, Notice, NoticeKind};
use agent_bash_process::supervisor::{StartError, Supervisor, SupervisorClient};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

/// Starts a supervisor with `base` as its environment. If the supervisor does not answer, the start
/// is tried once more: the program file may just have been replaced, or the process limit may have
/// been reached. With `or_fallback`, a thread of this process replaces a supervisor that cannot be
/// started.
///
/// # Errors
/// The supervisor cannot be started.
///
/// # Panics
/// Panics outside a tokio runtime with I/O enabled.
pub async fn launch(
    supervisor: &Supervisor,
    base: &BTreeMap<OsString, OsString>,
    clock: &Arc<dyn Clock>,
    or_fallback: bool,
) -> Result<SupervisorClient, StartError> {
    let launched = match supervisor.launch(base, clock).await {
        Err(StartError::NoHello | StartError::EndedEarly(_)) => {
            supervisor.launch(base, clock).await
        }
        other => other,
    };
    match launched {
        Err(error) if or_fallback => {
            tracing::warn!(%error, "running without a supervisor");
            let fallback = Supervisor::fallback_because(error.to_string());
            fallback.launch(base, clock).await
        }
        launched => launched,
    }
}

/// Returns the notices of a call about its supervisor: that a thread replaces it, and which limits
/// of the shell's cgroup were reached since the call before.
pub fn supervisor_notices(supervised: &mut SupervisorClient) -> Vec<Notice> {
    let mut notices = supervised.limit_notices();
    if let Some(reason) = supervised.fallback_reason() {
        let reason = reason.to_owned();
        notices.push(NoticeKind::WithoutSupervisor { reason }.into());
    }
    notices
}
