//! Sets up where the output goes: bounded for the text, and in full into an artifact if the text
//! does not show all of it. Best effort: if the store fails, the run continues and the text has no
//! link.

use crate::call::Call;
use crate::journal::hidden;
use crate::tool_context::Terminal;
use crate::tool_context::ToolContext;
use agent_bash_core::{ArtifactMeta, Invocation, Request, StreamId, Streams};
use agent_bash_sink::{CallOptions, CallOutput, CarriageReturn};

/// Merged or separate streams: `head` and `tail` apply to stdout only, so they need it separately.
pub(crate) fn streams(
    tool: &ToolContext,
    invocation: Option<&Invocation>,
    request: &Request,
) -> Streams {
    if let Some(invocation) = invocation {
        if invocation.captured.contains(&StreamId::Merged) {
            Streams::Merged
        } else {
            Streams::Split
        }
    } else if request.head.is_some() || request.tail.is_some() {
        Streams::Split
    } else {
        tool.profile.streams
    }
}

/// The consumer for this call's output. No file is created unless there is too much output.
pub(crate) fn allocate(
    tool: &ToolContext,
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
        // The limit applies to the model's text, which contains both.
        share_window: true,
    };
    let meta = ArtifactMeta {
        command: hidden(
            &tool.hide,
            &tool.environment_policy,
            request,
            &request.command,
        ),
        cwd: call.cwd.to_string_lossy().into_owned(),
        started_at: tool.clock.wall(),
    };
    CallOutput::new(options, tool.artifacts.clone(), meta)
}
