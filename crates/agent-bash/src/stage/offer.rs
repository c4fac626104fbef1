//! Refuses requests for features that this tool does not offer. If the tool ignored the field of
//! such a feature, the call would differ from the request.

use crate::tool_context::ToolContext;
use agent_bash_core::{Mode, Request, StdinMode};
use agent_bash_tools::Refusal;

/// Refuses a request that needs a feature that this tool does not offer, or that combines fields
/// that exclude each other.
pub(crate) fn check(tool: &ToolContext, request: &Request) -> Result<(), Refusal> {
    let has_jobs = tool.jobs.is_some() || tool.remote_host.is_some();
    check_request(request, tool.sessions, has_jobs)
}

fn check_request(request: &Request, has_sessions: bool, has_jobs: bool) -> Result<(), Refusal> {
    let is_background = request.mode == Some(Mode::Background);
    let is_limited = request.head.is_some() || request.tail.is_some();
    let missing = if is_background && !has_jobs {
        "background jobs are not offered here; run it in the foreground, with mode `slow` if it takes long"
    } else if is_background && is_limited {
        "the output of a background job goes into a file whole; leave out `head` and `tail`, and read the part you need"
    } else if is_background && request.wait == Some(true) {
        "a background job answers at once; leave out `mode`, or `wait` and wait for the job later"
    } else if is_background && request.session.is_some() {
        "a background job has a shell of its own; leave out `session`"
    } else if request.session.is_some() && !has_sessions {
        "persistent shells are not offered here; leave out `session`, and put `cd` and variables into the command"
    } else if request.stdin == StdinMode::Pipe && !is_background {
        "only a background job has an input that is written later; leave out `stdin`"
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
    fn check_request_refuses_only_features_that_are_not_offered() {
        let plain = Request::new("true");
        let background = plain.clone().mode(Some(Mode::Background));
        let slow = plain.clone().mode(Some(Mode::Slow)).pty(Some(true));
        let session = plain.clone().session(Some(SessionName("a".into())));
        let pipe = plain.clone().stdin(StdinMode::Pipe);
        let limited = background.clone().head(std::num::NonZeroU64::new(3));
        let awaited = background.clone().wait(Some(true));
        let fed = background.clone().stdin(StdinMode::Pipe);
        for (request, sessions, jobs, passes) in [
            (&plain, false, false, true),
            (&slow, false, false, true),
            (&background, true, false, false),
            (&background, false, true, true),
            (&limited, false, true, false),
            (&awaited, false, true, false),
            (&fed, false, true, true),
            (&session, false, true, false),
            (&session, true, false, true),
            (&pipe, true, true, false),
        ] {
            assert_eq!(
                check_request(request, sessions, jobs).is_ok(),
                passes,
                "{request:?}"
            );
        }
    }
}
