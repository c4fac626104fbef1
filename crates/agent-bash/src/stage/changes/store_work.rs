//! Work with the store of the changes of a call.

use crate::call::Call;
use crate::tool_context::ToolContext;
use agent_bash_changes::Store;
use agent_bash_state::{ChangeStore, UNRESPONSIVE_REASON};
use std::path::Path;
use std::sync::Arc;

/// Runs `work` with the store and the root of a call's changes on another thread, because a file
/// system may be slow.
pub(super) async fn with_store<T: Send + 'static>(
    tool: &ToolContext,
    call: &Call,
    work: impl FnOnce(&ChangeStore, &Store, &Path) -> Result<T, String> + Send + 'static,
) -> Result<(Arc<Store>, T), String> {
    let changes = Arc::clone(&tool.changes);
    let (cwd, host) = (call.cwd.clone(), tool.host.clone());
    let work = move || {
        let settings = &changes.settings;
        let root = settings.root_of(&cwd, &host.cwd, host.home.as_deref())?;
        let store = changes.store()?;
        let done = work(&changes, &store, &root)?;
        Ok((store, done))
    };
    let done = tool.within_limit(work).await;
    done.unwrap_or_else(|| Err(UNRESPONSIVE_REASON.to_owned()))
}
