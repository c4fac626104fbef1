//! Where the output goes: bounded for the text, and whole into an artifact if the text does not show all of it.
//! Best effort: a store that fails leaves the run going, and the text without a link.

use crate::call::Call;
use crate::wiring::Terminal;
use crate::wiring::Wiring;
use agent_bash_core::{ArtifactMeta, Request, Streams};
use agent_bash_sink::{CallOptions, CallOutput, CarriageReturn};

/// A pipe or two: `head` and `tail` are about stdout alone, so they need it apart.
pub(crate) fn streams(tool: &Wiring, request: &Request) -> Streams {
    if request.head.is_some() || request.tail.is_some() {
        Streams::Split
    } else {
        tool.profile.streams
    }
}

/// Takes the output of this call. No file is made before there is too much of it.
pub(crate) fn allocate(
    tool: &Wiring,
    call: &Call,
    request: &Request,
    streams: Streams,
    terminal: Option<&Terminal>,
) -> CallOutput {
    let options = CallOptions {
        streams,
        limits: tool.profile.output,
        head: request.head,
        tail: request.tail,
        carriage_return: match terminal {
            Some(_) => CarriageReturn::Newline,
            None => CarriageReturn::Overwrite,
        },
        // The limit is about the text that a model reads, which holds both.
        share_window: true,
    };
    let meta = ArtifactMeta {
        command: request.command.clone(),
        cwd: call.cwd.to_string_lossy().into_owned(),
        started_at: tool.clock.wall(),
    };
    CallOutput::new(options, tool.artifacts.clone(), meta)
}
