//! Runs calls that may outlive the response to their client. Each call runs in a task of its own,
//! so that the client can get a handle before the call's end, and the result later.
//!
//! Such a call is not a background job: the call keeps its time limit, and ends with the registry
//! in which it was started. The registry stores the call's recent output and result for later
//! requests.

mod recent;

use agent_bash::core::{
    Cancel, Clock, ConsumerFlow, Executor, MASK_CONTEXT_BYTES, MaskedPart, OutputConsumer,
    OutputMask, StreamId, Window, lock, masked_part, or_never, whole_characters,
};
use agent_bash::in_order::poll_once;
use agent_bash::pty::{InputRefused, PtyExecutor, PtyOptions, PtySession};
use agent_bash::sink::LiveUpdates;
use agent_bash::tools::{FinishedCall, KeepOutput, OutputPart};
use agent_bash::{BashTool, CallOptions, Input};
use recent::RecentOutput;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;
use tokio::sync::{Semaphore, watch};

/// Limit of concurrent calls in one registry.
pub const MAX_CALLS: u32 = 256;

/// The text for a client if a call's task was lost, which is a bug.
pub const LOST_CALL: &str =
    "the call was given up because of an error in agent-bash; please report the error";

/// Maximum number of ended calls with a handle that are remembered.
const MAX_ENDED_CALLS: usize = 64;

/// The registry of one client's running calls.
#[derive(Debug)]
pub struct RunningCalls {
    capacity: Arc<Semaphore>,
    /// Ends all calls when the client ends.
    stop: Cancel,
    handles: Mutex<Handles>,
}

/// The calls that have a handle, by the handle's number.
#[derive(Debug, Default)]
struct Handles {
    /// The number of the last handle.
    next: u64,
    calls: BTreeMap<u64, Arc<RunningCall>>,
}

/// Options for starting a call.
#[derive(Debug, Default)]
pub struct StartOptions {
    /// Receives the output as it arrives, and the end of the output.
    pub live: Option<LiveUpdates>,
    /// Runs the command on a terminal, so that [`RunningCall::write`] works.
    pub terminal: Option<PtyOptions>,
    /// The reason for leaving the sandbox, as in [`CallOptions::escalation`].
    pub escalation: Option<String>,
    /// The model's other tools, as in [`CallOptions::tools`].
    pub tools: Option<Vec<String>>,
    /// The largest text that the client passes on, as in [`CallOptions::window`].
    pub window: Option<Window>,
}

/// Why writing to a call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The command has no terminal: its stdin is `/dev/null`.
    #[error("the command's input is closed, because the command has no terminal")]
    NoInput,
    /// The command's terminal was not created yet.
    #[error("the command's terminal is not open yet; try again")]
    NotOpen,
    /// The call has ended, or the program does not read.
    #[error(transparent)]
    Refused(#[from] InputRefused),
}

/// The limit of concurrent calls is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{MAX_CALLS} commands are running, which is the maximum; wait until one of them ends")]
pub struct TooManyCalls;

/// A call that runs or has ended.
#[derive(Debug)]
pub struct RunningCall {
    /// The call's script; empty if the request has none.
    pub command: String,
    /// Cancels the call.
    pub cancel: Cancel,
    /// Set if only a part of the output was shown, so that the full output is kept.
    pub keep: KeepOutput,
    /// The cell for the call's terminal, if the call runs on a terminal. Empty until the terminal
    /// exists.
    terminal: Option<Arc<OnceLock<PtySession>>>,
    progress: Mutex<CallProgress>,
    /// The finished call, once it has ended.
    finished_call: watch::Receiver<Option<Arc<FinishedCall>>>,
}

/// The progress of a running call.
#[derive(Debug, Default)]
struct CallProgress {
    recent: RecentOutput,
    /// Masks the output when it is read.
    mask: Option<Arc<dyn OutputMask>>,
    /// Pid and process group.
    process: Option<(u32, u32)>,
}

impl CallProgress {
    /// Masks secrets in output that begins at byte `offset`. `is_end` is true if the output ends
    /// with these bytes.
    fn masked(&self, offset: u64, bytes: Vec<u8>, is_end: bool) -> MaskedPart {
        let Some(mask) = &self.mask else {
            return MaskedPart::unmasked(bytes);
        };
        let context = self
            .recent
            .since(offset.saturating_sub(MASK_CONTEXT_BYTES as u64));
        let length = offset.saturating_sub(context.from) as usize;
        let before = context.bytes.get(..length).unwrap_or_default();
        masked_part(&**mask, before, &bytes, b"", is_end)
    }
}

/// The result of a wait.
#[derive(Debug)]
pub enum WaitOutcome {
    /// The call has ended. `None` if the call's task was lost, which is a bug.
    Ended(Option<Arc<FinishedCall>>),
    /// The time limit of the wait has passed; the call continues.
    StillRunning,
    /// The wait was cancelled; the call continues.
    Cancelled,
}

impl RunningCalls {
    /// Returns an empty registry. Triggering `stop` ends all calls in the registry.
    pub fn new(stop: Cancel) -> Self {
        Self {
            capacity: Arc::new(Semaphore::new(MAX_CALLS as usize)),
            stop,
            handles: Mutex::default(),
        }
    }

    /// Starts a call in a task of its own. The call takes its slot in the queue of a persistent
    /// shell at once, not when the task is scheduled.
    ///
    /// # Errors
    /// The limit is reached; nothing was started.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime.
    pub fn start(
        &self,
        tool: &BashTool,
        input: impl Into<Input>,
        options: StartOptions,
    ) -> Result<Arc<RunningCall>, TooManyCalls> {
        let capacity = Arc::clone(&self.capacity).try_acquire_owned();
        let capacity = capacity.map_err(|_| TooManyCalls)?;
        let (sender, finished_call) = watch::channel(None);
        let input = input.into();
        let StartOptions {
            live,
            terminal,
            escalation,
            tools,
            window,
        } = options;
        let (terminal, executor) = terminal.map(terminal_executor).unzip();
        let call = Arc::new(RunningCall {
            command: input.command().unwrap_or_default().to_owned(),
            cancel: self.stop.child(),
            keep: KeepOutput::default(),
            terminal,
            progress: Mutex::default(),
            finished_call,
        });
        let mut feed = OutputFeed {
            call: Arc::clone(&call),
            live,
        };
        let tool = tool.clone();
        let work = poll_once(async move {
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
            let finished_call = Box::pin(tool.execute_with_details(input, options, &cancel)).await;
            drop(feed);
            // Fails if all receivers were dropped.
            let _ = sender.send(Some(Arc::new(finished_call)));
            drop(capacity);
        });
        tokio::spawn(work);
        Ok(call)
    }

    /// Assigns a number by which [`Self::find`] finds the call. Forgets the oldest ended calls.
    pub fn assign_handle(&self, call: &Arc<RunningCall>) -> u64 {
        let mut handles = self.handles();
        handles.next += 1;
        let number = handles.next;
        handles.calls.insert(number, Arc::clone(call));
        let ended: Vec<u64> = handles
            .calls
            .iter()
            .filter(|(_, call)| call.finished_call().is_some())
            .map(|(number, _)| *number)
            .collect();
        for number in ended
            .iter()
            .take(ended.len().saturating_sub(MAX_ENDED_CALLS))
        {
            handles.calls.remove(number);
        }
        number
    }

    /// Returns the call with that number.
    pub fn find(&self, handle: u64) -> Option<Arc<RunningCall>> {
        self.handles().calls.get(&handle).cloned()
    }

    /// Releases a handle: the number no longer finds the call.
    pub fn forget(&self, handle: u64) {
        self.handles().calls.remove(&handle);
    }

    /// Returns the calls with a handle, in the order of their handles.
    pub fn list(&self) -> Vec<(u64, Arc<RunningCall>)> {
        let handles = self.handles();
        let calls = handles.calls.iter();
        calls
            .map(|(number, call)| (*number, Arc::clone(call)))
            .collect()
    }

    /// Returns when no call is running.
    pub async fn all_done(&self) {
        // Never fails: the semaphore is never closed.
        drop(self.capacity.acquire_many(MAX_CALLS).await);
    }

    fn handles(&self) -> MutexGuard<'_, Handles> {
        lock(&self.handles)
    }
}

impl RunningCall {
    /// Returns the finished call; `None` while it is running.
    pub fn finished_call(&self) -> Option<Arc<FinishedCall>> {
        self.finished_call.borrow().clone()
    }

    /// Waits for the call's end. Returns `None` if the call's task was lost, which is a bug.
    pub async fn ended(&self) -> Option<Arc<FinishedCall>> {
        let mut finished_call = self.finished_call.clone();
        let finished_call = finished_call.wait_for(Option::is_some).await.ok()?;
        finished_call.clone()
    }

    /// Waits for the call's end, for at most `limit` (`None`: without a limit), or until cancelled.
    pub async fn wait(
        &self,
        clock: &dyn Clock,
        limit: Option<Duration>,
        cancel: &Cancel,
    ) -> WaitOutcome {
        let limit = or_never(limit.map(|limit| clock.sleep(limit)));
        tokio::select! {
            biased;
            finished_call = self.ended() => WaitOutcome::Ended(finished_call),
            () = cancel.cancelled() => WaitOutcome::Cancelled,
            () = limit => WaitOutcome::StillRunning,
        }
    }

    /// Writes to the call's terminal, as if typed.
    ///
    /// # Errors
    /// [`WriteError`]: nothing was written.
    pub fn write(&self, bytes: &[u8]) -> Result<(), WriteError> {
        Ok(self.terminal()?.send_bytes(bytes)?)
    }

    /// Returns the call's terminal, which keeps the last screen after the end.
    ///
    /// # Errors
    /// [`WriteError`]: the call has no terminal, or the terminal was not created yet.
    pub fn terminal(&self) -> Result<&PtySession, WriteError> {
        let terminal = self.terminal.as_ref().ok_or(WriteError::NoInput)?;
        terminal.get().ok_or_else(|| match self.finished_call() {
            Some(_) => WriteError::Refused(InputRefused::Ended),
            None => WriteError::NotOpen,
        })
    }

    /// Returns the pid and the process group of the command; `None` before the command is started.
    pub fn process(&self) -> Option<(u32, u32)> {
        self.progress().process
    }

    /// Returns the number of bytes printed so far.
    pub fn total_bytes(&self) -> u64 {
        self.progress().recent.total()
    }

    /// Returns the call's output from `offset` on, or the unread output. Marks all output as read.
    pub fn read(&self, offset: Option<u64>) -> OutputPart {
        let is_over = self.finished_call().is_some();
        let mut progress = self.progress();
        let unread_from = progress.recent.unread_from();
        let stored = progress.recent.since(offset.unwrap_or(unread_from));
        let mut bytes = stored.bytes;
        // An incomplete character, and bytes that may begin a secret, are left for the next read.
        let whole = if is_over {
            bytes.len()
        } else {
            whole_characters(&bytes)
        };
        let incomplete = bytes.len() - whole;
        bytes.truncate(whole);
        let output = progress.masked(stored.from, bytes, is_over);
        let held = incomplete + output.held;
        let mut unread = progress.recent.take_unread(held);
        if !unread.head.is_empty() {
            unread.head = progress.masked(unread.from, unread.head, is_over).bytes;
        }
        OutputPart {
            output,
            from: stored.from,
            total: progress.recent.total(),
            lines_before: stored.lines_before,
            unread_from: unread.from,
            head: unread.head,
            lines: unread.lines,
        }
    }

    /// Returns the offset of the unread output.
    pub fn unread_from(&self) -> u64 {
        self.progress().recent.unread_from()
    }

    /// Returns the stored output from `offset` on, and the offset of its first byte. Marks nothing
    /// as read.
    pub fn peek(&self, offset: u64) -> (Vec<u8>, u64) {
        let stored = self.progress().recent.since(offset);
        (stored.bytes, stored.from)
    }

    /// True if the command runs on a terminal of its own.
    pub fn is_on_terminal(&self) -> bool {
        self.terminal.is_some()
    }

    fn progress(&self) -> MutexGuard<'_, CallProgress> {
        lock(&self.progress)
    }
}

/// Returns an executor that runs one call on a terminal, and the cell in which the executor stores
/// the terminal's handle at the start of the call.
fn terminal_executor(options: PtyOptions) -> (Arc<OnceLock<PtySession>>, Arc<dyn Executor>) {
    let cell = Arc::new(OnceLock::new());
    let for_session = Arc::clone(&cell);
    let executor = PtyExecutor::new(options).on_start(move |session| {
        // Cannot fail: a call is started only once.
        let _ = for_session.set(session);
    });
    (cell, Arc::new(executor))
}

/// Passes the output of a call to its watchers.
struct OutputFeed {
    call: Arc<RunningCall>,
    live: Option<LiveUpdates>,
}

impl OutputConsumer for OutputFeed {
    fn masks_output(&mut self, mask: &Arc<dyn OutputMask>) -> bool {
        self.call.progress().mask = Some(Arc::clone(mask));
        if let Some(live) = &self.live {
            live.mask_with(&**mask);
        }
        true
    }

    fn chunk(&mut self, _: StreamId, bytes: &[u8]) -> ConsumerFlow {
        self.call.progress().recent.push(bytes);
        if let Some(live) = &self.live {
            live.push(bytes);
        }
        ConsumerFlow::Continue
    }

    fn started(&mut self, pid: u32, group: u32) {
        self.call.progress().process = Some((pid, group));
    }
}

impl Drop for OutputFeed {
    fn drop(&mut self) {
        if let Some(live) = &self.live {
            live.end();
        }
    }
}
