//! Reads a call's pipes, and passes the output to the call's consumer.

mod system;

use agent_bash_call::{Progress, Source, StopLimit};
use agent_bash_core::{OutputConsumer, StreamId};
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::task::{Context, Waker};
use system::{Arrivals, enlarge_pipe, move_bytes};
use tokio::net::unix::pipe::Receiver;

/// Maximum number of bytes read at once: the capacity of a pipe. Larger buffers are not faster.
const BUFFER_BYTES: usize = 64 * 1024;

/// The least output that is moved within the kernel instead of being read.
const MIN_MOVED_BYTES: usize = BUFFER_BYTES / 2;

/// The capacity of pipes through which much output is moved. A smaller one wakes processes more
/// often, a larger one is not faster and counts towards the user's limit of 64 MiB for all pipes.
const MOVED_PIPE_BYTES: usize = 512 * 1024;

/// The number of pieces of a large output that are passed on before other events are handled, such
/// as the end of the shell while a survivor still prints.
const MAX_BULK_PIECES: usize = 256;

/// The longest wait for more of a large output, or for its reader, before other events are handled.
const BULK_PAUSE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 1_000_000,
};

/// The maximum capacity of a pipe for unprivileged users: the default of
/// `/proc/sys/fs/pipe-max-size`.
const MAX_PIPE_BYTES: usize = 1 << 20;

/// The pipes of one call, and the read buffer.
#[derive(Debug)]
pub(crate) struct OutputStreams {
    pipes: Vec<StreamPipe>,
    /// Allocated on first use.
    buffer: Vec<u8>,
    /// True after a stream was closed because its consumer asked to stop.
    closed_early: bool,
    /// Number of chunks pushed since this task last yielded.
    pushed: usize,
    /// Pipes that have reached EOF.
    ended: Vec<StreamId>,
    /// The order in which the pipes became readable, if there are two: the output of both keeps it.
    arrivals: Option<Arrivals>,
}

/// A pipe with the output of one stream.
#[derive(Debug)]
struct StreamPipe {
    stream: StreamId,
    receiver: Receiver,
    after_stop: StopLimit,
    /// True once a read has filled the buffer: more output may follow than is worth copying.
    is_bulk: bool,
}

/// The index of a readable pipe.
#[derive(Debug)]
pub(crate) struct ReadyStream(usize);

impl OutputStreams {
    /// Creates the streams from the read ends of pipes.
    pub(crate) fn of(fds: Vec<(StreamId, OwnedFd)>) -> io::Result<Self> {
        let pipe = |(stream, fd): (StreamId, OwnedFd)| -> io::Result<StreamPipe> {
            rustix::io::ioctl_fionbio(&fd, true)?;
            let receiver = Receiver::from_owned_fd_unchecked(fd)?;
            Ok(StreamPipe {
                stream,
                receiver,
                after_stop: StopLimit::default(),
                is_bulk: false,
            })
        };
        let arrivals = match &fds[..] {
            [_, _] => {
                let numbered = fds
                    .iter()
                    .map(|(stream, pipe)| (stream_number(*stream), pipe));
                Some(Arrivals::of(numbered)?)
            }
            _ => None,
        };
        Ok(Self {
            arrivals,
            pipes: fds.into_iter().map(pipe).collect::<io::Result<_>>()?,
            buffer: Vec::new(),
            closed_early: false,
            pushed: 0,
            ended: Vec::new(),
        })
    }

    pub(crate) fn closed_early(&self) -> bool {
        self.closed_early
    }

    /// Returns the streams that have reached EOF since the last call, without streams that were
    /// closed early.
    pub(crate) fn take_ended(&mut self) -> Vec<StreamId> {
        std::mem::take(&mut self.ended)
    }

    /// Removes a pipe that has reached EOF, or whose consumer has stopped.
    fn end(&mut self, index: usize) {
        let pipe = self.pipes.remove(index);
        if pipe.after_stop.is_exceeded() {
            self.closed_early = true;
        } else {
            self.ended.push(pipe.stream);
        }
    }

    /// Passes on much output of one pipe. Every write of the command would wake the runtime's
    /// thread, so the pipe does not belong to the runtime meanwhile. Returns once no output has
    /// arrived for a moment, the reader is slow, output of another pipe has arrived, or other
    /// events must be handled. After an error, the pipe is closed.
    fn pass_bulk(&mut self, index: usize, out: &mut dyn OutputConsumer) -> io::Result<Progress> {
        let StreamPipe {
            stream,
            receiver,
            mut after_stop,
            mut is_bulk,
        } = self.pipes.remove(index);
        let source = receiver.into_nonblocking_fd()?;
        let mut progress = Progress::Chunk;
        for _ in 0..MAX_BULK_PIECES {
            let destination = out.destination(stream);
            let moved = destination.map(|to| move_output(source.as_fd(), to));
            if moved == Some(Moved::ReaderIsSlow) {
                // The next piece is copied, which waits for the reader.
                is_bulk = false;
                break;
            }
            if moved != Some(Moved::Output) {
                self.buffer.clear();
                match rustix::io::read(&source, spare_capacity(&mut self.buffer)) {
                    Ok(0) => progress = Progress::Ended,
                    Ok(_) => progress = after_stop.push(stream, &self.buffer, out),
                    Err(Errno::WOULDBLOCK) if pauses(&source) => break,
                    Err(Errno::WOULDBLOCK | Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            if progress != Progress::Chunk || !self.arrived(2).is_empty() {
                break;
            }
        }
        let pipe = StreamPipe {
            stream,
            receiver: Receiver::from_owned_fd_unchecked(source)?,
            after_stop,
            is_bulk,
        };
        self.pipes.insert(index, pipe);
        if progress == Progress::Ended {
            self.end(index);
        }
        Ok(progress)
    }

    /// Waits for a readable pipe and returns its index; `None` if no pipe is open.
    async fn readable(&self) -> Option<usize> {
        match &self.pipes[..] {
            [] => None,
            [one] => one.receiver.readable().await.ok().map(|()| 0),
            [one, two, ..] => {
                let readable = tokio::select! {
                    _ = one.receiver.readable() => 0,
                    _ = two.receiver.readable() => 1,
                };
                let first = self.arrived(1).first().copied();
                let first = first.filter(|index| self.is_known_readable(*index));
                Some(first.unwrap_or(readable))
            }
        }
    }

    /// True if the runtime knows that the pipe is readable. If not, reads of the pipe fail with
    /// `WouldBlock` until this task waits.
    fn is_known_readable(&self, index: usize) -> bool {
        let readable = std::pin::pin!(self.pipes[index].receiver.readable());
        let mut context = Context::from_waker(Waker::noop());
        readable.poll(&mut context).is_ready()
    }

    /// Returns the indices of at most `max` readable pipes, in the order in which they became
    /// readable. Repeated calls take turns between pipes that stay readable.
    fn arrived(&self, max: usize) -> Vec<usize> {
        let Some(arrivals) = &self.arrivals else {
            return Vec::new();
        };
        let index = |stream| {
            self.pipes
                .iter()
                .position(|pipe| stream_number(pipe.stream) == stream)
        };
        arrivals.readable(max).filter_map(index).collect()
    }

    /// Reads the output that a pipe has now. True if there was any, or if it is lost.
    fn read_pipe_now(&mut self, index: usize, out: &mut dyn OutputConsumer) -> bool {
        let (mut has_read, mut remaining) = (false, MAX_PIPE_BYTES);
        while remaining > 0 {
            let pipe = &mut self.pipes[index];
            self.buffer.clear();
            self.buffer.reserve(BUFFER_BYTES);
            match rustix::io::read(&pipe.receiver, spare_capacity(&mut self.buffer)) {
                Ok(count) if count > 0 => {
                    has_read = true;
                    remaining = remaining.saturating_sub(count);
                    if pipe.push(&self.buffer, out) != Progress::Ended {
                        continue;
                    }
                }
                Err(Errno::INTR) => continue,
                Err(Errno::WOULDBLOCK) => break,
                Ok(_) => {}
                Err(error) => {
                    has_read = true;
                    report_loss(pipe.stream, &error.into(), out);
                }
            }
            self.end(index);
            break;
        }
        has_read
    }
}

impl Source for OutputStreams {
    type SourceEvent = ReadyStream;

    async fn ready(&mut self) -> ReadyStream {
        if self.pushed > 1 {
            // A stream that is always ready never suspends: without yielding, a slow consumer would
            // starve timers and other tasks. An empty stream suspends by itself; yielding then
            // would wake another worker needlessly.
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
        self.buffer.reserve(BUFFER_BYTES);
        let pipe = self.pipes.get_mut(index)?;
        if pipe.has_bulk(out) {
            self.pushed += 1;
            let stream = pipe.stream;
            return Some(self.pass_bulk(index, out).unwrap_or_else(|error| {
                self.ended.push(stream);
                report_loss(stream, &error, out)
            }));
        }
        let progress = match pipe.receiver.try_read_buf(&mut self.buffer) {
            Ok(0) => Progress::Ended,
            Ok(count) => {
                self.pushed += 1;
                if count >= BUFFER_BYTES && !pipe.is_bulk {
                    pipe.is_bulk = true;
                    pipe.enlarge(out);
                }
                pipe.push(&self.buffer, out)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                // The pipe was empty, so the next wait suspends.
                self.pushed = 0;
                return None;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return None,
            Err(error) => report_loss(pipe.stream, &error, out),
        };
        if progress == Progress::Ended {
            self.end(index);
        }
        Some(progress)
    }

    fn read_now(&mut self, out: &mut dyn OutputConsumer) -> bool {
        let mut has_read = false;
        // Uses streams, because the indices change when a pipe ends.
        let mut order: Vec<StreamId> = Vec::new();
        for index in self.arrived(2).into_iter().chain(0..self.pipes.len()) {
            let stream = self.pipes[index].stream;
            if !order.contains(&stream) {
                order.push(stream);
            }
        }
        for stream in order {
            let mut pipes = self.pipes.iter();
            if let Some(index) = pipes.position(|pipe| pipe.stream == stream) {
                has_read |= self.read_pipe_now(index, out);
            }
        }
        has_read
    }

    fn ended(&self) -> bool {
        self.pipes.is_empty()
    }

    fn close_stopped(&mut self) -> Progress {
        let before = self.pipes.len();
        self.pipes.retain(|pipe| !pipe.after_stop.is_stopping());
        self.closed_early |= self.pipes.len() < before;
        Progress::Ended
    }

    fn open_streams(&self) -> impl Iterator<Item = (StreamId, BorrowedFd<'_>)> {
        self.pipes
            .iter()
            .map(|pipe| (pipe.stream, pipe.receiver.as_fd()))
    }
}

/// True if no output arrives for [`BULK_PAUSE`].
fn pauses(pipe: &OwnedFd) -> bool {
    let mut ready = [PollFd::new(pipe, PollFlags::IN)];
    poll(&mut ready, Some(&BULK_PAUSE)) == Ok(0)
}

/// Adds to the output that the rest of the output is lost.
fn report_loss(stream: StreamId, error: &io::Error, out: &mut dyn OutputConsumer) -> Progress {
    tracing::warn!(%error, "a pipe could not be read");
    let text = format!("\nagent-bash: the rest of this output is lost: {error}\n");
    // The consumer need not stop the stream, which has ended.
    let _ = out.chunk(stream, text.as_bytes());
    Progress::Ended
}

/// Returns the number of a stream in [`Arrivals`].
fn stream_number(stream: StreamId) -> u64 {
    match stream {
        StreamId::Merged => 0,
        StreamId::Stdout => 1,
        StreamId::Stderr => 2,
    }
}

impl StreamPipe {
    fn push(&mut self, bytes: &[u8], out: &mut dyn OutputConsumer) -> Progress {
        self.after_stop.push(self.stream, bytes, out)
    }

    /// True if a large amount of output is available that need not be read.
    fn has_bulk(&self, out: &dyn OutputConsumer) -> bool {
        self.is_bulk
            && !self.after_stop.is_stopping()
            && out.destination(self.stream).is_some()
            && available_bytes(self.receiver.as_fd()) >= MIN_MOVED_BYTES
    }

    /// Enlarges this pipe and the pipe to which its output moves, if the kernel permits.
    fn enlarge(&self, out: &dyn OutputConsumer) {
        let Some(destination) = out.destination(self.stream) else {
            return;
        };
        for pipe in [self.receiver.as_fd(), destination] {
            enlarge_pipe(pipe, MOVED_PIPE_BYTES);
        }
    }
}

/// Returns the number of bytes that a pipe holds.
fn available_bytes(pipe: BorrowedFd<'_>) -> usize {
    let available = rustix::io::ioctl_fionread(pipe).unwrap_or(0);
    usize::try_from(available).unwrap_or(usize::MAX)
}

/// The result of an attempt to move output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moved {
    Output,
    /// The output must be read.
    Nothing,
    /// The destination was full for a moment.
    ReaderIsSlow,
}

/// Moves a large amount of available output to its destination without copying it, except the last
/// byte.
fn move_output(source: BorrowedFd<'_>, destination: BorrowedFd<'_>) -> Moved {
    loop {
        let available = available_bytes(source);
        if available < MIN_MOVED_BYTES {
            return Moved::Nothing;
        }
        match move_bytes(source, destination, available - 1) {
            Ok(_) => return Moved::Output,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let mut ready = [PollFd::from_borrowed_fd(destination, PollFlags::OUT)];
                // Errors show when the output is written.
                if poll(&mut ready, Some(&BULK_PAUSE)) == Ok(0) {
                    return Moved::ReaderIsSlow;
                }
            }
            // The kernel cannot move to this destination, or its reader has closed it.
            Err(_) => return Moved::Nothing,
        }
    }
}

#[cfg(test)]
#[path = "streams_tests.rs"]
mod tests;
