//! A call that is about to be made: what it will run in is started while it is being judged.

use super::Session;
use crate::stage::parse_input::{self, Input};
use crate::stage::{artifact, terminal};
use agent_bash_core::{Mode, StdinMode, StdinSource};

impl Session {
    /// Says that this call comes next. The shell that it will need is started, and waits for the script; nothing of that runs
    /// before the call is made and has passed all checks. For a program that makes one call, since in others shells wait anyway.
    /// Says nothing for a call that the shell would not fit: in the background, in a named shell, on a terminal, with an input.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O enabled.
    pub fn expect(&self, call: &Input) {
        let tool = &*self.tool.wiring;
        let (Some(shells), Ok(shell)) = (&self.parts.shells, &tool.shell) else {
            return;
        };
        let Ok(parsed) = parse_input::parse(call.clone()) else {
            return;
        };
        let request = parsed.request;
        let is_fit = request.mode != Some(Mode::Background)
            && request.session.is_none()
            && request.stdin == StdinMode::Null
            && terminal::choose(tool, &request, StdinSource::Null).is_none();
        if is_fit {
            let streams = artifact::streams(tool, &request);
            shells.expect(shell, &tool.environment.variables, streams, tool.limits);
        }
    }
}
