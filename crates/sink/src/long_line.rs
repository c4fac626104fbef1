//! Searches a line of any length in bounded memory, and stores the context of its first match. If a
//! line is longer than two segments of [`SEGMENT_BYTES`], the searched part is dropped, except for
//! an end in which the longest match ([`MAX_MATCH_BYTES`]) may begin.

use crate::scan;
use regex::bytes::Regex;

/// Half of the largest number of bytes that are stored and searched at once.
const SEGMENT_BYTES: usize = 1 << 20;

/// Longest match that is guaranteed to be found in a line longer than a segment.
const MAX_MATCH_BYTES: usize = 64 * 1024;

/// Lines with more characters than this are shown in part.
const MAX_SHOWN_CHARS: usize = 1000;

/// Bytes shown before and after a match in such a line.
const CONTEXT_BYTES: usize = 400;

/// A line that is searched while it is read.
#[derive(Debug, Default)]
pub(crate) struct LongLine {
    /// The line's text, except for the first `dropped` bytes.
    bytes: Vec<u8>,
    dropped: u64,
    /// Number of characters in the dropped bytes.
    dropped_chars: u64,
    /// The positions of pieces of the text: (position in the line, position in the file).
    runs: Vec<(u64, u64)>,
    /// The offset in `bytes` at which the search continues.
    search_start: usize,
    found: Option<MatchExcerpt>,
    /// The line's beginning, if the line is too long to be shown whole.
    beginning: Vec<u8>,
}

/// The text around a match.
#[derive(Debug)]
struct MatchExcerpt {
    text: String,
    /// Number of characters of the line before the excerpt.
    before: u64,
    /// Start of the excerpt in the file.
    at: u64,
}

impl LongLine {
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.dropped == 0
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.runs.clear();
        self.beginning.clear();
        (self.dropped, self.dropped_chars, self.search_start) = (0, 0, 0);
        self.found = None;
    }

    /// Adds text at position `raw` in the file.
    pub(crate) fn push(&mut self, mut text: &[u8], mut raw: u64, pattern: &Regex) {
        while !text.is_empty() {
            let at = self.dropped + self.bytes.len() as u64;
            if self
                .runs
                .last()
                .is_none_or(|(text, file)| file + (at - text) != raw)
            {
                self.runs.push((at, raw));
            }
            let taken = (2 * SEGMENT_BYTES - self.bytes.len()).min(text.len());
            self.bytes.extend_from_slice(&text[..taken]);
            text = &text[taken..];
            raw += taken as u64;
            if self.bytes.len() == 2 * SEGMENT_BYTES {
                self.search_segment(pattern);
            }
        }
    }

    /// Removes up to `chars` characters from the end.
    pub(crate) fn take_back(&mut self, chars: usize) -> String {
        let Some(last) = chars.checked_sub(1) else {
            return String::new();
        };
        let text = String::from_utf8_lossy(&self.bytes);
        let from = text.char_indices().rev().nth(last);
        let taken = text[from.map_or(0, |(at, _)| at)..].to_owned();
        self.bytes
            .truncate(self.bytes.len().saturating_sub(taken.len()));
        taken
    }

    /// Ends the line. Returns true if it matches.
    pub(crate) fn search_to_end(&mut self, pattern: &Regex) -> bool {
        if self.found.is_none()
            && let Some(found) = pattern.find_at(&self.bytes, self.search_start)
        {
            self.found = Some(self.excerpt(found.range()));
        }
        self.found.is_some()
    }

    /// Returns the shown text of the line; call after [`Self::search_to_end`].
    pub(crate) fn shown(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let total = self.dropped_chars + scan::chars(&self.bytes);
        if total <= MAX_SHOWN_CHARS as u64 {
            return text.into_owned();
        }
        let omitted = |shown: u64| format!("… [{} characters omitted]", total - shown);
        if let Some(found) = &self.found {
            let shown = found.before + scan::chars(found.text.as_bytes());
            let before = match found.before {
                0 => String::new(),
                _ => format!("[from byte {}] …", found.at),
            };
            let after = if shown < total {
                omitted(shown)
            } else {
                String::new()
            };
            return format!("{before}{}{after}", found.text);
        }
        let beginning = if self.dropped == 0 {
            text
        } else {
            String::from_utf8_lossy(&self.beginning)
        };
        let shown: String = beginning.chars().take(MAX_SHOWN_CHARS).collect();
        format!("{shown}{}", omitted(MAX_SHOWN_CHARS as u64))
    }

    /// Searches the part in which every match is complete, and drops the bytes that no later match
    /// needs.
    fn search_segment(&mut self, pattern: &Regex) {
        let complete_end = self.bytes.len() - CONTEXT_BYTES;
        if self.found.is_none()
            && let Some(found) = pattern.find_at(&self.bytes, self.search_start)
            && found.end() <= complete_end
        {
            self.found = Some(self.excerpt(found.range()));
        }
        if self.dropped == 0 {
            // A character has at most four bytes.
            self.beginning
                .extend_from_slice(&self.bytes[..4 * MAX_SHOWN_CHARS]);
        }
        let drop = self.bytes.len() - MAX_MATCH_BYTES - CONTEXT_BYTES;
        self.dropped += drop as u64;
        self.dropped_chars += scan::chars(&self.bytes[..drop]);
        self.bytes.drain(..drop);
        // The bytes before the search start are kept for look-behind: they tell the pattern that no
        // line begins there.
        self.search_start = CONTEXT_BYTES;
        let kept = self.runs.partition_point(|(text, _)| *text <= self.dropped);
        self.runs.drain(..kept.saturating_sub(1));
    }

    fn excerpt(&self, found: std::ops::Range<usize>) -> MatchExcerpt {
        let boundary = |at: &usize| {
            self.bytes
                .get(*at)
                .is_none_or(|byte| !scan::is_continuation(*byte))
        };
        let from = found.start.saturating_sub(CONTEXT_BYTES);
        let from = (from..=found.start).find(boundary).unwrap_or(found.start);
        // If the match itself is too long, only its beginning is shown.
        let end = found.end.min(found.start + MAX_SHOWN_CHARS);
        let to = end.saturating_add(CONTEXT_BYTES).min(self.bytes.len());
        let to = (from..=to).rev().find(boundary).unwrap_or(to);
        let position = self.dropped + from as u64;
        let run = self.runs.partition_point(|(text, _)| *text <= position);
        let at = run
            .checked_sub(1)
            .and_then(|run| self.runs.get(run))
            .map_or(0, |(text, file)| file + (position - text));
        MatchExcerpt {
            text: String::from_utf8_lossy(&self.bytes[from..to]).into_owned(),
            before: self.dropped_chars + scan::chars(&self.bytes[..from]),
            at,
        }
    }
}
