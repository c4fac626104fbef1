//! [`LiveUpdates`]: the output of a running command, for a watcher.
//!
//! The executor pushes output. The watcher awaits [`LiveUpdates::next`], or takes the current
//! update whenever it draws. Awaited updates are at least [`LiveOptions::interval`] apart, the last
//! one always arrives, and unchanged content is not repeated. The cost per second is bounded for
//! any amount of output: one buffer copy per chunk, and one buffer per update.

use crate::sanitise::{CarriageReturn, Sanitiser, TextSink};
use crate::tail_buffer::TailBuffer;
use agent_bash_core::{Clock, MaskStream, OutputMask, lock};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};
use std::time::Duration;

/// Options of a watcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveOptions {
    /// Snapshots, deltas or raw output.
    pub kind: LiveKind,
    /// Upper limit of the raw bytes in one update.
    pub max_bytes: usize,
    /// Minimum time between two updates; 50 ms, as the contract says.
    pub interval: Duration,
    /// How a lone CR is handled; by default, the following text overwrites the line.
    pub carriage_return: CarriageReturn,
}

impl LiveOptions {
    /// Returns options for updates of this kind, each with at most `max_bytes` raw bytes.
    pub fn new(kind: LiveKind, max_bytes: usize) -> Self {
        Self {
            kind,
            max_bytes,
            interval: Duration::from_millis(50),
            carriage_return: CarriageReturn::Overwrite,
        }
    }
}

/// The contents of updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LiveKind {
    /// The current tail, cleaned.
    Snapshot,
    /// The new output since the last update, cleaned.
    Delta,
    /// The new raw output since the last update, for a watcher that draws colours.
    Raw,
}

/// An update.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LiveUpdate {
    /// The current tail; replaces the previous tail.
    Snapshot {
        /// Clean text.
        text: String,
        /// Bytes printed so far.
        total_bytes: u64,
    },
    /// The new output since the last update.
    Delta {
        /// The number of bytes to remove first from the end of the text so far: the part of a line
        /// that a carriage return has overwritten.
        rewind: usize,
        /// Clean text to append.
        text: String,
        /// The number of raw bytes before this text that were skipped because output came too fast.
        /// A line that began before the skipped bytes stays as it is.
        skipped_bytes: u64,
        /// Bytes printed so far.
        total_bytes: u64,
    },
    /// The new output since the last update.
    Raw {
        /// The bytes. If earlier bytes were skipped, they start at the beginning of a line.
        bytes: Vec<u8>,
        /// The number of lines before these bytes that were skipped because output came too fast.
        skipped_lines: u64,
        /// Bytes printed so far.
        total_bytes: u64,
    },
}

/// The live output of one command, for one watcher. Clones share the output.
#[derive(Debug, Clone)]
pub struct LiveUpdates {
    shared: Arc<Mutex<SharedLive>>,
    options: LiveOptions,
}

#[derive(Debug)]
struct SharedLive {
    tail: TailBuffer,
    /// Number of bytes delivered, or removed by cleaning.
    delivered: u64,
    /// Number of line ends in these bytes.
    delivered_lines: u64,
    /// The mask, and the number of bytes that were printed.
    mask: Option<(Box<dyn MaskStream>, u64)>,
    last_at: Option<Duration>,
    last_text: String,
    delta: Delta,
    ended: bool,
    /// The waker for the next output, or for the end.
    watcher: Option<Waker>,
}

/// The next step of a watcher.
enum WatcherStep {
    Deliver(LiveUpdate),
    Wait(Duration),
    /// The new output changes nothing visible.
    Nothing,
    End,
}

/// The cleaning state kept between two deltas.
struct Delta {
    sanitiser: Sanitiser,
    /// Length of the open line that the watcher has.
    open_len: usize,
    /// The end of the output, as far back as backspaces can reach.
    open: String,
}

/// Bytes of the open line that are remembered between deltas.
const MAX_OPEN_BYTES: usize = 4096;

impl LiveUpdates {
    /// Creates an empty live output.
    pub fn new(options: LiveOptions) -> Self {
        let shared = SharedLive {
            tail: TailBuffer::new(options.max_bytes, options.carriage_return),
            delivered: 0,
            delivered_lines: 0,
            mask: None,
            last_at: None,
            last_text: String::new(),
            delta: Delta::new(options.carriage_return),
            ended: false,
            watcher: None,
        };
        Self {
            shared: Arc::new(Mutex::new(shared)),
            options,
        }
    }

    /// Masks secrets in all updates, if nothing was pushed yet. The total still counts the printed
    /// bytes.
    pub fn mask_with(&self, mask: &dyn OutputMask) {
        let mut shared = self.lock();
        if shared.mask.is_none() && shared.tail.total_bytes() == 0 {
            shared.mask = Some((mask.stream(), 0));
        }
    }

    /// Takes a chunk of the command's output.
    pub fn push(&self, chunk: &[u8]) {
        let mut shared = self.lock();
        shared.push(chunk);
        shared.wake();
    }

    /// Marks the end of the command: the next update is the last and contains all undelivered
    /// output.
    pub fn end(&self) {
        let mut shared = self.lock();
        shared.finish_mask();
        shared.ended = true;
        shared.wake();
    }

    /// Returns the next update; `None` after the last one. Sleeps until there is output, and on
    /// `clock` until the interval since the last update is over. Cancel safe.
    pub async fn next(&self, clock: &dyn Clock) -> Option<LiveUpdate> {
        loop {
            self.changed().await;
            match self.step(clock.now()) {
                WatcherStep::Deliver(update) => return Some(update),
                WatcherStep::Wait(left) => clock.sleep(left).await,
                WatcherStep::Nothing => {}
                WatcherStep::End => return None,
            }
        }
    }

    /// Waits until there is undelivered output, or the end.
    async fn changed(&self) {
        poll_fn(|context| {
            let mut shared = self.lock();
            if shared.is_pending() || shared.ended {
                return Poll::Ready(());
            }
            shared.watcher = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn step(&self, now: Duration) -> WatcherStep {
        let mut shared = self.lock();
        let due = shared.last_at.map(|last| last + self.options.interval);
        if shared.is_pending()
            && let Some(left) = due.and_then(|due| due.checked_sub(now))
            && !left.is_zero()
        {
            return WatcherStep::Wait(left);
        }
        match shared.take(&self.options) {
            Some(update) => {
                shared.last_at = Some(now);
                WatcherStep::Deliver(update)
            }
            None if shared.ended => WatcherStep::End,
            None => WatcherStep::Nothing,
        }
    }

    /// Returns the current update without waiting for the interval; `None` if nothing has changed.
    /// `watcher` is woken once, by the next output or the end.
    pub fn take(&self, watcher: &Waker) -> Option<LiveUpdate> {
        let mut shared = self.lock();
        shared.watcher = Some(watcher.clone());
        shared.take(&self.options)
    }

    fn lock(&self) -> MutexGuard<'_, SharedLive> {
        lock(&self.shared)
    }
}

impl SharedLive {
    fn push(&mut self, chunk: &[u8]) {
        let tail = &mut self.tail;
        match &mut self.mask {
            Some((mask, printed)) => {
                *printed += chunk.len() as u64;
                mask.push(chunk, &mut |piece| tail.push(piece.shown()));
            }
            None => tail.push(chunk),
        }
    }

    fn finish_mask(&mut self) {
        let tail = &mut self.tail;
        if let Some((mask, _)) = &mut self.mask {
            mask.finish(&mut |piece| tail.push(piece.shown()));
        }
    }

    /// Returns the number of bytes printed so far.
    fn printed(&self) -> u64 {
        match &self.mask {
            Some((_, printed)) => *printed,
            None => self.tail.total_bytes(),
        }
    }

    fn is_pending(&self) -> bool {
        self.tail.total_bytes() > self.delivered
    }

    fn wake(&mut self) {
        if let Some(watcher) = self.watcher.take() {
            watcher.wake();
        }
    }

    /// Returns the next update, if it changes anything.
    fn take(&mut self, options: &LiveOptions) -> Option<LiveUpdate> {
        let shown_bytes = self.tail.total_bytes();
        let total_bytes = self.printed();
        let update = match options.kind {
            LiveKind::Snapshot => {
                let text = self.tail.snapshot();
                let changed = text != self.last_text;
                self.last_text.clone_from(&text);
                changed.then_some(LiveUpdate::Snapshot { text, total_bytes })
            }
            LiveKind::Delta => self.delta(options.carriage_return, total_bytes),
            LiveKind::Raw => self.raw(total_bytes),
        };
        self.delivered = shown_bytes;
        update
    }

    fn raw(&mut self, total_bytes: u64) -> Option<LiveUpdate> {
        let part = self.tail.since(self.delivered);
        let (mut bytes, mut lines_before) = (part.bytes, part.lines_before);
        if part.from > self.delivered
            && let Some(end) = bytes.iter().position(|byte| *byte == b'\n')
        {
            bytes.drain(..=end);
            lines_before += 1;
        }
        let skipped_lines = lines_before - self.delivered_lines;
        self.delivered_lines = self.tail.line_ends();
        (self.tail.total_bytes() > self.delivered).then_some(LiveUpdate::Raw {
            bytes,
            skipped_lines,
            total_bytes,
        })
    }

    fn delta(&mut self, carriage_return: CarriageReturn, total_bytes: u64) -> Option<LiveUpdate> {
        let part = self.tail.since(self.delivered);
        let skipped_bytes = part.from - self.delivered;
        if skipped_bytes > 0 {
            // Partial state (half a character or sequence) is lost with the skipped bytes.
            self.delta = Delta::new(carriage_return);
        }
        let mut change = DeltaText {
            rewind: 0,
            text: String::new(),
            line_start: 0,
            known: self.delta.open_len,
            open: std::mem::take(&mut self.delta.open),
        };
        self.delta.sanitiser.push(&part.bytes, &mut change);
        if self.ended {
            self.delta.sanitiser.finish(&mut change);
        }
        let line = &change.text[change.line_start..];
        if change.line_start > 0 {
            self.delta.open_len = line.len();
            change.open.clear();
        } else {
            self.delta.open_len = change.known - change.rewind + line.len();
        }
        change.open.push_str(line);
        let surplus = change.open.len().saturating_sub(MAX_OPEN_BYTES);
        let len = change.open.len();
        let boundary = (surplus..=len).find(|at| change.open.is_char_boundary(*at));
        let boundary = boundary.unwrap_or(len);
        change.open.drain(..boundary);
        let DeltaText {
            rewind, text, open, ..
        } = change;
        self.delta.open = open;
        let changed = rewind > 0 || skipped_bytes > 0 || !text.is_empty();
        changed.then_some(LiveUpdate::Delta {
            rewind,
            text,
            skipped_bytes,
            total_bytes,
        })
    }
}

impl Delta {
    fn new(carriage_return: CarriageReturn) -> Self {
        Self {
            sanitiser: Sanitiser::new(carriage_return),
            open_len: 0,
            open: String::new(),
        }
    }
}

impl std::fmt::Debug for Delta {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Delta")
            .field("open_len", &self.open_len)
            .finish_non_exhaustive()
    }
}

/// Collects the text of one delta.
struct DeltaText {
    rewind: usize,
    text: String,
    /// Start in `text` of its last line.
    line_start: usize,
    /// Length of the open line that the watcher already has; the first line of `text` continues it.
    known: usize,
    /// The end of that open line.
    open: String,
}

impl TextSink for DeltaText {
    fn text(&mut self, text: &[u8], _raw: u64) {
        // Cleaned text always consists of whole characters, so nothing is replaced.
        self.text.push_str(&String::from_utf8_lossy(text));
        if let Some(end) = self.text.rfind('\n') {
            self.line_start = end + 1;
        }
    }

    fn stand_in(&mut self, text: &str, _raw: u64, _raw_len: u64) {
        self.text.push_str(text);
    }

    fn line_end(&mut self, raw: u64) {
        self.text(b"\n", raw);
    }

    fn restart_line(&mut self, _raw: u64) {
        if self.line_start == 0 {
            self.rewind = self.known;
            self.open.clear();
        }
        self.text.truncate(self.line_start);
    }

    fn take_back(&mut self, chars: usize) -> String {
        let in_text = self.text[self.line_start..].chars().count().min(chars);
        let mut taken = last_chars(&mut self.text, in_text);
        if in_text < chars && self.line_start == 0 {
            let before = last_chars(&mut self.open, chars - in_text);
            self.rewind += before.len();
            taken.insert_str(0, &before);
        }
        taken
    }
}

/// Removes up to `count` characters from the end and returns them.
fn last_chars(text: &mut String, count: usize) -> String {
    let Some(last) = count.checked_sub(1) else {
        return String::new();
    };
    let from = text.char_indices().rev().nth(last);
    text.split_off(from.map_or(0, |(at, _)| at))
}
