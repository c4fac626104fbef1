//! Refuses what a call asks for and this tool does not offer. To ignore it would be to answer another question.

use crate::refusal::Refusal;
use crate::tool::Wiring;
use agent_bash_core::{Mode, Request, StdinMode};

pub(crate) fn check(tool: &Wiring, request: &Request) -> Result<(), Refusal> {
    check_request(request, tool.sessions)
}

fn check_request(request: &Request, sessions: bool) -> Result<(), Refusal> {
    let missing = if request.mode == Some(Mode::Background) {
        "background jobs are not offered here; run it in the foreground, with mode `slow` if it takes long"
    } else if request.session.is_some() && !sessions {
        "persistent shells are not offered here; leave out `session`, and put `cd` and variables into the command"
    } else if request.stdin == StdinMode::Pipe {
        "there is nothing here that writes to a command later; leave out `stdin`"
    } else {
        return Ok(());
    };
    Err(Refusal::NotOffered(missing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::SessionName;

    #[test]
    fn what_is_not_offered_is_refused_and_the_rest_passes() {
        let plain = Request::new("true");
        let background = Request {
            mode: Some(Mode::Background),
            ..plain.clone()
        };
        let slow = Request {
            mode: Some(Mode::Slow),
            pty: Some(true),
            ..plain.clone()
        };
        let session = Request {
            session: Some(SessionName("a".into())),
            ..plain.clone()
        };
        let pipe = Request {
            stdin: StdinMode::Pipe,
            ..plain.clone()
        };
        for (request, sessions, passes) in [
            (&plain, false, true),
            (&slow, false, true),
            (&background, true, false),
            (&session, false, false),
            (&session, true, true),
            (&pipe, true, false),
        ] {
            assert_eq!(
                check_request(request, sessions).is_ok(),
                passes,
                "{request:?}"
            );
        }
    }
}
