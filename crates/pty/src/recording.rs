//! Records a session as asciicast v2, the format of asciinema. The first JSON line has the size. A
//! line follows for every piece of output and every change of size.
//!
//! Input is not recorded: with echo it is part of the output, and without echo it is private.

use crate::PtySize;
use agent_bash_core::{Clock, Timestamp, whole_characters};
use serde_json::json;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

/// The destination of a recording, usually a file. Written in whole lines as output arrives.
pub type RecordingWriter = Box<dyn Write + Send>;

/// A recording in progress.
pub(crate) struct Recording {
    out: RecordingWriter,
    clock: Arc<dyn Clock>,
    started: Duration,
    /// The beginning of a character that is not complete yet.
    incomplete: Vec<u8>,
    has_failed: bool,
}

impl Recording {
    /// Starts a recording, and writes its first line.
    pub(crate) fn start(out: RecordingWriter, clock: Arc<dyn Clock>, size: PtySize) -> Self {
        let Timestamp(millis) = clock.wall();
        let mut recording = Self {
            out,
            started: clock.now(),
            clock,
            incomplete: Vec::new(),
            has_failed: false,
        };
        recording.write_line(&json!({
            "version": 2,
            "width": size.cols(),
            "height": size.rows(),
            "timestamp": millis / 1000,
            "env": {"TERM": "xterm-256color"},
        }));
        recording
    }

    /// Records output, split anywhere.
    pub(crate) fn output(&mut self, bytes: &[u8]) {
        self.incomplete.extend_from_slice(bytes);
        let whole = whole_characters(&self.incomplete);
        let text = String::from_utf8_lossy(&self.incomplete[..whole]).into_owned();
        self.incomplete.drain(..whole);
        if !text.is_empty() {
            self.write_event("o", &text);
        }
    }

    pub(crate) fn resized(&mut self, size: PtySize) {
        self.write_event("r", &format!("{}x{}", size.cols(), size.rows()));
    }

    /// Writes an incomplete character at the end, and flushes the writer.
    pub(crate) fn finish(&mut self) {
        let text = String::from_utf8_lossy(&self.incomplete).into_owned();
        self.incomplete.clear();
        if !text.is_empty() {
            self.write_event("o", &text);
        }
        let flushed = self.out.flush();
        self.stop_on_error(flushed);
    }

    fn write_event(&mut self, kind: &str, data: &str) {
        let seconds = self.clock.now().saturating_sub(self.started).as_secs_f64();
        // The resolution is a microsecond, as in other recorders.
        let seconds = (seconds * 1e6).round() / 1e6;
        self.write_line(&json!([seconds, kind, data]));
    }

    fn write_line(&mut self, value: &serde_json::Value) {
        if !self.has_failed {
            let written = self.out.write_all(format!("{value}\n").as_bytes());
            self.stop_on_error(written);
        }
    }

    /// Stops the recording after an error of its writer; the command continues.
    fn stop_on_error(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            tracing::warn!(%error, "the recording of a terminal could not be written");
            self.has_failed = true;
        }
    }
}

#[cfg(test)]
#[path = "recording_tests.rs"]
mod tests;
