//! Decides whether a call gets a terminal.
//!
//! All of these must agree: the setting is on, the profile allows it, a host can show it, and the
//! host's environment does not forbid it. That is known when the tool is built; objections of the
//! call itself are checked here.

use crate::refusal::Refusal;
use crate::tool_context::{Terminal, ToolContext};
use agent_bash_core::{Executor, Mode, Request, StdinSource};
use std::sync::Arc;

/// Returns the terminal that the call itself provides. It needs no viewer, and is refused if the
/// host's environment forbids it.
pub(crate) fn of_call(
    tool: &ToolContext,
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

/// The terminal for this call. Not if it wants part of stdout only, as a terminal is a single
/// stream, nor if it has another stdin, as the terminal is the command's stdin.
pub(crate) fn choose<'a>(
    tool: &'a ToolContext,
    request: &Request,
    stdin: StdinSource,
) -> Option<&'a Terminal> {
    let is_fit = request.pty != Some(false)
        && request.mode != Some(Mode::Background)
        && request.session.is_none()
        && request.trial.is_none()
        && request.head.is_none()
        && request.tail.is_none()
        && stdin == StdinSource::Null;
    tool.terminal.as_ref().filter(|_| is_fit)
}
