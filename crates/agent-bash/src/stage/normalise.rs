//! Takes trailing `| head` and `| tail` out of the command and makes limits of them. Where that gives the same result
//! is `agent-bash-policy`'s to say; what the limits do is `agent-bash-sink`'s.

use crate::wiring::Wiring;
use agent_bash_core::{Mode, Notice, NoticeKind, Request};
use agent_bash_policy::normalise;
use std::num::NonZeroU64;

/// Changes the request, where its profile wants that, and says what was lifted.
pub(crate) fn lift(tool: &Wiring, request: &mut Request) -> Option<Notice> {
    // A background job's output goes into a file as the command writes it.
    if !tool.profile.normalise || request.mode == Some(Mode::Background) {
        return None;
    }
    let explicit = request.head.is_some() || request.tail.is_some();
    let normal = normalise(&request.command, explicit);
    request.command = normal.command;
    if normal.lifted.is_empty() {
        return None;
    }
    request.head = normal.head.and_then(NonZeroU64::new);
    request.tail = normal.tail.and_then(NonZeroU64::new);
    let filter = normal.lifted.trim_start_matches('|').trim().to_owned();
    Some(NoticeKind::Lifted { filter }.into())
}
