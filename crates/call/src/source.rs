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

    /// Handles the event, usually by reading a chunk and pushing it. `None` if there was no output
    /// after all.
    fn read(&mut self, ready: Self::SourceEvent, out: &mut dyn OutputConsumer) -> Option<Progress>;

    /// Pushes the available output, which includes everything that the shell wrote before it ended.
    /// A time limit cannot cut it off, however late this task is scheduled. Returns whether there
    /// was any.
    fn read_now(&mut self, out: &mut dyn OutputConsumer) -> bool;

    /// The call is about to be terminated.
    fn being_ended(&mut self, _: EndReason) {}

    /// Pushes output that is complete only after the last read.
    fn conclude(&mut self, _: &mut dyn OutputConsumer) {}

    /// True if all output has reached EOF.
    fn ended(&self) -> bool;

    /// Closes the streams whose consumer asked to stop, so that further writes fail (EPIPE,
    /// SIGPIPE).
    fn close_stopped(&mut self) -> Progress;

    /// Returns the open streams, from which the supervisor continues to read.
    fn open(&self) -> impl Iterator<Item = (StreamId, BorrowedFd<'_>)>;
}

/// The result of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Output was pushed.
    Chunk,
    /// The consumer asked to stop with this chunk: the time until its stream is closed starts.
    Stopped,
    /// A stream has reached EOF, or the host closed it.
    Ended,
    /// A consumer asked to stop too long ago, and no single stream can be closed: terminate the
    /// call.
    HangUp,
    /// Reading failed.
    Unreadable,
    /// The shell reported that it has finished its script; it continues, or its end will be
    /// observed.
    ShellDone,
}

/// A stream whose consumer asked to stop is read up to this many bytes, and for a limited time;
/// then it is closed.
const AFTER_STOP_BYTES: usize = 1 << 20;

/// Limits the bytes read from one stream after its consumer asked to stop.
#[derive(Debug, Default)]
pub struct AfterStop {
    bytes: Option<usize>,
}

impl AfterStop {
    /// Pushes a chunk of the stream. [`Progress::Ended`] once the consumer asked to stop too many
    /// bytes ago.
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
        if self.is_used_up() {
            Progress::Ended
        } else {
            Progress::Chunk
        }
    }

    /// True if the consumer asked to stop.
    pub fn was_asked(&self) -> bool {
        self.bytes.is_some()
    }

    /// True if the limit is exceeded.
    pub fn is_used_up(&self) -> bool {
        self.bytes.is_some_and(|bytes| bytes > AFTER_STOP_BYTES)
    }
}
