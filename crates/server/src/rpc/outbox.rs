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

/// Most lines per write.
const MAX_LINES_PER_WRITE: usize = 256;

/// The sending side. Clones share the queue.
#[derive(Debug, Clone)]
pub(super) struct Outbox {
    queue: mpsc::UnboundedSender<QueuedLine>,
    room: Arc<Semaphore>,
    disconnected: Cancel,
}

#[derive(Debug)]
struct QueuedLine {
    line: Vec<u8>,
    _room: OwnedSemaphorePermit,
}

/// The task that writes what is put into an [`Outbox`].
#[derive(Debug)]
pub(super) struct WriterTask(JoinHandle<()>);

impl Outbox {
    /// Starts writing to `output`.
    pub(super) fn new<W: AsyncWrite + Unpin + Send + 'static>(output: W) -> (Self, WriterTask) {
        let (queue, queued) = mpsc::unbounded_channel();
        let gone = Cancel::new();
        let writing = tokio::spawn(write(output, queued, gone.clone()));
        let outbox = Self {
            queue,
            room: Arc::new(Semaphore::new(QUEUE_BYTES as usize)),
            disconnected: gone,
        };
        (outbox, WriterTask(writing))
    }

    /// Queues a message as soon as there is room. Cancel safe: a dropped future has queued nothing.
    /// If the client is gone, the message is dropped.
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
            room = Arc::clone(&self.room).acquire_many_owned(size) => {
                // Never fails: the semaphore is never closed.
                if let Ok(room) = room {
                    // If the writer has stopped, the client is gone.
                    let _ = self.queue.send(QueuedLine { line, _room: room });
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
    /// Returns when everything has been written. All clones of the outbox must have been dropped.
    pub(super) async fn finish(self) {
        // If the writer panicked, there is nothing more to write.
        let _ = self.0.await;
    }
}

async fn write<W: AsyncWrite + Unpin>(
    mut output: W,
    mut queued: mpsc::UnboundedReceiver<QueuedLine>,
    gone: Cancel,
) {
    let mut batch = Vec::new();
    while queued.recv_many(&mut batch, MAX_LINES_PER_WRITE).await > 0 {
        for queued in batch.drain(..) {
            if let Err(error) = output.write_all(&queued.line).await {
                tracing::debug!(%error, "the client is gone");
                gone.cancel();
                return;
            }
        }
        if output.flush().await.is_err() {
            gone.cancel();
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn lines_come_whole_and_in_order() {
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
        let want: Vec<String> = (0..100)
            .map(|number| format!("\"line {number}\""))
            .collect();
        assert_eq!(text.lines().collect::<Vec<_>>(), want);
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
        // Only reading makes room.
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
