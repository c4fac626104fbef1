//! Runs a call whose changes are recorded. If the executor finds that the shell cannot be traced,
//! the script does not start, and this module runs the call again with scans.

use super::{ChangeRecord, begin_scan, limit::run_within};
use crate::call::Call;
use crate::stage::run::{self, OutputWatchers};
use crate::tool_context::{Terminal, ToolContext};
use agent_bash_core::{Cancel, NotStarted, Outcome, OutputConsumer, Request, RunSpec};
use agent_bash_sink::CallOutput;

/// Runs the script to its end. `request` and `typed` give the label of the change set.
pub(crate) async fn run(
    tool: &ToolContext,
    call: &mut Call,
    (request, typed): (&Request, &str),
    (terminal, mut spec): (Option<&Terminal>, RunSpec),
    (record, output): (&mut Option<ChangeRecord>, &mut CallOutput),
    mut live: Option<&mut dyn OutputConsumer>,
    cancel: &Cancel,
) -> Result<Outcome, NotStarted> {
    loop {
        // A shorter borrow, which ends with this attempt.
        let live = live
            .as_mut()
            .map(|live| -> &mut dyn OutputConsumer { *live });
        let watched = OutputWatchers::of(live, call);
        let ran = run_within(tool, record.as_mut(), cancel, |cancel| {
            run::run(tool, terminal, &spec, output, watched, cancel)
        });
        let reason = match ran.await {
            Err(NotStarted::Untraced { reason }) if spec.needs_trace => reason,
            ran => return ran,
        };
        *record = begin_scan(tool, call, request, &reason, (record.take(), typed)).await;
        (spec.trace, spec.needs_trace) = (None, false);
    }
}
