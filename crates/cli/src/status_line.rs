//! A status line on stderr for commands that take longer than a second: elapsed time and amount of
//! output. Only on a terminal, and erased when the command has ended.

use agent_bash::HostContext;
use agent_bash::core::{Clock, ConsumerFlow, OutputConsumer, StreamId, lock, short_duration};
use agent_bash::sink::{SizeStyle, size_text};
use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;

/// Commands that finish sooner show no status line.
const FIRST_DELAY: Duration = Duration::from_secs(1);

const UPDATE_INTERVAL: Duration = Duration::from_millis(200);

/// Carriage return, then erase to the end of the line.
const ERASE_LINE: &str = "\r\x1b[K";

/// The status line of one command.
pub(crate) struct StatusLine {
    counts: Arc<OutputCounts>,
    task: JoinHandle<()>,
    /// True if a line is on the screen. Locked while writing, so that no line is drawn after the
    /// final erase.
    is_painted: Arc<Mutex<bool>>,
}

/// The amount of output so far.
#[derive(Default)]
struct OutputCounts {
    bytes: AtomicU64,
    newlines: AtomicU64,
}

impl StatusLine {
    /// Starts the timer, if stderr is a terminal that can erase a line.
    pub(crate) fn start(host: &HostContext, clock: Arc<dyn Clock>) -> Option<Self> {
        let is_dumb = host
            .env
            .get(OsStr::new("TERM"))
            .is_none_or(|term| term == "dumb");
        if is_dumb || !io::stderr().is_terminal() {
            return None;
        }
        let counts = Arc::new(OutputCounts::default());
        let is_painted = Arc::new(Mutex::new(false));
        let task = tokio::spawn(paint(Arc::clone(&counts), Arc::clone(&is_painted), clock));
        Some(Self {
            counts,
            task,
            is_painted,
        })
    }
}

impl OutputConsumer for StatusLine {
    fn chunk(&mut self, _: StreamId, bytes: &[u8]) -> ConsumerFlow {
        let newlines = bytes.split(|byte| *byte == b'\n').count() - 1;
        self.counts
            .bytes
            .fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.counts
            .newlines
            .fetch_add(newlines as u64, Ordering::Relaxed);
        ConsumerFlow::Continue
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        let mut is_painted = lock(&self.is_painted);
        self.task.abort();
        if std::mem::take(&mut *is_painted) {
            // Errors are ignored: the line is only informational.
            let _ = io::stderr().lock().write_all(ERASE_LINE.as_bytes());
        }
    }
}

/// Draws the line again and again, after the first delay. Ends when the task is aborted.
async fn paint(counts: Arc<OutputCounts>, is_painted: Arc<Mutex<bool>>, clock: Arc<dyn Clock>) {
    let begin = clock.now();
    clock.sleep(FIRST_DELAY).await;
    loop {
        let elapsed = clock.now().saturating_sub(begin);
        let bytes = counts.bytes.load(Ordering::Relaxed);
        let line = line(elapsed, bytes, counts.newlines.load(Ordering::Relaxed));
        {
            let mut is_painted = lock(&is_painted);
            *is_painted = true;
            let _ = write!(io::stderr().lock(), "{ERASE_LINE}{line}");
        }
        clock.sleep(UPDATE_INTERVAL).await;
    }
}

/// Returns the text of the line. It fits on any terminal, because a wrapped line could not be
/// erased.
fn line(elapsed: Duration, bytes: u64, lines: u64) -> String {
    let elapsed = short_duration(Duration::from_secs(elapsed.as_secs()));
    let printed = match (bytes, lines) {
        (0, _) => "nothing printed yet".to_owned(),
        (_, 0 | 1) => format!("{}, 1 line", size_text(bytes, SizeStyle::Spaced)),
        _ => format!("{}, {lines} lines", size_text(bytes, SizeStyle::Spaced)),
    };
    format!("[{elapsed}: {printed}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_line_shows_elapsed_time_and_output() {
        for (millis, bytes, lines, want) in [
            (1000, 0, 0, "[1s: nothing printed yet]"),
            (61_900, 9, 1, "[61s: 9 B, 1 line]"),
            (120_000, 1_572_864, 20_000, "[2m: 1.5 MB, 20000 lines]"),
        ] {
            assert_eq!(line(Duration::from_millis(millis), bytes, lines), want);
        }
    }
}
