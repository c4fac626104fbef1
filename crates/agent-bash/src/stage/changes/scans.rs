//! Scans the directory before and after a call that cannot be traced. Because scans are slow, a
//! call is scanned only if the settings name a level, and only if the first scan is fast.

use super::store_work::with_store;
use crate::call::Call;
use crate::tool_context::ToolContext;
use agent_bash_changes::{DirectoryScan, Store};
use agent_bash_core::{Executor, Request};
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
    let clock = Arc::clone(&tool.clock);
    let scanned = with_store(tool, call, move |changes, store, root| {
        changes.scan_before(store, root, &*clock)
    });
    let scanned = scanned.await;
    scanned.map_err(|error| format!("{reason}; a scan is not possible either: {error}"))
}
