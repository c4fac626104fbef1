//! Refuses what a call asks for and this tool does not offer. To ignore it would be to answer another question.

use crate::refusal::Refusal;
use agent_bash_core::{Mode, Request, StdinMode};

pub(crate) fn check(request: &Request) -> Result<(), Refusal> {
    let missing = if request.mode == Some(Mode::Background) {
        "background jobs are not offered here; run it in the foreground, with mode `slow` if it takes long"
    } else if request.session.is_some() {
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
        for (request, passes) in [
            (plain.clone(), true),
            (
                Request {
                    mode: Some(Mode::Slow),
                    pty: Some(true),
                    ..plain.clone()
                },
                true,
            ),
            (
                Request {
                    mode: Some(Mode::Background),
                    ..plain.clone()
                },
                false,
            ),
            (
                Request {
                    session: Some(SessionName("a".into())),
                    ..plain.clone()
                },
                false,
            ),
            (
                Request {
                    stdin: StdinMode::Pipe,
                    ..plain
                },
                false,
            ),
        ] {
            assert_eq!(check(&request).is_ok(), passes, "{request:?}");
        }
    }
}
