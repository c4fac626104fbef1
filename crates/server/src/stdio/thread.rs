//! A stream that cannot be polled (a terminal, a file, a pipe of another user), which is read or
//! written on a separate thread.
//!
//! The thread is started with the stream. Tokio's own streams start a thread per read; if that
//! fails, the read never completes.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::mpsc as std_mpsc;
use std::task::{Context, Poll, ready};
use std::thread;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;

/// Bytes per read or write.
const PIECE_BYTES: usize = 64 * 1024;

/// Data read by a thread.
#[derive(Debug)]
pub(super) struct ThreadReader {
    pieces: mpsc::Receiver<io::Result<Vec<u8>>>,
    piece: Vec<u8>,
    /// Number of consumed bytes of the current piece.
    consumed: usize,
}

/// Data to be written by a thread.
#[derive(Debug)]
pub(super) struct ThreadWriter {
    pieces: std_mpsc::SyncSender<Vec<u8>>,
    written: mpsc::Receiver<io::Result<()>>,
    /// True while a piece is being written.
    is_busy: bool,
}

impl ThreadReader {
    /// Starts the thread. The thread reads one piece ahead, and ends with the input or the program.
    pub(super) fn start(input: OwnedFd) -> io::Result<Self> {
        let (send, pieces) = mpsc::channel(1);
        let mut input = File::from(input);
        spawn("agent-bash-in", move || {
            let mut buffer = vec![0; PIECE_BYTES];
            loop {
                let read = match input.read(&mut buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Ok(0) => return,
                    Ok(length) => Ok(buffer[..length].to_vec()),
                    Err(error) => Err(error),
                };
                let is_last = read.is_err();
                if send.blocking_send(read).is_err() || is_last {
                    return;
                }
            }
        })?;
        Ok(Self {
            pieces,
            piece: Vec::new(),
            consumed: 0,
        })
    }
}

impl ThreadWriter {
    /// Starts the thread. The thread ends when the output fails or this value is dropped.
    pub(super) fn start(output: OwnedFd) -> io::Result<Self> {
        let (pieces, to_write) = std_mpsc::sync_channel::<Vec<u8>>(1);
        let (sender, written) = mpsc::channel(1);
        let mut output = File::from(output);
        spawn("agent-bash-out", move || {
            while let Ok(piece) = to_write.recv() {
                if sender.blocking_send(output.write_all(&piece)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self {
            pieces,
            written,
            is_busy: false,
        })
    }

    /// Waits until no write is pending.
    fn poll_idle(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_busy {
            let written = ready!(self.written.poll_recv(context));
            self.is_busy = false;
            return Poll::Ready(written.unwrap_or_else(|| Err(io::ErrorKind::BrokenPipe.into())));
        }
        Poll::Ready(Ok(()))
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(work).map(drop)
}

impl AsyncRead for ThreadReader {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.consumed == this.piece.len() {
            let Some(piece) = ready!(this.pieces.poll_recv(context)) else {
                return Poll::Ready(Ok(()));
            };
            this.piece = piece?;
            this.consumed = 0;
        }
        let rest = &this.piece[this.consumed..];
        let length = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..length]);
        this.consumed += length;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ThreadWriter {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_idle(context))?;
        let piece = &bytes[..bytes.len().min(PIECE_BYTES)];
        let sent = this.pieces.send(piece.to_vec());
        sent.map_err(|_| io::ErrorKind::BrokenPipe)?;
        this.is_busy = true;
        Poll::Ready(Ok(piece.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_idle(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_idle(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// More than a pipe and a piece hold, so that both sides have to wait.
    const LONG_BYTES: usize = 1 << 20;

    #[tokio::test]
    async fn written_data_is_read_to_its_end() {
        let (read, write) = io::pipe().unwrap();
        let mut from = ThreadReader::start(read.into()).unwrap();
        let mut to = ThreadWriter::start(write.into()).unwrap();
        let sent: Vec<u8> = (0..LONG_BYTES)
            .map(|at| u8::try_from(at % 251).unwrap())
            .collect();
        let writing = tokio::spawn({
            let sent = sent.clone();
            async move {
                to.write_all(&sent).await?;
                to.flush().await
            }
        });
        let mut got = Vec::new();
        from.read_to_end(&mut got).await.unwrap();
        writing.await.unwrap().unwrap();
        assert!(got == sent, "{} bytes of {LONG_BYTES}", got.len());
    }

    #[tokio::test]
    async fn flush_writes_all_data_and_fails_without_a_reader() {
        let (mut read, write) = io::pipe().unwrap();
        let mut to = ThreadWriter::start(write.into()).unwrap();
        to.write_all(b"said").await.unwrap();
        to.flush().await.unwrap();
        let mut printed = [0; 4];
        Read::read_exact(&mut read, &mut printed).unwrap();
        assert_eq!(&printed, b"said");
        drop(read);
        to.write_all(b"more").await.unwrap();
        let error = to.flush().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
