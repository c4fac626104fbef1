//! What a running call prints, as updates between the request and its response.

use super::message::{RpcId, RpcUpdate, Stream, UpdateOutput, UpdateTag};
use super::outbox::Outbox;
use crate::live;
use agent_bash::sink::{LiveKind, LiveUpdate, LiveUpdates};
use std::future::Future;
use std::pin::pin;

/// The updates of one call.
pub(super) struct Updates<'a> {
    pub(super) live: LiveUpdates,
    id: Option<RpcId>,
    outbox: &'a Outbox,
    /// Taken from `live` and not in the outbox yet.
    pending: Option<RpcUpdate>,
    over: bool,
}

impl<'a> Updates<'a> {
    /// Of the call `id`; `None` where it wants none.
    pub(super) fn new(stream: Stream, id: Option<RpcId>, outbox: &'a Outbox) -> Option<Self> {
        let kind = match stream {
            Stream::Off => return None,
            Stream::Snapshot => LiveKind::Snapshot,
            Stream::Delta => LiveKind::Delta,
        };
        Some(Self {
            live: live::updates(kind),
            id,
            outbox,
            pending: None,
            over: false,
        })
    }

    /// Runs `work`, which feeds and ends `live`, and sends the updates meanwhile. All of them are in the outbox when this
    /// returns. A client that does not read them does not keep `work` from its timers.
    pub(super) async fn during<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let first = tokio::select! {
            biased;
            done = &mut work => Some(done),
            () = self.send_all() => None,
        };
        let done = match first {
            Some(done) => done,
            None => work.await,
        };
        // The wait for the next one is over with the work.
        self.send_all().await;
        done
    }

    /// Sends updates to the last one. Dropping the future loses none.
    async fn send_all(&mut self) {
        while !self.over {
            if self.pending.is_none() {
                match self.live.next().await {
                    Some(update) => self.pending = Some(message(self.id.clone(), update)),
                    None => self.over = true,
                }
            }
            if let Some(update) = &self.pending {
                self.outbox.send(update).await;
                self.pending = None;
            }
        }
    }
}

fn message(id: Option<RpcId>, update: LiveUpdate) -> RpcUpdate {
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
