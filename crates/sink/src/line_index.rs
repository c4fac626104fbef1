//! A sparse line index for large files: the number of line ends before every 64 KiB boundary. 13 KB
//! for a 100 MB file.

use crate::scan;
use serde::{Deserialize, Serialize};

/// Bytes between two entries.
pub(crate) const BLOCK_BYTES: u64 = 64 * 1024;

/// The index of a file's first bytes. If the file has grown since it was indexed, reading continues
/// after the indexed part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LineIndex {
    /// Line ends before the end of each whole block.
    ended: Vec<u64>,
    /// Number of indexed bytes.
    #[serde(skip)]
    bytes: u64,
    /// Line ends in the indexed bytes.
    #[serde(skip)]
    lines: u64,
    /// True if the last byte was something other than a line end.
    #[serde(skip)]
    open: bool,
}

impl LineIndex {
    /// Adds the file's next bytes.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        if let Some(last) = bytes.last() {
            self.open = *last != b'\n';
        }
        while !bytes.is_empty() {
            let room = BLOCK_BYTES - self.bytes % BLOCK_BYTES;
            let taken = bytes.len().min(room as usize);
            self.lines += scan::newlines(&bytes[..taken]);
            self.bytes += taken as u64;
            if self.bytes.is_multiple_of(BLOCK_BYTES) {
                self.ended.push(self.lines);
            }
            bytes = &bytes[taken..];
        }
    }

    /// Returns the number of lines so far: as `wc -l` counts them, plus one for a last line without
    /// a line end.
    pub(crate) fn lines(&self) -> u64 {
        self.lines + u64::from(self.open)
    }

    /// Returns the last entry at or before the end of line `ended`: its position, and the number of
    /// lines that ended before it.
    pub(crate) fn before(&self, ended: u64) -> (u64, u64) {
        match self.ended.partition_point(|&lines| lines < ended) {
            0 => (0, 0),
            block => (block as u64 * BLOCK_BYTES, self.ended[block - 1]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_does_not_depend_on_chunks_and_its_entries_are_correct() {
        let text: Vec<u8> = (0..40_000)
            .flat_map(|n| format!("{n}\n").into_bytes())
            .collect();
        let mut at_once = LineIndex::default();
        at_once.push(&text);
        let mut split = LineIndex::default();
        text.chunks(777).for_each(|chunk| split.push(chunk));
        assert_eq!(at_once, split);
        assert_eq!(at_once.lines(), 40_000);
        for ended in [0, 1, 2, 11_000, 39_999, 40_000, 50_000] {
            let (position, lines) = at_once.before(ended);
            assert_eq!(scan::newlines(&text[..position as usize]), lines);
            assert!(lines < ended || ended == 0, "{ended}");
            let next = &text[position as usize..];
            let next = &next[..next.len().min(BLOCK_BYTES as usize)];
            assert!(lines + scan::newlines(next) >= ended.min(40_000), "{ended}");
        }
        for ended in 1..=40_000 {
            // An entry with exactly this count may lie in the middle of the line.
            assert!(at_once.before(ended).1 < ended, "{ended}");
        }
        at_once.push(b"x");
        assert_eq!(at_once.lines(), 40_001);
    }
}
