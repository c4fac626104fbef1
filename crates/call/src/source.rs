//! Where a call's output comes from: pipes, or a terminal.

use crate::Reason;
use agent_bash_core::{OutputConsumer, StreamId};
use std::future::Future;
use std::os::fd::BorrowedFd;

/// The output of one call, and whatever else its host waits for while it reads.
pub trait Source: Send {
    /// What can be read, or done.
    type Ready: Send;

    /// Waits until [`Self::read`] has something to do. Cancel safe.
    fn ready(&mut self) -> impl Future<Output = Self::Ready> + Send;

    /// Does it: reads a chunk and pushes it, as a rule. `None` if there was no output after all.
    fn read(&mut self, ready: Self::Ready, out: &mut dyn OutputConsumer) -> Option<Progress>;

    /// Pushes what is there at this moment. What a shell printed before it ended is among that, and no time limit, however
    /// late this task gets its turn, comes before it. Whether there was any.
    fn read_now(&mut self, out: &mut dyn OutputConsumer) -> bool;

    /// The call is about to be ended.
    fn being_ended(&mut self, _: Reason) {}

    /// Pushes what can only be known when nothing more will be read by us.
    fn conclude(&mut self, _: &mut dyn OutputConsumer) {}

    /// Whether all output has ended.
    fn ended(&self) -> bool;

    /// Closes what has a consumer that has enough, so that who prints there meets the end of it.
    fn close_stopped(&mut self) -> Progress;

    /// What is still open, for somebody else to read on.
    fn open(&self) -> impl Iterator<Item = (StreamId, BorrowedFd<'_>)>;
}

/// What a read found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Output was pushed.
    Chunk,
    /// The consumer asked to stop with this chunk: the time for closing its stream starts.
    Stopped,
    /// A stream has ended, or was closed by us.
    Ended,
    /// A consumer has had enough for too long, and there is nothing that could be closed: the call is to be ended.
    HangUp,
    /// It cannot be read.
    Unreadable,
    /// The shell has said that it is done with its script; it goes on, or will be seen to have ended.
    ShellDone,
}
