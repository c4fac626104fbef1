//! The source of a call's output: pipes, or a terminal.

use crate::EndReason;
use agent_bash_core::{ConsumerFlow, OutputConsumer, StreamId};
use std::future::Future;
use std::os::fd::BorrowedFd;

/// The output of one call, and the other events that the host awaits meanwhile.
pub trait Source: Send {
    /// The event that is ready to be handled.
    type SourceEvent: Send;

    /// Waits until [`Self::read`] has something to do. Cancel safe.
    fn ready(&mut self) -> impl Future<Output = Self::SourceEvent> + Send;

    /// Handles the event, usually by reading a chunk and passing it to `out`. Returns `None` if
    /// there was no output.
    fn read(&mut self, ready: Self::SourceEvent, out: &mut dyn OutputConsumer) -> Option<Progress>;

    /// Passes on the available output, which includes everything that the shell wrote before it
    /// ended. No time limit applies, because this task may be scheduled late. Returns true if there
    /// was output.
    fn read_now(&mut self, out: &mut dyn OutputConsumer) -> bool;

    /// Called before the call is terminated.
    fn before_termination(&mut self, _: EndReason) {}

    /// Passes on output that is complete only after the last read.
    fn conclude(&mut self, _: &mut dyn OutputConsumer) {}

    /// True if all output has reached EOF.
    fn ended(&self) -> bool;

    /// Closes the streams whose consumer asked to stop, so that further writes fail (EPIPE,
    /// SIGPIPE).
    fn close_stopped(&mut self) -> Progress;

    /// Returns the open streams, from which the supervisor continues to read.
    fn open_streams(&self) -> impl Iterator<Item = (StreamId, BorrowedFd<'_>)>;
}

/// The result of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Output was passed on.
    Chunk,
    /// The consumer asked to stop with this chunk: the time limit for its stream starts.
    Stopped,
    /// A stream has reached EOF, or the host closed it.
    Ended,
    /// The limit after a consumer's stop is exceeded, and a terminal has no single stream to close:
    /// terminate the call.
    HangUp,
    /// Reading failed.
    Unreadable,
    /// The shell reported that it has finished its script; it continues, or its end will be
    /// observed.
    ShellDone,
}

/// Bytes after which a stream whose consumer asked to stop is closed. A time limit also applies.
const MAX_AFTER_STOP_BYTES: usize = 1 << 20;

/// Limits the bytes read from one stream after its consumer asked to stop.
#[derive(Debug, Default)]
pub struct StopLimit {
    bytes: Option<usize>,
}

impl StopLimit {
    /// Passes on a chunk of the stream. Returns [`Progress::Ended`] once the limit is exceeded.
    pub fn push(
        &mut self,
        stream: StreamId,
        chunk: &[u8],
        out: &mut dyn OutputConsumer,
    ) -> Progress {
        let flow = out.chunk(stream, chunk);
        match &mut self.bytes {
            None if flow == ConsumerFlow::Stop => {
                self.bytes = Some(0);
                return Progress::Stopped;
            }
            None => {}
            Some(bytes) => *bytes += chunk.len(),
        }
        if self.is_exceeded() {
            Progress::Ended
        } else {
            Progress::Chunk
        }
    }

    /// True if the consumer asked to stop.
    pub fn is_stopping(&self) -> bool {
        self.bytes.is_some()
    }

    /// True if the limit is exceeded.
    pub fn is_exceeded(&self) -> bool {
        self.bytes.is_some_and(|bytes| bytes > MAX_AFTER_STOP_BYTES)
    }
}
