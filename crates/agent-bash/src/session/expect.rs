//! Announces a call, so that the shell it needs is started while the call is being judged.

use super::Session;
use crate::stage::parse_input::{self, Input};
use crate::stage::{artifact, terminal};
use agent_bash_core::{Mode, StdinMode, StdinSource};

impl Session {
    /// Announces the next call. The shell that it will need is started and waits for the script; nothing of the
    /// call runs before it is made and has passed all checks. Useful for programs that make a single call, since
    /// others have warm shells anyway. Does nothing for a call that cannot use such a shell: in the background, in
    /// a named shell, on a terminal, with input.
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
