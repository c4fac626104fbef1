//! Chooses a terminal or none.
//!
//! A command gets one where all agree: the setting is on, the profile may use one, a host is there to show it, and the
//! host's environment does not forbid it. That is known when the tool is made; what a call can say against it is here.

use crate::HostContext;
use crate::refusal::Refusal;
use crate::tool::Wiring;
use agent_bash_core::{Executor, Mode, Request, StdinSource};
use agent_bash_process::environment::{Attendance, BaseEnvironment, EnvironmentPolicy};
use std::ffi::OsString;
use std::sync::Arc;

/// Each of these forbids terminals where it is `1`: ours, and one that other agents set.
const FORBIDS: [&str; 2] = ["AGENT_BASH_NO_PTY", "PI_NO_PTY"];

/// How commands run on terminals.
#[derive(Clone)]
pub(crate) struct Terminal {
    pub(crate) executor: Arc<dyn Executor>,
    /// With the defaults for programs that somebody sees.
    pub(crate) environment: BaseEnvironment,
}

impl Terminal {
    /// A terminal by `executor`, unless the host's environment forbids it.
    pub(crate) fn offered(
        executor: Arc<dyn Executor>,
        host: &HostContext,
        policy: &EnvironmentPolicy,
    ) -> Option<Self> {
        let is_one = |name: &str| {
            let value = host.env.get(&OsString::from(name));
            value.is_some_and(|value| value == "1")
        };
        if FORBIDS.into_iter().any(is_one) {
            return None;
        }
        let policy = EnvironmentPolicy {
            unattended: policy.unattended.map(|_| Attendance::Terminal),
            ..policy.clone()
        };
        let variables = host.env.iter();
        let variables = variables.map(|(name, value)| (name.clone(), value.clone()));
        Some(Self {
            executor,
            environment: BaseEnvironment::build(variables, &policy),
        })
    }
}

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
