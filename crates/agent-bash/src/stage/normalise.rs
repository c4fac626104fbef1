//! Lifts filters: converts a trailing `| head` or `| tail` of a command into an output limit.
//! `agent-bash-policy` decides whether the limited output equals the filtered output.
//! `agent-bash-sink` applies the limit.

use crate::call::Call;
use crate::tool_context::ToolContext;
use agent_bash_core::{Mode, NoticeKind, Request};
use agent_bash_policy::{Parsed, lift, trimmed};

/// True if filters of the call may be lifted. Not for a background job, whose file gets the output
/// without limits, and not for an invocation, which runs unchanged.
fn may_lift(tool: &ToolContext, call: &Call, request: &Request) -> bool {
    let is_job = request.mode == Some(Mode::Background);
    tool.profile.normalise && call.invocation.is_none() && !is_job
}

/// Returns the text to parse: the command. If filters may be lifted, surrounding white space is
/// removed.
pub(crate) fn text<'c>(
    tool: &ToolContext,
    call: &Call,
    request: &Request,
    command: &'c str,
) -> &'c str {
    if may_lift(tool, call, request) {
        trimmed(command)
    } else {
        command
    }
}

/// Moves the limits of trailing filters into the request, and adds a notice. Returns the command
/// without the filters, or `None` if no filter was lifted. Does nothing if the request has limits.
pub(crate) fn take_limits<'c>(
    tool: &ToolContext,
    call: &mut Call,
    request: &mut Request,
    parsed: &Parsed<'c>,
) -> Option<&'c str> {
    if request.head.is_some() || request.tail.is_some() || !may_lift(tool, call, request) {
        return None;
    }
    let lifted = lift(parsed)?;
    (request.head, request.tail) = (lifted.head, lifted.tail);
    let filter = lifted.filter.trim_start_matches('|').trim().to_owned();
    call.notices.push(NoticeKind::Lifted { filter }.into());
    Some(lifted.command)
}
