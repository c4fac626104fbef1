//! [`LiveFeed`]: the connection of a call to its live updates.

use agent_bash_core::{ConsumerFlow, OutputConsumer, OutputMask, StreamId};
use agent_bash_sink::LiveUpdates;
use std::sync::Arc;

/// Passes all output, both streams interleaved, to [`LiveUpdates`], and ends them when dropped.
#[derive(Debug)]
pub struct LiveFeed<'a>(pub &'a LiveUpdates);

impl OutputConsumer for LiveFeed<'_> {
    fn chunk(&mut self, _: StreamId, bytes: &[u8]) -> ConsumerFlow {
        self.0.push(bytes);
        ConsumerFlow::Continue
    }

    fn masks_output(&mut self, mask: &Arc<dyn OutputMask>) -> bool {
        self.0.mask_with(&**mask);
        true
    }
}

impl Drop for LiveFeed<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
