//! Converts a trailing `| head` or `| tail` of a command into an output limit. `agent-bash-policy`
//! decides whether the result is the same; `agent-bash-sink` applies the limit.

use crate::call::Call;
use crate::tool_context::ToolContext;
use agent_bash_core::{Mode, NoticeKind, Request};
use agent_bash_policy::{Parsed, lift, trimmed};

/// True if filters of the call are lifted. The output of a background job goes into its file
/// unfiltered, and an invocation runs unchanged.
fn is_wanted(tool: &ToolContext, call: &Call, request: &Request) -> bool {
    let is_job = request.mode == Some(Mode::Background);
    tool.profile.normalise && call.invocation.is_none() && !is_job
}

/// Returns the text to parse: the command, without surrounding white space if filters are lifted.
pub(crate) fn text<'c>(
    tool: &ToolContext,
    call: &Call,
    request: &Request,
    command: &'c str,
) -> &'c str {
    if is_wanted(tool, call, request) {
        trimmed(command)
    } else {
        command
    }
}

/// Moves the limits of trailing filters into the request, with a notice. Returns the command
/// without the filters, or `None` if nothing was lifted. Does nothing if the request has limits.
pub(crate) fn take_limits<'c>(
    tool: &ToolContext,
    call: &mut Call,
    request: &mut Request,
    read: &Parsed<'c>,
) -> Option<&'c str> {
    if request.head.is_some() || request.tail.is_some() || !is_wanted(tool, call, request) {
        return None;
    }
    let lifted = lift(read)?;
    (request.head, request.tail) = (lifted.head, lifted.tail);
    let filter = lifted.filter.trim_start_matches('|').trim().to_owned();
    call.notices.push(NoticeKind::Lifted { filter }.into());
    Some(lifted.command)
}
