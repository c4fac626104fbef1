//! Chooses a terminal or none.
//!
//! A command gets one where all agree: the setting is on, the profile may use one, a host is there to show it, and the
//! host's environment does not forbid it. That is known when the tool is made; what a call can say against it is here.

use crate::refusal::Refusal;
use crate::wiring::{Terminal, Wiring};
use agent_bash_core::{Executor, Mode, Request, StdinSource};
use std::sync::Arc;

/// The terminal that a call brings itself. Nobody needs to be there to see it; what the host's environment forbids is refused.
pub(crate) fn of_call(
    tool: &Wiring,
    executor: Option<Arc<dyn Executor>>,
) -> Result<Option<Terminal>, Refusal> {
    let Some(executor) = executor else {
        return Ok(None);
    };
    match Terminal::offered(executor, &tool.host, &tool.environment_policy) {
        Some(terminal) => Ok(Some(terminal)),
        None => Err(Refusal::NotOffered(
            "terminals are forbidden here (AGENT_BASH_NO_PTY); run it without one",
        )),
    }
}

/// The terminal for this call. A terminal is one stream, so that a part of stdout alone cannot be had of it, and it is the
/// command's input itself.
pub(crate) fn choose<'a>(
    tool: &'a Wiring,
    request: &Request,
    stdin: StdinSource,
) -> Option<&'a Terminal> {
    let is_fit = request.pty != Some(false)
        && request.mode != Some(Mode::Background)
        && request.session.is_none()
        && request.head.is_none()
        && request.tail.is_none()
        && stdin == StdinSource::Null;
    tool.terminal.as_ref().filter(|_| is_fit)
}
