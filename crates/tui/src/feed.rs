//! What a running command prints, on its way to its card: bounded, so that neither a flood nor a slow terminal holds the
//! command up.

use agent_bash::core::{Flow, OutputConsumer, StreamId};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Bytes that wait to be shown. Of more, the last are kept.
const MOST: usize = 256 << 10;

/// The feed of one command. Clones are the same feed.
#[derive(Debug, Clone)]
pub(crate) struct Feed {
    shared: Arc<Mutex<Waiting>>,
    /// Given when there is something where there was nothing.
    wake: Arc<Notify>,
}

/// What waits to be shown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) bytes: Vec<u8>,
    /// Lines before them that came too fast.
    pub(crate) skipped: u64,
    /// Bytes that came, those of skipped lines included.
    pub(crate) came: u64,
}

impl Feed {
    pub(crate) fn new(wake: Arc<Notify>) -> Self {
        Self {
            shared: Arc::default(),
            wake,
        }
    }

    /// Takes what waits.
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
        // From a line's beginning on, and with room for what comes next.
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
