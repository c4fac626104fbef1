//! The streams of an MCP client, with what `rmcp` leaves open: it reads on for as long as there is something to read, and
//! keeps what it cannot write.
//!
//! While the client takes nothing, only so much more is read from it; the end of its input is told at once, and what can
//! no longer be written fails instead of waiting.

use agent_bash::core::Cancel;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Messages that are still read from a client that takes nothing: enough for it to call off whatever it began.
const MESSAGES: usize = 256;

/// Their length, in all.
const BYTES: usize = 16 << 20;

/// What reader and writer know of each other.
#[derive(Debug, Clone, Default)]
pub(super) struct Gate(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// What may still be read; `None` while the client takes what is written.
    left: Option<Left>,
    closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

#[derive(Debug)]
struct Left {
    messages: usize,
    bytes: usize,
}

/// The client's input.
#[derive(Debug)]
pub(super) struct Reader<R> {
    input: R,
    gate: Gate,
    /// Given when there is nothing more to read.
    ended: Cancel,
}

/// The client's output.
#[derive(Debug)]
pub(super) struct Writer<W> {
    output: W,
    gate: Gate,
}

impl Gate {
    pub(super) fn reader<R>(&self, input: R, ended: Cancel) -> Reader<R> {
        let gate = self.clone();
        Reader { input, gate, ended }
    }

    pub(super) fn writer<W>(&self, output: W) -> Writer<W> {
        let gate = self.clone();
        Writer { output, gate }
    }

    /// What is not written by now fails.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        if let Some(waker) = state.writer.take() {
            waker.wake();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Reader<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        {
            let mut state = this.gate.state();
            let full = state
                .left
                .as_ref()
                .is_some_and(|left| left.messages == 0 || left.bytes == 0);
            if full {
                state.reader = Some(context.waker().clone());
                return Poll::Pending;
            }
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut this.input).poll_read(context, buffer);
        match &polled {
            Poll::Pending => {}
            Poll::Ready(Err(_)) => this.ended.cancel(),
            Poll::Ready(Ok(())) => {
                let read = &buffer.filled()[before..];
                if read.is_empty() {
                    this.ended.cancel();
                } else if let Some(left) = &mut this.gate.state().left {
                    let messages = read.split(|byte| *byte == b'\n').count() - 1;
                    left.messages = left.messages.saturating_sub(messages);
                    left.bytes = left.bytes.saturating_sub(read.len());
                }
            }
        }
        polled
    }
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    fn guarded<T>(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        act: impl FnOnce(Pin<&mut W>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let this = self.get_mut();
        if this.gate.state().closed {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let polled = act(Pin::new(&mut this.output), context);
        let mut state = this.gate.state();
        if polled.is_pending() {
            state.writer = Some(context.waker().clone());
            if state.left.is_none() {
                state.left = Some(Left {
                    messages: MESSAGES,
                    bytes: BYTES,
                });
            }
        } else {
            state.left = None;
            if let Some(waker) = state.reader.take() {
                waker.wake();
            }
        }
        polled
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Writer<W> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.guarded(context, |output, context| output.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.guarded(context, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.guarded(context, AsyncWrite::poll_shutdown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// Whether `future` is ready by itself.
    async fn is_ready<T>(future: impl Future<Output = T>) -> bool {
        tokio::select! {
            biased;
            _ = future => true,
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn of_a_client_that_takes_nothing_only_so_much_is_read() {
        let gate = Gate::default();
        let (mut client_in, input) = tokio::io::duplex(1 << 20);
        let (output, mut client_out) = tokio::io::duplex(8);
        let mut reader = gate.reader(input, Cancel::new());
        let mut writer = gate.writer(output);
        client_in
            .write_all(&b"x\n".repeat(MESSAGES + 1))
            .await
            .unwrap();
        assert!(!is_ready(writer.write_all(&[0; 9])).await);
        let mut message = [0; 2];
        for _ in 0..MESSAGES {
            reader.read_exact(&mut message).await.unwrap();
        }
        assert!(!is_ready(reader.read_exact(&mut message)).await);
        // It takes something.
        client_out.read_exact(&mut [0; 8]).await.unwrap();
        writer.write_all(&[0]).await.unwrap();
        reader.read_exact(&mut message).await.unwrap();
    }

    #[tokio::test]
    async fn the_end_of_input_is_told_and_a_closed_gate_fails_writers() {
        let (gate, ended) = (Gate::default(), Cancel::new());
        let (client_in, input) = tokio::io::duplex(8);
        let (output, _client_out) = tokio::io::duplex(8);
        let mut reader = gate.reader(input, ended.clone());
        drop(client_in);
        assert_eq!(reader.read(&mut [0]).await.unwrap(), 0);
        assert!(ended.is_cancelled());

        let mut writer = gate.writer(output);
        let writing = tokio::spawn(async move { writer.write_all(&[0; 9]).await });
        tokio::task::yield_now().await;
        gate.close();
        assert!(writing.await.unwrap().is_err());
    }
}
