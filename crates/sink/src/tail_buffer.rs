//! [`TailBuffer`]: the last bytes of a running command's output, for live views.
//!
//! Taking a chunk copies at most the buffer's size; text is cleaned only for a snapshot.
//! `OutputSink` counts, stores and writes the final text.

use crate::cut;
use crate::lines::StreamLines;
use crate::sanitise::{CarriageReturn, Sanitiser};
use agent_bash_core::Truncation;
use std::collections::VecDeque;

/// A bounded tail of raw output.
#[derive(Debug)]
pub struct TailBuffer {
    bytes: VecDeque<u8>,
    max: usize,
    total: u64,
    line_ends: u64,
    carriage_return: CarriageReturn,
}

/// The end of an output, from an offset on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TailPart {
    /// The offset of these bytes; higher than requested if earlier bytes were dropped.
    pub from: u64,
    /// Number of line ends before these bytes.
    pub lines_before: u64,
    /// The raw bytes.
    pub bytes: Vec<u8>,
}

impl TailBuffer {
    /// Creates a buffer for the last `max` bytes.
    pub fn new(max: usize, carriage_return: CarriageReturn) -> Self {
        Self {
            bytes: VecDeque::new(),
            max,
            total: 0,
            line_ends: 0,
            carriage_return,
        }
    }

    /// Takes a chunk.
    pub fn push(&mut self, chunk: &[u8]) {
        self.total += chunk.len() as u64;
        self.line_ends += line_ends(chunk);
        let kept = &chunk[chunk.len().saturating_sub(self.max)..];
        let surplus = (self.bytes.len() + kept.len()).saturating_sub(self.max);
        self.bytes.drain(..surplus);
        self.bytes.extend(kept);
    }

    /// Returns the total number of bytes taken.
    pub fn total_bytes(&self) -> u64 {
        self.total
    }

    /// Returns the total number of line ends taken.
    pub fn line_ends(&self) -> u64 {
        self.line_ends
    }

    /// Returns the clean text of the stored bytes, from the first whole line on if earlier bytes
    /// were dropped.
    pub fn snapshot(&self) -> String {
        let (front, back) = self.bytes.as_slices();
        let lost = self.total > self.bytes.len() as u64;
        clean(self.carriage_return, lost, &[front, back])
    }

    /// Returns the output from raw byte `from` on, as far as it is still stored.
    pub fn since(&self, from: u64) -> TailPart {
        let first = self.total - self.bytes.len() as u64;
        let from = from.clamp(first, self.total);
        let skip = usize::try_from(from - first).unwrap_or(usize::MAX);
        let bytes: Vec<u8> = self.bytes.range(skip..).copied().collect();
        TailPart {
            from,
            lines_before: self.line_ends - line_ends(&bytes),
            bytes,
        }
    }
}

fn line_ends(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Returns the clean text of `parts`. `lost`: earlier bytes were dropped, so the text starts at the
/// first whole line.
fn clean(carriage_return: CarriageReturn, lost: bool, parts: &[&[u8]]) -> String {
    let mut sanitiser = Sanitiser::new(carriage_return);
    let policy = Truncation::Tail { bytes: usize::MAX };
    let mut lines = StreamLines::new(cut::window_sizes(policy, false), None, None, None);
    for part in parts {
        sanitiser.push(part, &mut lines);
    }
    // A later snapshot shows an incomplete character at the end, once it is complete.
    let raw = sanitiser.raw();
    let cut = cut::cut(&lines.finish(raw), policy, None, raw);
    let mut pieces = cut.shown.pieces();
    let text = pieces.next().map_or("", |piece| piece.text.as_str());
    match text.find('\n') {
        Some(end) if lost => text[end + 1..].to_owned(),
        // There is only one line, and its first character may be incomplete.
        None if lost => text.trim_start_matches('\u{fffd}').to_owned(),
        _ => text.to_owned(),
    }
}
