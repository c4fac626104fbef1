//! Refuses commands that could do unintended harm. The rules are in `agent-bash-policy`.

use crate::call::Call;
use crate::tool_context::ToolContext;
use agent_bash_policy::{Context, Script, Verdict, check_safety};
use std::sync::Arc;

/// Judges the command. One that is not blocked is passed on with its verdict, for the host to
/// decide. A script that cannot be parsed and contains nothing harmful passes: bash itself reports
/// the error.
pub(crate) fn check(tool: &ToolContext, script: &Script<'_>) -> Verdict {
    check_safety(script, &tool.rules)
}

/// Returns the facts for a verdict besides the script.
pub(crate) fn context(tool: &ToolContext, call: &Call) -> Context {
    Context {
        cwd: call.cwd.clone(),
        home: tool.host.home.clone(),
        dialect: tool.dialect(),
        predefined: Arc::clone(&call.predefined),
    }
}
