//! Takes trailing `| head` and `| tail` out of the command and makes limits of them. Where that gives the same result
//! is `agent-bash-policy`'s to say; what the limits do is `agent-bash-sink`'s.

use crate::call::Call;
use crate::wiring::Wiring;
use agent_bash_core::{Mode, NoticeKind, Request};
use agent_bash_policy::{Parsed, lift, trimmed};

/// Whether the profile wants it of this call. A background job's output goes into a file as the command writes it.
fn is_wanted(tool: &Wiring, request: &Request) -> bool {
    tool.profile.normalise && request.mode != Some(Mode::Background)
}

/// What is read of the command: white space around it means nothing.
pub(crate) fn text<'c>(tool: &Wiring, request: &Request, command: &'c str) -> &'c str {
    if is_wanted(tool, request) {
        trimmed(command)
    } else {
        command
    }
}

/// Puts the limits into the request and says what was lifted. The command without them, if it had any; limits that the
/// caller gave are not added to.
pub(crate) fn take_limits<'c>(
    tool: &Wiring,
    call: &mut Call,
    request: &mut Request,
    read: &Parsed<'c>,
) -> Option<&'c str> {
    if request.head.is_some() || request.tail.is_some() || !is_wanted(tool, request) {
        return None;
    }
    let lifted = lift(read)?;
    (request.head, request.tail) = (lifted.head, lifted.tail);
    let filter = lifted.filter.trim_start_matches('|').trim().to_owned();
    call.notices.push(NoticeKind::Lifted { filter }.into());
    Some(lifted.command)
}
