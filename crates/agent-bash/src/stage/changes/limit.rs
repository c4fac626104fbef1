//! Limits the size of a trial's changes. The kernel writes the changes to an overlay, whose size is
//! checked periodically.

use super::ChangeRecord;
use crate::tool_context::ToolContext;
use agent_bash_changes::size_of;
use agent_bash_core::Cancel;
use agent_bash_state::run_blocking;
use std::time::Duration;

/// Minimum time between two checks. In this time, a trial can exceed the limit.
const MIN_INTERVAL: Duration = Duration::from_millis(500);

/// The pause after a check, as a multiple of the check's duration: a check reads the whole overlay.
const INTERVAL_FACTOR: u32 = 20;

/// Waits for `run`, and cancels it if the trial's changes exceed the maximum size of a change set.
pub(crate) async fn run_within<T, F: Future<Output = T>>(
    tool: &ToolContext,
    changing: Option<&mut ChangeRecord>,
    cancel: &Cancel,
    run: impl FnOnce(Cancel) -> F,
) -> T {
    let cancel = cancel.child();
    let mut run = std::pin::pin!(run(cancel.clone()));
    let record = changing.and_then(|record| record.trial().map(|trial| (record, trial)));
    let Some((changing, trial)) = record else {
        return run.await;
    };
    let max = tool.changes.settings.max_set_mb << 20;
    let is_exceeded = async {
        let mut pause = MIN_INTERVAL;
        loop {
            tool.clock.sleep(pause).await;
            let begun = tool.clock.now();
            let upper = trial.upper.clone();
            // If no thread can be started, the next check decides.
            let size = run_blocking(move || size_of(&upper)).await.unwrap_or(0);
            if size > max {
                return;
            }
            let spent = tool.clock.now().saturating_sub(begun);
            pause = MIN_INTERVAL.max(spent.saturating_mul(INTERVAL_FACTOR));
        }
    };
    tokio::select! {
        biased;
        ran = &mut run => return ran,
        () = is_exceeded => {}
    }
    changing.is_full = true;
    cancel.cancel();
    run.await
}
