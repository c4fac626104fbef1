//! The output queue: whole lines from any number of tasks.
//!
//! The queue is bounded. If the client does not read, senders wait for room; nothing is dropped,
//! and memory does not grow.

use agent_bash::core::Cancel;
use serde::Serialize;
use std::sync::Arc;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;

/// Capacity of the queue in bytes. A longer line is queued alone.
const QUEUE_BYTES: u32 = 4 << 20;

/// Maximum number of lines per write.
const MAX_LINES_PER_WRITE: usize = 256;

/// The sending side. Clones share the queue.
#[derive(Debug, Clone)]
pub(super) struct Outbox {
    queue: mpsc::UnboundedSender<QueuedLine>,
    permits: Arc<Semaphore>,
    disconnected: Cancel,
}

#[derive(Debug)]
struct QueuedLine {
    line: Vec<u8>,
    _permits: OwnedSemaphorePermit,
}

/// The task that writes the lines of an [`Outbox`].
#[derive(Debug)]
pub(super) struct WriterTask(JoinHandle<()>);

impl Outbox {
    /// Starts writing to `output`.
    pub(super) fn new<W: AsyncWrite + Unpin + Send + 'static>(output: W) -> (Self, WriterTask) {
        let (queue, queued) = mpsc::unbounded_channel();
        let disconnected = Cancel::new();
        let writing = tokio::spawn(write(output, queued, disconnected.clone()));
        let outbox = Self {
            queue,
            permits: Arc::new(Semaphore::new(QUEUE_BYTES as usize)),
            disconnected,
        };
        (outbox, WriterTask(writing))
    }

    /// Queues a message when there is room for it. Cancel safe: a dropped future has queued
    /// nothing. If the client has disconnected, the message is dropped.
    pub(super) async fn send(&self, message: &impl Serialize) {
        let mut line = match serde_json::to_vec(message) {
            Ok(line) => line,
            Err(error) => {
                tracing::error!(%error, "a message cannot be written as JSON");
                return;
            }
        };
        line.push(b'\n');
        let size = u32::try_from(line.len())
            .unwrap_or(QUEUE_BYTES)
            .min(QUEUE_BYTES);
        tokio::select! {
            biased;
            () = self.disconnected.cancelled() => {}
            permits = Arc::clone(&self.permits).acquire_many_owned(size) => {
                // Never fails: the semaphore is never closed.
                if let Ok(permits) = permits {
                    // If the writer has stopped, the client has disconnected.
                    let _ = self.queue.send(QueuedLine { line, _permits: permits });
                }
            }
        }
    }

    /// Returns when the client has disconnected.
    pub(super) async fn disconnected(&self) {
        self.disconnected.cancelled().await;
    }
}

impl WriterTask {
    /// Waits until all lines are written. All clones of the outbox must be dropped before.
    pub(super) async fn finish(self) {
        // If the writer panicked, there is nothing more to write.
        let _ = self.0.await;
    }
}

/// Writes queued lines until all clones of the outbox are dropped, or the client disconnects.
async fn write<W: AsyncWrite + Unpin>(
    mut output: W,
    mut queued: mpsc::UnboundedReceiver<QueuedLine>,
    disconnected: Cancel,
) {
    let mut batch = Vec::new();
    while queued.recv_many(&mut batch, MAX_LINES_PER_WRITE).await > 0 {
        for queued in batch.drain(..) {
            if let Err(error) = output.write_all(&queued.line).await {
                tracing::debug!(%error, "the client has disconnected");
                disconnected.cancel();
                return;
            }
        }
        if output.flush().await.is_err() {
            disconnected.cancel();
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn lines_are_written_whole_and_in_order() {
        let (output, mut input) = tokio::io::duplex(16);
        let (outbox, writing) = Outbox::new(output);
        let reading = tokio::spawn(async move {
            let mut text = String::new();
            input.read_to_string(&mut text).await.map(|_| text)
        });
        for number in 0..100 {
            outbox.send(&format!("line {number}")).await;
        }
        drop(outbox);
        writing.finish().await;
        let text = reading.await.unwrap().unwrap();
        let expected: Vec<String> = (0..100)
            .map(|number| format!("\"line {number}\""))
            .collect();
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }

    #[tokio::test]
    async fn slow_reader_blocks_senders() {
        let (output, mut input) = tokio::io::duplex(16);
        let (outbox, _writing) = Outbox::new(output);
        let long = "x".repeat(QUEUE_BYTES as usize / 4);
        let mut sent = 0;
        loop {
            tokio::select! {
                biased;
                () = outbox.send(&long) => sent += 1,
                () = tokio::task::yield_now() => break,
            }
        }
        assert!((3..=4).contains(&sent), "{sent}");
        // A blocked sender continues when the client reads.
        let waiting = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.send(&"next").await }
        });
        let mut buffer = vec![0; long.len() * 2];
        input.read_exact(&mut buffer).await.unwrap();
        waiting.await.unwrap();
    }

    #[tokio::test]
    async fn senders_do_not_wait_without_a_client() {
        let (output, input) = tokio::io::duplex(16);
        let (outbox, _writing) = Outbox::new(output);
        drop(input);
        let long = "x".repeat(QUEUE_BYTES as usize);
        for _ in 0..3 {
            outbox.send(&long).await;
        }
        outbox.disconnected().await;
    }
}
