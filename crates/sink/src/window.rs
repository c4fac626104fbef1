//! The first and last bytes of a text of any length, with their positions in the raw stream.
//!
//! A window contains bytes only; `lines` fills a window and `cut` reads it.

use crate::scan;
use std::collections::VecDeque;

/// The stored ends of a text.
#[derive(Debug, Default)]
pub(crate) struct Window {
    head_cap: usize,
    tail_cap: usize,
    shrink: Option<ShrinkLimit>,
    /// The first bytes, at most `head_cap`.
    pub(crate) head: TextPart,
    /// The last bytes, at most `tail_cap`.
    pub(crate) tail: TextPart,
    /// Length of the whole text.
    pub(crate) total: u64,
    /// Raw stream position after the last byte of the text.
    pub(crate) raw_end: u64,
    /// Position of the first visible byte, even if it was dropped.
    first_visible: Option<u64>,
}

/// If a text is longer than `over`, only `tail` bytes of its end can be shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShrinkLimit {
    pub(crate) over: u64,
    pub(crate) tail: usize,
}

/// A contiguous part of a text.
#[derive(Debug, Default)]
pub(crate) struct TextPart {
    /// The bytes after `lead` bytes that are already dropped (compacted only now and then).
    buffer: Vec<u8>,
    lead: usize,
    /// Position of the first byte within the text.
    pub(crate) start: u64,
    /// Maps text positions to stream positions: an entry for each change of the offset. The first
    /// covers the byte before `start`, if there is one.
    runs: VecDeque<IdenticalRun>,
    /// Raw stream position after the last byte.
    raw_end: u64,
    /// Lines that were clamped, oldest first.
    clamps: VecDeque<ClampMark>,
}

/// Up to the next run, text and stream are identical byte for byte.
#[derive(Debug, Clone, Copy)]
struct IdenticalRun {
    text: u64,
    raw: u64,
}

/// The mark of a clamped line.
#[derive(Debug, Clone, Copy)]
struct ClampMark {
    /// Position of the mark within the text.
    text: u64,
    /// Bytes of the stream that it replaces.
    raw_len: u64,
}

impl Window {
    /// Keeps the first `head_cap` and the last `tail_cap` bytes; fewer bytes of the end once
    /// `shrink` applies.
    pub(crate) fn new(head_cap: usize, tail_cap: usize, shrink: Option<ShrinkLimit>) -> Self {
        Self {
            head_cap,
            tail_cap,
            shrink,
            ..Self::default()
        }
    }

    /// Appends text that stands for the `raw_len` bytes of the stream at `raw`.
    pub(crate) fn append(&mut self, text: &[u8], raw: u64, raw_len: u64) {
        if text.is_empty() {
            return;
        }
        let run = IdenticalRun {
            text: self.total,
            raw,
        };
        if self.first_visible.is_none() {
            let visible = text.iter().position(|byte| !byte.is_ascii_whitespace());
            self.first_visible = visible.map(|at| self.total + at as u64);
        }
        self.total += text.len() as u64;
        self.raw_end = raw + raw_len;
        let room = (self.head_cap - self.head.len()).min(text.len());
        if room > 0 {
            self.head.push_run(run);
            self.head.buffer.extend_from_slice(&text[..room]);
            self.head.raw_end = self.raw_end;
            if raw_len != text.len() as u64 {
                self.head.runs.push_back(IdenticalRun {
                    text: run.text + room as u64,
                    raw: self.head.raw_end,
                });
            }
        }
        let cap = self.tail_cap();
        let surplus = text.len().saturating_sub(cap);
        self.tail.push_run(run);
        self.tail.make_room(text.len(), cap);
        self.tail.buffer.extend_from_slice(&text[surplus..]);
        self.tail.raw_end = self.raw_end;
        if raw_len != text.len() as u64 {
            // Bytes that are removed after a stand-in do not belong to it.
            self.tail.runs.push_back(IdenticalRun {
                text: self.total,
                raw: self.raw_end,
            });
        }
        self.tail.set_end(self.total);
    }

    /// Returns the number of bytes at the end to store, given the `total` so far.
    fn tail_cap(&self) -> usize {
        match self.shrink {
            Some(shrink) if self.total > shrink.over => shrink.tail,
            _ => self.tail_cap,
        }
    }

    /// Appends the mark of a clamped line, which stands for `raw_len` bytes at `raw`.
    pub(crate) fn append_clamp(&mut self, mark: &str, raw: u64, raw_len: u64) {
        let clamp = ClampMark {
            text: self.total,
            raw_len,
        };
        self.append(mark.as_bytes(), raw, raw_len);
        for part in [&mut self.head, &mut self.tail] {
            if part.start <= clamp.text && clamp.text < part.end() {
                part.clamps.push_back(clamp);
            }
        }
    }

    /// Moves the whole text of `line` to the end of this text.
    pub(crate) fn take(&mut self, line: &mut Self) {
        if line.total > 0 {
            let shift = self.total;
            self.total += line.total;
            self.raw_end = line.raw_end;
            let room = self.head_cap - self.head.len();
            self.head.take(&line.head, room, shift);
            let whole = usize::try_from(line.total).unwrap_or(usize::MAX);
            let cap = self.tail_cap();
            line.tail.lead += line.tail.len().saturating_sub(cap);
            self.tail.make_room(whole, cap);
            self.tail.take(&line.tail, line.tail.len(), shift);
            self.tail.set_end(self.total);
        }
        line.clear();
    }

    /// Clears the text but keeps the allocation.
    pub(crate) fn clear(&mut self) {
        self.head.clear();
        self.tail.clear();
        self.total = 0;
        self.raw_end = 0;
        self.first_visible = None;
    }

    /// True if visible text was appended and not removed again, even if it was dropped. Wrong after
    /// [`Self::take`], so do not call it on such a text.
    pub(crate) fn has_visible_text(&self) -> bool {
        self.first_visible.is_some_and(|at| at < self.total)
    }

    /// Removes up to `chars` characters from the stored end and returns them. If that part has
    /// clamp marks, this function removes nothing.
    pub(crate) fn take_back(&mut self, chars: usize) -> String {
        let part = &self.tail;
        if chars == 0 || !part.clamps.is_empty() {
            return String::new();
        }
        let bytes = part.bytes();
        // The first character kept may be incomplete.
        let first = bytes
            .iter()
            .position(|byte| !scan::is_continuation(*byte))
            .unwrap_or(bytes.len());
        let text = String::from_utf8_lossy(&bytes[first..]);
        let from = text
            .char_indices()
            .rev()
            .nth(chars - 1)
            .map_or(0, |(at, _)| at);
        let taken = text[from..].to_owned();
        self.total -= taken.len() as u64;
        self.first_visible = self.first_visible.filter(|at| *at < self.total);
        self.head.truncate(self.total);
        self.tail.truncate(self.total);
        taken
    }

    /// Returns the raw stream position before the byte at `text`, and before removed bytes in front
    /// of it. `None` if the byte was dropped.
    pub(crate) fn raw_before(&self, text: u64) -> Option<u64> {
        match text {
            0 => Some(0),
            _ if text == self.total => Some(self.raw_end),
            _ => [&self.tail, &self.head]
                .into_iter()
                .find(|part| part.start <= text && text <= part.end())
                .and_then(|part| part.raw_before(text)),
        }
    }
}

impl TextPart {
    /// Returns the number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.buffer.len() - self.lead
    }

    /// Returns the position after the last byte.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.len() as u64
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.lead..]
    }

    /// Returns the number of stream bytes that clamp marks between two positions replace.
    pub(crate) fn clamped(&self, from: u64, to: u64) -> u64 {
        self.clamps
            .iter()
            .filter(|clamp| from <= clamp.text && clamp.text < to)
            .map(|clamp| clamp.raw_len)
            .sum()
    }

    /// Adds a run, unless it continues the last run.
    fn push_run(&mut self, run: IdenticalRun) {
        let drifted = self
            .runs
            .back()
            .is_none_or(|last| last.raw + (run.text - last.text) != run.raw);
        if drifted {
            self.runs.push_back(run);
        }
    }

    /// Appends the first `count` bytes of `other`, whose position 0 corresponds to `shift` here.
    fn take(&mut self, other: &Self, count: usize, shift: u64) {
        if count == 0 {
            return;
        }
        let shifted = |run: &IdenticalRun| IdenticalRun {
            text: run.text + shift,
            raw: run.raw,
        };
        // Within `other`, each run is relative to the one before.
        let mut runs = other.runs.iter().map(shifted);
        if let Some(first) = runs.next() {
            self.push_run(first);
        }
        self.runs.extend(runs);
        let bytes = other.bytes();
        self.buffer
            .extend_from_slice(&bytes[..count.min(bytes.len())]);
        self.raw_end = other.raw_end;
        for clamp in &other.clamps {
            let text = clamp.text + shift;
            self.clamps.push_back(ClampMark { text, ..*clamp });
        }
    }

    /// Drops bytes from the front so that `added` more bytes (or the last `cap` of them) fit.
    #[inline]
    fn make_room(&mut self, added: usize, cap: usize) {
        let wanted = self.len().saturating_add(added);
        if wanted > cap {
            self.lead += (wanted - cap).min(self.len());
        }
        if self.buffer.len() + added.min(cap) > self.buffer.capacity() {
            self.compact(wanted.min(cap), cap);
        }
    }

    /// Compacts the buffer and makes room for `wanted` bytes. It grows to at most twice the cap, so
    /// that bytes are moved once per cap's worth of input.
    fn compact(&mut self, wanted: usize, cap: usize) {
        let len = self.len();
        self.buffer.copy_within(self.lead.., 0);
        self.buffer.truncate(len);
        self.lead = 0;
        let max_capacity = cap.saturating_mul(2);
        if self.buffer.capacity() > max_capacity {
            // The cap has shrunk.
            self.buffer.shrink_to(max_capacity);
            self.runs.shrink_to(0);
        }
        if wanted > max_capacity / 4 && self.buffer.capacity() < max_capacity {
            self.buffer.reserve_exact(max_capacity - len);
        }
    }

    /// Sets the end position and drops records of bytes that are no longer stored.
    fn set_end(&mut self, end: u64) {
        self.start = end - self.len() as u64;
        while self.runs.get(1).is_some_and(|next| next.text < self.start) {
            self.runs.pop_front();
        }
        while self
            .clamps
            .front()
            .is_some_and(|clamp| clamp.text < self.start)
        {
            self.clamps.pop_front();
        }
    }

    /// Drops all bytes from `end` on.
    fn truncate(&mut self, end: u64) {
        let kept = usize::try_from(end.saturating_sub(self.start)).unwrap_or(usize::MAX);
        self.buffer.truncate(self.lead.saturating_add(kept));
        self.start = self.start.min(end);
        while self.runs.back().is_some_and(|run| run.text >= end) {
            self.runs.pop_back();
        }
    }

    fn clear(&mut self) {
        self.buffer.clear();
        self.lead = 0;
        self.runs.clear();
        self.clamps.clear();
        self.start = 0;
    }

    /// Returns the raw stream position of the byte at `text`. `None` if no run covers it.
    fn raw_before(&self, text: u64) -> Option<u64> {
        let after = self.runs.partition_point(|run| run.text < text);
        let run = self.runs.get(after.checked_sub(1)?)?;
        let limit = self.runs.get(after).map_or(self.raw_end, |next| next.raw);
        // A stand-in may be longer than the bytes it replaces.
        Some((run.raw + (text - run.text)).min(limit))
    }
}
