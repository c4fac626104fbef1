//! Passes a running command's output to its card. Bounded, so that neither a flood of output nor a slow terminal
//! blocks the command.

use agent_bash::core::{Flow, OutputConsumer, StreamId};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Limit of bytes waiting to be shown; beyond it the oldest are dropped.
const MOST: usize = 256 << 10;

/// The feed of one command. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Feed {
    shared: Arc<Mutex<Waiting>>,
    /// Notified when output arrives in an empty feed.
    wake: Arc<Notify>,
}

/// Output waiting to be shown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) bytes: Vec<u8>,
    /// Lines before these bytes that were dropped.
    pub(crate) skipped: u64,
    /// Bytes received, including those of dropped lines.
    pub(crate) came: u64,
}

impl Feed {
    pub(crate) fn new(wake: Arc<Notify>) -> Self {
        Self {
            shared: Arc::default(),
            wake,
        }
    }

    /// Takes the waiting output.
    pub(crate) fn take(&self) -> Waiting {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutputConsumer for Feed {
    fn chunk(&mut self, _: StreamId, chunk: &[u8]) -> Flow {
        let was_empty = {
            let mut waiting = self.lock();
            let was_empty = waiting.bytes.is_empty();
            waiting.add(chunk);
            was_empty
        };
        if was_empty {
            self.wake.notify_one();
        }
        Flow::Continue
    }
}

impl Waiting {
    fn add(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        self.came += chunk.len() as u64;
        if self.bytes.len() <= MOST {
            return;
        }
        // Cut at a line boundary, and by enough to have room for what comes next.
        let from = self.bytes.len() - MOST / 2;
        let line = self.bytes[from..].iter().position(|byte| *byte == b'\n');
        let cut = line.map_or(from, |at| from + at + 1);
        let lines = self.bytes[..cut].iter().filter(|byte| **byte == b'\n');
        self.skipped += lines.count() as u64;
        self.bytes.drain(..cut);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_flood_the_end_is_kept_and_the_rest_counted() {
        let mut feed = Feed::new(Arc::default());
        for _ in 0..1_000_000 {
            feed.chunk(StreamId::Merged, b"y\n");
        }
        let waiting = feed.take();
        assert!(waiting.bytes.len() <= MOST);
        assert_eq!(waiting.skipped + waiting.bytes.len() as u64 / 2, 1_000_000);
        assert_eq!(waiting.came, 2_000_000);
        assert_eq!(feed.take(), Waiting::default());
    }
}
