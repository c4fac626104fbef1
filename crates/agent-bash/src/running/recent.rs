//! The last part of what a call has printed, for whoever asks while it runs.

use std::collections::VecDeque;

/// Bytes kept.
pub(super) const KEPT: usize = 256 * 1024;

/// The last [`KEPT`] bytes, by their place in the whole.
#[derive(Debug, Default)]
pub(super) struct Recent {
    bytes: VecDeque<u8>,
    total: u64,
}

impl Recent {
    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.total += chunk.len() as u64;
        let kept = &chunk[chunk.len().saturating_sub(KEPT)..];
        let excess = (self.bytes.len() + kept.len()).saturating_sub(KEPT);
        self.bytes.drain(..excess);
        self.bytes.extend(kept);
    }

    /// Bytes printed in all.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// What is there from byte `offset` on, and where that begins.
    pub(super) fn since(&self, offset: u64) -> (u64, Vec<u8>) {
        let first = self.total - self.bytes.len() as u64;
        let from = offset.clamp(first, self.total);
        let skip = (from - first) as usize;
        (from, self.bytes.iter().skip(skip).copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_by_their_place_and_old_ones_are_lost() {
        let mut recent = Recent::default();
        recent.push(b"abc");
        recent.push(b"def");
        assert_eq!(recent.since(0), (0, b"abcdef".to_vec()));
        assert_eq!(recent.since(4), (4, b"ef".to_vec()));
        assert_eq!(recent.since(99), (6, Vec::new()));
        recent.push(&vec![b'x'; KEPT - 1]);
        assert_eq!(recent.total(), KEPT as u64 + 5);
        let (from, bytes) = recent.since(0);
        assert_eq!((from, bytes[0], bytes.len()), (5, b'f', KEPT));
        recent.push(&vec![b'y'; KEPT * 2]);
        assert_eq!(recent.since(0).1, vec![b'y'; KEPT]);
    }
}
