//! Scans the directory before and after a call that cannot be traced. Because scans are slow, a
//! call is scanned only if the settings name a level, and only if the first scan is fast.

use crate::call::Call;
use crate::tool_context::ToolContext;
use agent_bash_changes::{DirectoryScan, Store};
use agent_bash_core::{Executor, Request};
use agent_bash_state::UNRESPONSIVE_REASON;
use std::sync::Arc;

/// Returns why this call cannot be traced, if the reason is known before the call runs. `known` is
/// a reason that follows from the call's command.
pub(super) async fn find_untraceable_reason(
    tool: &ToolContext,
    request: &Request,
    executor: &dyn Executor,
    known: Option<&str>,
) -> Option<String> {
    if known.is_some() || !tool.changes.is_level_set() {
        return known.map(str::to_owned);
    }
    let remembered = tool
        .changes
        .unrecordable
        .untraceable_reason(request.session.as_ref());
    match remembered {
        Some(reason) => Some(reason),
        None => executor.check_recording().await.err(),
    }
}

/// Scans the directory before a call that cannot be traced for this `reason`.
pub(super) async fn before(
    tool: &ToolContext,
    call: &Call,
    reason: &str,
) -> Result<(Arc<Store>, DirectoryScan), String> {
    let changes = Arc::clone(&tool.changes);
    let (cwd, host, clock) = (call.cwd.clone(), tool.host.clone(), Arc::clone(&tool.clock));
    let work = move || {
        let root = changes
            .settings
            .root_of(&cwd, &host.cwd, host.home.as_deref())?;
        let store = changes.store()?;
        let scan = changes.scan_before(&store, &root, &*clock)?;
        Ok((store, scan))
    };
    let scanned = tool.within_limit(work).await;
    let scanned = scanned.unwrap_or_else(|| Err(UNRESPONSIVE_REASON.to_owned()));
    scanned.map_err(|error| format!("{reason}; a scan is not possible either: {error}"))
}
