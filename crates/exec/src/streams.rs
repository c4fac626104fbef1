//! Reads a call's pipes into its consumer.

use agent_bash_call::{AfterStop, Progress, Source};
use agent_bash_core::{OutputConsumer, StreamId};
use rustix::buffer::spare_capacity;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use tokio::net::unix::pipe::Receiver;

/// Bytes read at once: the capacity of a pipe. Larger buffers and pipes gained nothing.
const BUFFER: usize = 64 * 1024;

/// The maximum capacity of a pipe for unprivileged users: the default of
/// `/proc/sys/fs/pipe-max-size`.
const MAX_PIPE: usize = 1 << 20;

/// The pipes of one call, and the read buffer.
#[derive(Debug)]
pub(crate) struct OutputStreams {
    pipes: Vec<Pipe>,
    /// Allocated on first use.
    buffer: Vec<u8>,
    closed_early: bool,
    /// Chunks pushed since other tasks had a turn.
    pushed: usize,
    /// Pipes that have reached EOF.
    ended: Vec<StreamId>,
}

#[derive(Debug)]
struct Pipe {
    stream: StreamId,
    receiver: Receiver,
    after_stop: AfterStop,
}

/// A readable stream, as an index into the open ones.
#[derive(Debug)]
pub(crate) struct ReadyStream(usize);

impl OutputStreams {
    /// Takes over read ends.
    pub(crate) fn of(fds: Vec<(StreamId, OwnedFd)>) -> io::Result<Self> {
        let pipe = |(stream, fd): (StreamId, OwnedFd)| -> io::Result<Pipe> {
            rustix::io::ioctl_fionbio(&fd, true)?;
            let receiver = Receiver::from_owned_fd_unchecked(fd)?;
            Ok(Pipe {
                stream,
                receiver,
                after_stop: AfterStop::default(),
            })
        };
        Ok(Self {
            pipes: fds.into_iter().map(pipe).collect::<io::Result<_>>()?,
            buffer: Vec::new(),
            closed_early: false,
            pushed: 0,
            ended: Vec::new(),
        })
    }

    /// Whether a stream was closed because its consumer asked to stop.
    pub(crate) fn closed_early(&self) -> bool {
        self.closed_early
    }

    /// The pipes that have reached EOF by themselves.
    pub(crate) fn take_ended(&mut self) -> Vec<StreamId> {
        std::mem::take(&mut self.ended)
    }

    fn end(&mut self, index: usize) {
        let pipe = self.pipes.remove(index);
        if pipe.after_stop.is_used_up() {
            self.closed_early = true;
        } else {
            self.ended.push(pipe.stream);
        }
    }

    /// Index of a readable pipe; `None` if none is left.
    async fn readable(&self) -> Option<usize> {
        match &self.pipes[..] {
            [] => None,
            [one] => one.receiver.readable().await.ok().map(|()| 0),
            [one, two, ..] => tokio::select! {
                _ = one.receiver.readable() => Some(0),
                _ = two.receiver.readable() => Some(1),
            },
        }
    }
}

impl Source for OutputStreams {
    type SourceEvent = ReadyStream;

    async fn ready(&mut self) -> ReadyStream {
        if self.pushed > 1 {
            // A stream that is always ready never suspends: without yielding, a slow consumer would
            // starve all timers and other tasks. A stream that was found empty suspends by itself;
            // yielding there would wake another worker needlessly.
            tokio::task::yield_now().await;
            self.pushed = 0;
        }
        match self.readable().await {
            Some(index) => ReadyStream(index),
            None => std::future::pending().await,
        }
    }

    fn read(
        &mut self,
        ReadyStream(index): ReadyStream,
        out: &mut dyn OutputConsumer,
    ) -> Option<Progress> {
        self.buffer.clear();
        self.buffer.reserve(BUFFER);
        let pipe = self.pipes.get_mut(index)?;
        let progress = match pipe.receiver.try_read_buf(&mut self.buffer) {
            Ok(0) => Progress::Ended,
            Ok(_) => {
                self.pushed += 1;
                pipe.push(&self.buffer, out)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                // Nothing was available, so the next wait suspends.
                self.pushed = 0;
                return None;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return None,
            Err(error) => {
                tracing::warn!(%error, "a pipe could not be read");
                Progress::Ended
            }
        };
        if progress == Progress::Ended {
            self.end(index);
        }
        Some(progress)
    }

    fn read_now(&mut self, out: &mut dyn OutputConsumer) -> bool {
        let mut any = false;
        for index in (0..self.pipes.len()).rev() {
            let mut left = MAX_PIPE;
            while left > 0 {
                let pipe = &mut self.pipes[index];
                self.buffer.clear();
                self.buffer.reserve(BUFFER);
                match rustix::io::read(&pipe.receiver, spare_capacity(&mut self.buffer)) {
                    Ok(count) if count > 0 => {
                        any = true;
                        left = left.saturating_sub(count);
                        if pipe.push(&self.buffer, out) != Progress::Ended {
                            continue;
                        }
                    }
                    Err(rustix::io::Errno::INTR) => continue,
                    Err(rustix::io::Errno::WOULDBLOCK) => break,
                    Ok(_) | Err(_) => {}
                }
                self.end(index);
                break;
            }
        }
        any
    }

    fn ended(&self) -> bool {
        self.pipes.is_empty()
    }

    fn close_stopped(&mut self) -> Progress {
        let before = self.pipes.len();
        self.pipes.retain(|pipe| !pipe.after_stop.was_asked());
        self.closed_early |= self.pipes.len() < before;
        Progress::Ended
    }

    fn open(&self) -> impl Iterator<Item = (StreamId, BorrowedFd<'_>)> {
        self.pipes
            .iter()
            .map(|pipe| (pipe.stream, pipe.receiver.as_fd()))
    }
}

impl Pipe {
    fn push(&mut self, bytes: &[u8], out: &mut dyn OutputConsumer) -> Progress {
        self.after_stop.push(self.stream, bytes, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::Flow;
    use std::io::Write;

    #[derive(Default)]
    struct Bytes(usize);

    impl OutputConsumer for Bytes {
        fn chunk(&mut self, _: StreamId, bytes: &[u8]) -> Flow {
            self.0 += bytes.len();
            Flow::Continue
        }
    }

    #[tokio::test]
    async fn what_is_there_is_read_without_a_wait() {
        let (out, mut writer) = io::pipe().unwrap();
        let (err, held) = io::pipe().unwrap();
        writer.write_all(&vec![b'x'; 60_000]).unwrap();
        let mut streams = OutputStreams::of(vec![
            (StreamId::Stdout, out.into()),
            (StreamId::Stderr, err.into()),
        ])
        .unwrap();
        let mut bytes = Bytes::default();
        streams.read_now(&mut bytes);
        assert_eq!(
            (bytes.0, streams.pipes.len()),
            (60_000, 2),
            "no pipe is closed yet"
        );
        writer.write_all(b"end").unwrap();
        drop(writer);
        streams.read_now(&mut bytes);
        assert_eq!(
            (bytes.0, streams.pipes.len()),
            (60_003, 1),
            "the first has ended"
        );
        drop(held);
        streams.read_now(&mut bytes);
        assert!(streams.ended());
    }
}
