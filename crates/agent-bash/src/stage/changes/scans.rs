//! Scans the directory before and after a call that cannot be traced. Because scans are slow, a
//! call is scanned only if the settings name a level, and only if the first scan is fast.

use crate::call::Call;
use crate::tool_context::ToolContext;
use agent_bash_changes::{ChangesError, DirectoryScan, Store};
use agent_bash_core::changes::Changes;
use agent_bash_core::{Clock, Executor, Request};
use agent_bash_state::{ChangeStore, UNRESPONSIVE_REASON};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Time limit of the scan before a call. The call waits for the scan.
const TIMEOUT_BEFORE: Duration = Duration::from_millis(100);

/// Time limit of the scan after a call. It is longer, because the call may have created files.
const TIMEOUT_AFTER: Duration = Duration::from_secs(1);

/// Maximum number of scanned files. Each takes some hundred bytes of memory until the call has
/// ended.
const MAX_FILES: usize = 100_000;

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
        let scan = scan_within(&changes, &store, &root, &*clock, TIMEOUT_BEFORE)?;
        Ok((store, scan))
    };
    let scanned = tool
        .sandbox
        .file_access
        .within_limit(&*tool.clock, work)
        .await;
    let scanned = scanned.unwrap_or_else(|| Err(UNRESPONSIVE_REASON.to_owned()));
    scanned.map_err(|error| format!("{reason}; a scan is not possible either: {error}"))
}

/// Scans the directory again, and returns the differences from the scan `before`. Blocks.
pub(super) fn after(
    changes: &ChangeStore,
    store: &Store,
    before: &DirectoryScan,
    clock: &dyn Clock,
) -> Result<Changes, String> {
    let after = scan_within(changes, store, before.root(), clock, TIMEOUT_AFTER)?;
    let compared = store.scan_after(changes.session(), before, &after);
    compared.map_err(|error| error.to_string())
}

/// Scans `root`. Fails beyond [`MAX_FILES`] files or the time limit; the next call then does not
/// try again.
fn scan_within(
    changes: &ChangeStore,
    store: &Store,
    root: &Path,
    clock: &dyn Clock,
    limit: Duration,
) -> Result<DirectoryScan, String> {
    if changes.unrecordable.was_too_large(root) {
        return Err(format!(
            "`{}` has too many files for a scan",
            root.display()
        ));
    }
    let until = clock.now() + limit;
    let scanned = store.scan_before(root, |files| files < MAX_FILES && clock.now() < until);
    if let Err(ChangesError::TooManyFiles { .. }) = scanned {
        changes.unrecordable.remember_too_large(root);
    }
    scanned.map_err(|error| error.to_string())
}
