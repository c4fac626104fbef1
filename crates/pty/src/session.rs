//! A host's handle to a command on its terminal: provides the screen, accepts input, and reports
//! changes. The handle never blocks, and does not keep the command alive.

use crate::colors::TerminalColors;
use crate::emulator::Emulator;
use crate::keys;
use crate::recording::Recording;
use crate::terminal::Terminal;
use crate::{PtySize, WaitingFor};
use agent_bash_core::{Cancel, KeyInput, NotStarted, Outcome, Screen, lock};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// Maximum number of bytes of input that are queued for a program that does not read.
const MAX_INPUT_BYTES: usize = 1 << 20;

/// If more bytes are queued, replies to a program's queries are dropped: the program does not read
/// them.
const MAX_INPUT_BYTES_FOR_REPLIES: usize = 64 << 10;

/// A handle to a command on its terminal. Clones refer to the same session. Dropping a handle does
/// not end the command. After the command's end, a handle still has the last screen, and holds no
/// descriptors.
#[derive(Clone)]
pub struct PtySession {
    shared: Arc<SharedSession>,
    status: watch::Receiver<PtyStatus>,
}

/// The state of a session.
#[derive(Debug, Clone, Default)]
pub struct PtyStatus {
    /// Increases with every possible change of the screen.
    pub generation: u64,
    /// The input that the command waits for, if known. Detected after two seconds of silence; reset
    /// by the next output or input.
    pub waiting: Option<WaitingFor>,
    /// How the command ended, if it has ended.
    pub ended: Option<Arc<PtyEnd>>,
}

/// The end of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct PtyEnd {
    /// The executor's result.
    pub result: Result<Outcome, NotStarted>,
    /// True if the user at the terminal ended the command with [`PtySession::kill`].
    pub killed: bool,
}

/// Input was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InputRefused {
    /// The command has ended.
    #[error("the command has ended")]
    Ended,
    /// 1 MiB of input is queued already: the program does not read.
    #[error("the program does not read its input")]
    Full,
}

impl PtySession {
    /// Returns the screen. Cheap, because the screen is built once per change, and only on demand.
    pub fn screen(&self) -> Arc<Screen> {
        let generation = self.status.borrow().generation;
        let mut cache = lock(&self.shared.cache);
        if let Some((cached_generation, screen)) = &*cache
            && *cached_generation == generation
        {
            return Arc::clone(screen);
        }
        let screen = Arc::new(lock(&self.shared.emulator).snapshot(0));
        *cache = Some((generation, Arc::clone(&screen)));
        screen
    }

    /// Returns the screen scrolled back by `lines` lines, at most [`Screen::scrollback`].
    pub fn scrolled_back(&self, lines: usize) -> Screen {
        lock(&self.shared.emulator).snapshot(lines)
    }

    /// Returns the screen's text, line by line, without trailing blanks and without empty lines at
    /// the bottom.
    pub fn text(&self) -> Vec<String> {
        lock(&self.shared.emulator).text()
    }

    /// Returns the current state of the session.
    pub fn status(&self) -> PtyStatus {
        self.status.borrow().clone()
    }

    /// Waits for a change since this handle last waited; returns at once if there was a change.
    /// Rapid changes are combined. Does not return after the end. Cancel safe.
    pub async fn changed(&mut self) -> PtyStatus {
        if self.status.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        self.status.borrow_and_update().clone()
    }

    /// Waits until the command has ended. Cancel safe.
    pub async fn ended(&self) -> Arc<PtyEnd> {
        let mut status = self.status.clone();
        if let Ok(status) = status.wait_for(|status| status.ended.is_some()).await
            && let Some(end) = &status.ended
        {
            return Arc::clone(end);
        }
        // Cannot happen: this handle keeps the sender alive.
        std::future::pending().await
    }

    /// Sends user input, encoded as the program has requested. Does not wait. Does nothing if the
    /// program did not enable such events.
    ///
    /// # Errors
    ///
    /// Nothing was sent.
    pub fn send(&self, input: &KeyInput) -> Result<(), InputRefused> {
        let modes = lock(&self.shared.emulator).input_modes();
        self.send_bytes(&keys::encode(input, modes))
    }

    /// Sends raw bytes.
    ///
    /// # Errors
    ///
    /// Nothing was sent.
    pub fn send_bytes(&self, bytes: &[u8]) -> Result<(), InputRefused> {
        if lock(&self.shared.terminal).is_none() {
            return Err(InputRefused::Ended);
        }
        let mut input = lock(&self.shared.input);
        if input.len() + bytes.len() > MAX_INPUT_BYTES {
            return Err(InputRefused::Full);
        }
        input.extend(bytes);
        drop(input);
        self.shared.wake.notify_one();
        Ok(())
    }

    /// Resizes screen and terminal; the program gets SIGWINCH. Does nothing after the end.
    pub fn resize(&self, size: PtySize) {
        let terminal = lock(&self.shared.terminal);
        let Some(terminal) = &*terminal else { return };
        // The emulator is resized first, because output after SIGWINCH is for the new size.
        {
            let mut emulator = lock(&self.shared.emulator);
            if emulator.size() == size {
                return;
            }
            emulator.resize(size);
        }
        if let Err(error) = terminal.resize(size) {
            tracing::debug!(%error, "a terminal could not be resized");
        }
        if let Some(recording) = &mut *lock(&self.shared.recording) {
            recording.resized(size);
        }
        self.shared.notify_change(|_| {});
    }

    /// Returns the current size.
    pub fn size(&self) -> PtySize {
        lock(&self.shared.emulator).size()
    }

    /// Ends the command and everything it started: SIGHUP, SIGTERM, the call's grace period,
    /// SIGKILL. Does not wait.
    pub fn kill(&self) {
        self.shared.kill.cancel();
    }
}

impl fmt::Debug for PtySession {
    /// Omits the screen and the input.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PtySession")
            .field("status", &*self.status.borrow())
            .finish_non_exhaustive()
    }
}

/// The state that the handles and the running call share.
pub(crate) struct SharedSession {
    emulator: Mutex<Emulator>,
    /// The last built screen, and its generation.
    cache: Mutex<Option<(u64, Arc<Screen>)>>,
    /// `None` after the call's end.
    terminal: Mutex<Option<Arc<Terminal>>>,
    /// Input waiting to be written to the terminal.
    pub(crate) input: Mutex<VecDeque<u8>>,
    /// Signals new input.
    pub(crate) wake: Notify,
    /// Triggered by [`PtySession::kill`].
    pub(crate) kill: Cancel,
    recording: Mutex<Option<Recording>>,
    status: watch::Sender<PtyStatus>,
}

impl SharedSession {
    pub(crate) fn new(
        terminal: Arc<Terminal>,
        size: PtySize,
        colors: TerminalColors,
        is_full_screen: bool,
        recording: Option<Recording>,
    ) -> Arc<Self> {
        Arc::new(Self {
            emulator: Mutex::new(Emulator::new(size, colors, is_full_screen)),
            cache: Mutex::new(None),
            terminal: Mutex::new(Some(terminal)),
            input: Mutex::new(VecDeque::new()),
            wake: Notify::new(),
            kill: Cancel::new(),
            recording: Mutex::new(recording),
            status: watch::Sender::new(PtyStatus::default()),
        })
    }

    /// Returns a new handle.
    pub(crate) fn session(self: &Arc<Self>) -> PtySession {
        PtySession {
            shared: Arc::clone(self),
            status: self.status.subscribe(),
        }
    }

    /// Processes a program's output that arrived at `now`. Returns the part for readers.
    pub(crate) fn process(&self, chunk: &[u8], now: Duration, raw: bool) -> Vec<u8> {
        let processed = lock(&self.emulator).process(chunk, now, raw);
        if !processed.replies.is_empty() {
            let mut input = lock(&self.input);
            if input.len() < MAX_INPUT_BYTES_FOR_REPLIES {
                input.extend(processed.replies.as_bytes());
            }
        }
        if let Some(recording) = &mut *lock(&self.recording) {
            recording.output(chunk);
        }
        self.notify_change(|status| status.waiting = None);
        processed.output
    }

    /// True if input is waiting to be written.
    pub(crate) fn has_input(&self) -> bool {
        !lock(&self.input).is_empty()
    }

    /// Discards queued input that no program will read.
    pub(crate) fn drop_input(&self) {
        lock(&self.input).clear();
    }

    pub(crate) fn is_alternate(&self) -> bool {
        lock(&self.emulator).is_alternate()
    }

    pub(crate) fn waiting(&self) -> Option<WaitingFor> {
        self.status.borrow().waiting
    }

    pub(crate) fn set_waiting(&self, waiting: Option<WaitingFor>) {
        self.status.send_if_modified(|status| {
            let has_changed = status.waiting != waiting;
            status.waiting = waiting;
            has_changed
        });
    }

    /// Returns the rest of the output: see [`Emulator::finish`].
    pub(crate) fn finish(&self, now: Duration) -> Vec<u8> {
        lock(&self.emulator).finish(now)
    }

    /// Releases the terminal, and reports how the command ended. Only the first call has an effect.
    pub(crate) fn end(&self, end: PtyEnd) {
        if self.status.borrow().ended.is_some() {
            return;
        }
        drop(lock(&self.terminal).take());
        self.drop_input();
        if let Some(mut recording) = lock(&self.recording).take() {
            recording.finish();
        }
        self.notify_change(|status| {
            status.waiting = None;
            status.ended = Some(Arc::new(end));
        });
    }

    /// Changes the status, and reports that the screen may have changed.
    fn notify_change(&self, change: impl FnOnce(&mut PtyStatus)) {
        self.status.send_modify(|status| {
            status.generation += 1;
            change(status);
        });
    }
}
