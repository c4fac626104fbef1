//! Converts trailing `| head` and `| tail` of a command into output limits. `agent-bash-policy`
//! decides when that gives the same result; `agent-bash-sink` applies the limits.

use crate::call::Call;
use crate::tool_context::ToolContext;
use agent_bash_core::{Mode, NoticeKind, Request};
use agent_bash_policy::{Parsed, lift, trimmed};

/// True if the profile lifts limits for the call. A background job's output goes into its file as
/// the command writes it; an invocation runs as it is.
fn is_wanted(tool: &ToolContext, call: &Call, request: &Request) -> bool {
    let is_job = request.mode == Some(Mode::Background);
    tool.profile.normalise && call.invocation.is_none() && !is_job
}

/// The part of the command that is parsed, without surrounding white space, which has no meaning.
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

/// Moves the limits into the request and reports what was lifted. Returns the command without them,
/// if it had any. Does nothing if the caller gave limits.
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
