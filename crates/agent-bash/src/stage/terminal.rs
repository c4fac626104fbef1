//! Decides whether a call gets a terminal.
//!
//! A call gets a terminal only if the setting is on, the profile allows terminals, and the host can
//! show a terminal. The host's environment can forbid terminals. These conditions are checked when
//! the tool is built. This module checks the call.

use crate::tool_context::{Terminal, ToolContext};
use agent_bash_core::{Executor, Mode, Request, StdinSource};
use agent_bash_tools::Refusal;
use std::sync::Arc;

/// Returns the terminal with the `executor` that the call itself provides. The host need not show
/// this terminal. Refuses if the host's environment forbids terminals.
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
            "the variable AGENT_BASH_NO_PTY forbids terminals; run the command without a terminal",
        )),
    }
}

/// Returns the terminal for this call; `None` if the call runs without a terminal. A call with
/// `head` or `tail` needs a separate stdout, and a call with another stdin cannot use the terminal
/// as stdin.
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
