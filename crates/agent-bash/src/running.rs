//! Calls that may go on after their caller was answered: each runs in a task of its own, so that an answer can be given
//! before its end, and it is found again by a handle.
//!
//! Such a call is no background job: it belongs to the registry it was started in, keeps the time limit that it had, and ends
//! with the registry. Its output so far and its result are kept here for whoever asks next.

mod recent;

use crate::call::Account;
use crate::in_order::begin;
use crate::stage::parse_input::Input;
use crate::{BashTool, CallOptions, Keep};
use agent_bash_core::{Cancel, Clock, Executor, Flow, OutputConsumer, StreamId, Window};
use agent_bash_pty::{InputRefused, PtyExecutor, PtyOptions, PtySession};
use agent_bash_sink::LiveUpdates;
use recent::Recent;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, watch};

/// Calls that may run at once in one registry.
pub const MAX_CALLS: u32 = 256;

/// Calls with a handle that have ended and are still remembered.
const REMEMBERED: usize = 64;

/// The calls of one client.
#[derive(Debug)]
pub struct Running {
    room: Arc<Semaphore>,
    /// Given at the end: no call survives it.
    stop: Cancel,
    handles: Mutex<Handles>,
}

#[derive(Debug, Default)]
struct Handles {
    given: u64,
    calls: BTreeMap<u64, Arc<RunningCall>>,
}

/// What a call is started with beside its request.
#[derive(Debug, Default)]
pub struct StartOptions {
    /// Gets the output as it comes, and its end.
    pub live: Option<LiveUpdates>,
    /// It runs on a terminal of its own, which takes what is written to the call.
    pub terminal: Option<PtyOptions>,
    /// As [`CallOptions::escalation`].
    pub escalation: Option<String>,
    /// As [`CallOptions::tools`].
    pub tools: Option<Vec<String>>,
    /// As [`CallOptions::window`].
    pub window: Option<Window>,
}

/// Why nothing was written to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// It was not started on a terminal: it reads `/dev/null`.
    #[error("its input is closed")]
    NoInput,
    /// It has not come so far that it has a terminal, or it is over.
    #[error(transparent)]
    Refused(#[from] InputRefused),
}

/// As many calls run as may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{MAX_CALLS} commands are running and no more may; wait for one of them")]
pub struct NoRoom;

/// One call.
#[derive(Debug)]
pub struct RunningCall {
    /// Its script; empty where the request has none.
    pub command: String,
    /// Calls it off.
    pub cancel: Cancel,
    /// Set where somebody was shown a part of its output only: the whole of it is kept then.
    pub keep: Keep,
    /// Where it has one, once it is there.
    terminal: Option<Arc<OnceLock<PtySession>>>,
    seen: Mutex<Seen>,
    account: watch::Receiver<Option<Arc<Account>>>,
}

/// What is known of a call while it runs.
#[derive(Debug, Default)]
struct Seen {
    recent: Recent,
    /// Process id and process group.
    process: Option<(u32, u32)>,
}

/// Part of a call's output.
#[derive(Debug)]
pub struct Part {
    /// As printed.
    pub bytes: Vec<u8>,
    /// Its place in the whole. Later than what was asked for where that is no longer kept.
    pub from: u64,
    /// Printed so far.
    pub total: u64,
    /// Lines that ended before it.
    pub lines_before: u64,
    /// Where what nobody had read begins.
    pub unread_from: u64,
    /// The beginning of what nobody had read, as far as it is kept: of use where `from` is later.
    pub head: Vec<u8>,
    /// Ends of lines in what nobody had read.
    pub lines: u64,
}

/// How far a wait came.
#[derive(Debug)]
pub enum Waited {
    /// The call is over. `None`: it was given up, which only a fault of ours does.
    Ended(Option<Arc<Account>>),
    /// The time is over.
    GoesOn,
    /// The waiting was called off; the call goes on.
    CalledOff,
}

impl Running {
    /// A registry without calls; `stop` ends all that are in it.
    pub fn new(stop: Cancel) -> Self {
        Self {
            room: Arc::new(Semaphore::new(MAX_CALLS as usize)),
            stop,
            handles: Mutex::default(),
        }
    }

    /// Starts a call in a task of its own. Of a persistent shell it is the next, whenever that task runs.
    ///
    /// # Errors
    /// As many run as may; nothing was started.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(
        &self,
        tool: &BashTool,
        input: impl Into<Input>,
        options: StartOptions,
    ) -> Result<Arc<RunningCall>, NoRoom> {
        let room = Arc::clone(&self.room).try_acquire_owned();
        let room = room.map_err(|_| NoRoom)?;
        let (sender, account) = watch::channel(None);
        let input = input.into();
        let StartOptions {
            live,
            terminal,
            escalation,
            tools,
            window,
        } = options;
        let (terminal, executor) = terminal.map(on_terminal).unzip();
        let call = Arc::new(RunningCall {
            command: input.command().unwrap_or_default().to_owned(),
            cancel: self.stop.child(),
            keep: Keep::default(),
            terminal,
            seen: Mutex::default(),
            account,
        });
        let mut feed = Feed {
            call: Arc::clone(&call),
            live,
        };
        let tool = tool.clone();
        let work = begin(async move {
            let cancel = feed.call.cancel.clone();
            let options = CallOptions {
                keep: Some(feed.call.keep.clone()),
                live: Some(&mut feed),
                terminal: executor,
                escalation,
                tools,
                window,
                ..CallOptions::default()
            };
            let account = Box::pin(tool.account(input, options, &cancel)).await;
            drop(feed);
            // Nobody may wait for it any more.
            let _ = sender.send(Some(Arc::new(account)));
            drop(room);
        });
        tokio::spawn(work);
        Ok(call)
    }

    /// Gives a call a number by which it is found later.
    pub fn give_handle(&self, call: &Arc<RunningCall>) -> u64 {
        let mut handles = self.handles();
        handles.given += 1;
        let number = handles.given;
        handles.calls.insert(number, Arc::clone(call));
        let over: Vec<u64> = handles
            .calls
            .iter()
            .filter(|(_, call)| call.account().is_some())
            .map(|(number, _)| *number)
            .collect();
        for number in over.iter().take(over.len().saturating_sub(REMEMBERED)) {
            handles.calls.remove(number);
        }
        number
    }

    /// The call of that number.
    pub fn find(&self, handle: u64) -> Option<Arc<RunningCall>> {
        self.handles().calls.get(&handle).cloned()
    }

    /// Takes a handle back: the number is not found any more.
    pub fn forget(&self, handle: u64) {
        self.handles().calls.remove(&handle);
    }

    /// Those with a handle, in the order in which they got it.
    pub fn list(&self) -> Vec<(u64, Arc<RunningCall>)> {
        let handles = self.handles();
        let calls = handles.calls.iter();
        calls
            .map(|(number, call)| (*number, Arc::clone(call)))
            .collect()
    }

    /// Returns when no call runs.
    pub async fn all_done(&self) {
        // The semaphore is never closed.
        drop(self.room.acquire_many(MAX_CALLS).await);
    }

    fn handles(&self) -> MutexGuard<'_, Handles> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunningCall {
    /// What became of it; `None` while it runs.
    pub fn account(&self) -> Option<Arc<Account>> {
        self.account.borrow().clone()
    }

    /// Waits for its end. `None`: it was given up, which only a fault of ours does.
    pub async fn ended(&self) -> Option<Arc<Account>> {
        let mut account = self.account.clone();
        let account = account.wait_for(Option::is_some).await.ok()?;
        account.clone()
    }

    /// Waits for its end, for at most so long (`None`: for ever), and no longer than somebody wants to know.
    pub async fn wait(
        &self,
        clock: &dyn Clock,
        limit: Option<Duration>,
        cancel: &Cancel,
    ) -> Waited {
        let limit = async {
            match limit {
                Some(limit) => clock.sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            account = self.ended() => Waited::Ended(account),
            () = cancel.cancelled() => Waited::CalledOff,
            () = limit => Waited::GoesOn,
        }
    }

    /// Writes to its terminal, as somebody who types.
    ///
    /// # Errors
    /// Nothing was written.
    pub fn write(&self, bytes: &[u8]) -> Result<(), WriteError> {
        let terminal = self.terminal.as_ref().ok_or(WriteError::NoInput)?;
        let terminal = terminal.get().ok_or(InputRefused::Ended)?;
        Ok(terminal.send_bytes(bytes)?)
    }

    /// Process id and process group, once it has them.
    pub fn process(&self) -> Option<(u32, u32)> {
        self.seen().process
    }

    /// Bytes printed so far.
    pub fn total_bytes(&self) -> u64 {
        self.seen().recent.total()
    }

    /// Its output from `offset` on, or what was not read yet; read is what was given.
    pub fn read(&self, offset: Option<u64>) -> Part {
        let is_over = self.account().is_some();
        let mut seen = self.seen();
        let unread_from = seen.recent.unread_from();
        let (from, mut bytes, lines_before) = seen.recent.since(offset.unwrap_or(unread_from));
        // The rest of a character comes with the next reading.
        let held = if is_over { 0 } else { begun(&bytes) };
        bytes.truncate(bytes.len() - held);
        let unread = seen.recent.take_unread(held);
        Part {
            bytes,
            from,
            total: seen.recent.total(),
            lines_before,
            unread_from: unread.from,
            head: unread.head,
            lines: unread.lines,
        }
    }

    /// Whether it runs on a terminal of its own.
    pub fn is_on_terminal(&self) -> bool {
        self.terminal.is_some()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes at the end that begin a character and do not end it.
fn begun(bytes: &[u8]) -> usize {
    let last = bytes.iter().rev().take(3);
    for (behind, byte) in last.enumerate() {
        let length = match byte {
            0x80..=0xbf => continue,
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            _ => 1,
        };
        return if behind + 1 < length { behind + 1 } else { 0 };
    }
    0
}

/// A terminal for one call: where its handle will be, and who runs the call on it.
fn on_terminal(options: PtyOptions) -> (Arc<OnceLock<PtySession>>, Arc<dyn Executor>) {
    let place = Arc::new(OnceLock::new());
    let for_session = Arc::clone(&place);
    let executor = PtyExecutor::new(options).on_start(move |session| {
        // A call is started once.
        let _ = for_session.set(session);
    });
    (place, Arc::new(executor))
}

/// Takes the output of a call to those who watch it.
struct Feed {
    call: Arc<RunningCall>,
    live: Option<LiveUpdates>,
}

impl OutputConsumer for Feed {
    fn chunk(&mut self, _: StreamId, bytes: &[u8]) -> Flow {
        self.call.seen().recent.push(bytes);
        if let Some(live) = &self.live {
            live.push(bytes);
        }
        Flow::Continue
    }

    fn started(&mut self, pid: u32, group: u32) {
        self.call.seen().process = Some((pid, group));
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        if let Some(live) = &self.live {
            live.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_that_has_begun_waits_for_its_end() {
        for (bytes, want) in [
            (&b""[..], 0),
            (b"a", 0),
            ("é".as_bytes(), 0),
            (&"é".as_bytes()[..1], 1),
            (&"a€".as_bytes()[..3], 2),
            (&"😀".as_bytes()[..3], 3),
            ("😀".as_bytes(), 0),
            // No character at all.
            (b"\x80\x80\x80\x80", 0),
            (b"\xff", 0),
        ] {
            assert_eq!(begun(bytes), want, "{bytes:?}");
        }
    }
}
