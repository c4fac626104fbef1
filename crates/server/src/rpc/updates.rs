//! Converts output of a running call to update messages.

use agent_bash::sink::{LiveKind, LiveUpdate};
use agent_bash_protocol::message::{RpcId, Stream};
use agent_bash_protocol::update::{RpcUpdate, UpdateOutput, UpdateTag};

/// Returns the requested kind of updates; `None` for no updates.
pub(super) fn kind(stream: Stream) -> Option<LiveKind> {
    match stream {
        Stream::Off => None,
        Stream::Snapshot => Some(LiveKind::Snapshot),
        Stream::Delta => Some(LiveKind::Delta),
    }
}

/// Converts an update of the call `id` to a message; `None` for a kind of update that no request
/// can select.
pub(super) fn message(id: Option<RpcId>, update: LiveUpdate) -> Option<RpcUpdate> {
    let (output, total_bytes) = match update {
        LiveUpdate::Snapshot { text, total_bytes } => {
            (UpdateOutput::Snapshot { text }, total_bytes)
        }
        LiveUpdate::Delta {
            rewind,
            text,
            skipped_bytes,
            total_bytes,
        } => {
            let delta = UpdateOutput::Delta {
                delta: text,
                rewind,
                skipped_bytes,
            };
            (delta, total_bytes)
        }
        _ => return None,
    };
    Some(RpcUpdate {
        id,
        kind: UpdateTag::Update,
        output,
        total_bytes,
    })
}
