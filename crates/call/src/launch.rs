//! A supervisor for a call, although its program was just being replaced, or the system refuses one.

use agent_bash_core::{Clock, Notice, NoticeKind};
use agent_bash_process::supervisor::{StartError, Supervised, Supervisor};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

/// Starts a supervisor with `base` as its environment. One that says nothing is started once more: its program may just have
/// been replaced, or the system been out of processes for a moment. `or_fallback`: if there can be none, a thread of this
/// program stands in for it.
///
/// # Errors
/// There is none.
///
/// # Panics
/// Outside of a tokio runtime with I/O enabled.
pub async fn launch(
    supervisor: &Supervisor,
    base: &BTreeMap<OsString, OsString>,
    clock: &Arc<dyn Clock>,
    or_fallback: bool,
) -> Result<Supervised, StartError> {
    let launched = match supervisor.launch(base, clock).await {
        Err(StartError::NoHello) => supervisor.launch(base, clock).await,
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

/// What a call's result says of a supervisor that there is not.
pub fn notice_of_fallback(supervised: &Supervised) -> Option<Notice> {
    let reason = supervised.fallback()?.to_owned();
    Some(NoticeKind::WithoutSupervisor { reason }.into())
}
