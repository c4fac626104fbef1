//! Creates the consumer of the output. The consumer has a bounded buffer for the text. If the text
//! does not show the whole output, the consumer writes the whole output to an artifact. If the
//! artifact store fails, the call continues, and the text has no link.

use crate::call::Call;
use crate::journal::masked;
use crate::tool_context::Terminal;
use crate::tool_context::ToolContext;
use agent_bash_core::{ArtifactMeta, Invocation, Request, StreamId, Streams};
use agent_bash_sink::{CallOptions, CallOutput, CarriageReturn};

/// Returns the streams of a call: merged or separate. A call with `head` or `tail` needs separate
/// streams, because these limits apply only to stdout.
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

/// Returns the consumer of this call's output. A file is created only for an output that is longer
/// than the limits.
pub(crate) fn allocate(
    tool: &ToolContext,
    call: &Call,
    request: &Request,
    streams: Streams,
    terminal: Option<&Terminal>,
) -> CallOutput {
    let options = CallOptions {
        streams,
        limits: call.limits,
        head: request.head,
        tail: request.tail,
        carriage_return: match terminal {
            Some(_) => CarriageReturn::Newline,
            None => CarriageReturn::Overwrite,
        },
        // The limit applies to the model's text, which contains both streams.
        share_window: true,
    };
    let meta = ArtifactMeta {
        command: masked(
            &tool.hide, &tool.environment_policy, request, &request.command,
        ),
        cwd: call.cwd.to_string_lossy().into_owned(),
        started_at: tool.clock.wall(),
    };
    CallOutput::new(options, tool.artifacts.clone(), meta).masked(tool.mask.as_deref())
}
