//! What a running call prints, as updates between the request and its response.

use super::message::{RpcId, RpcUpdate, Stream, UpdateOutput, UpdateTag};
use agent_bash::sink::{LiveKind, LiveUpdate};

/// The form of the updates that a request wants, if it wants any.
pub(super) fn kind(stream: Stream) -> Option<LiveKind> {
    match stream {
        Stream::Off => None,
        Stream::Snapshot => Some(LiveKind::Snapshot),
        Stream::Delta => Some(LiveKind::Delta),
    }
}

/// An update of the call `id`, as a line says it.
pub(super) fn message(id: Option<RpcId>, update: LiveUpdate) -> RpcUpdate {
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
    };
    RpcUpdate {
        id,
        kind: UpdateTag::Update,
        output,
        total_bytes,
    }
}
