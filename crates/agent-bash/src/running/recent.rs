//! The most recent output of a call, for requests while it runs.

use std::collections::VecDeque;

/// Bytes kept.
pub(super) const KEPT: usize = 256 * 1024;

/// Bytes kept of the beginning of unread output.
pub(super) const HEAD: usize = 64 * 1024;

/// The last [`KEPT`] bytes, by offset, and the state of the unread part.
#[derive(Debug, Default)]
pub(super) struct Recent {
    bytes: VecDeque<u8>,
    total: u64,
    /// Line ends in output that is no longer kept.
    lines_before: u64,
    unread: Unread,
}

/// The output since the last read.
#[derive(Debug, Default)]
pub(super) struct Unread {
    /// Its offset.
    pub(super) from: u64,
    /// Its first [`HEAD`] bytes.
    pub(super) head: Vec<u8>,
    /// Number of line ends in it.
    pub(super) lines: u64,
}

impl Recent {
    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.total += chunk.len() as u64;
        let room = HEAD - self.unread.head.len();
        let head = &chunk[..chunk.len().min(room)];
        self.unread.head.extend_from_slice(head);
        self.unread.lines += line_ends(chunk);
        let (lost, kept) = chunk.split_at(chunk.len().saturating_sub(KEPT));
        let excess = (self.bytes.len() + kept.len()).saturating_sub(KEPT);
        self.lines_before += line_ends(self.bytes.range(..excess)) + line_ends(lost);
        self.bytes.drain(..excess);
        self.bytes.extend(kept);
    }

    /// Offset of the output since the last read.
    pub(super) fn unread_from(&self) -> u64 {
        self.unread.from
    }

    /// Takes the output since the last read, and marks it as read except for the last `held` bytes, which contain
    /// no line end.
    pub(super) fn take_unread(&mut self, held: usize) -> Unread {
        let from = self.total - held as u64;
        let next = Unread {
            from,
            head: self.since(from).1,
            lines: 0,
        };
        std::mem::replace(&mut self.unread, next)
    }

    /// Bytes printed so far.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The kept bytes from `offset` on, with their offset and the number of line ends before them.
    pub(super) fn since(&self, offset: u64) -> (u64, Vec<u8>, u64) {
        let first = self.total - self.bytes.len() as u64;
        let from = offset.clamp(first, self.total);
        let skip = (from - first) as usize;
        let bytes = self.bytes.range(skip..).copied().collect();
        let lines = self.lines_before + line_ends(self.bytes.range(..skip));
        (from, bytes, lines)
    }
}

fn line_ends<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> u64 {
    let ends = bytes.into_iter().filter(|byte| **byte == b'\n');
    ends.count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_what_nobody_has_read_is_kept_and_its_lines_are_counted() {
        let mut recent = Recent::default();
        recent.push(b"old\n");
        let unread = recent.take_unread(0);
        assert_eq!(
            (unread.from, unread.head, unread.lines),
            (0, b"old\n".to_vec(), 1)
        );
        recent.push(b"first\n");
        recent.push(&vec![b'x'; KEPT * 2]);
        recent.push(b"\nlast");
        let unread = recent.take_unread(0);
        assert_eq!((unread.from, unread.lines, unread.head.len()), (4, 2, HEAD));
        assert!(unread.head.starts_with(b"first\nxx"));
        assert_eq!(recent.take_unread(2).from, recent.total());
        recent.push(b"!");
        let unread = recent.take_unread(0);
        assert_eq!(
            (unread.head, unread.from),
            (b"st!".to_vec(), recent.total() - 3)
        );
    }

    #[test]
    fn parts_are_found_by_their_place_and_old_ones_are_lost() {
        let mut recent = Recent::default();
        recent.push(b"abc");
        recent.push(b"def");
        assert_eq!(recent.since(0), (0, b"abcdef".to_vec(), 0));
        assert_eq!(recent.since(4), (4, b"ef".to_vec(), 0));
        assert_eq!(recent.since(99), (6, Vec::new(), 0));
        recent.push(&vec![b'x'; KEPT - 1]);
        assert_eq!(recent.total(), KEPT as u64 + 5);
        let (from, bytes, _) = recent.since(0);
        assert_eq!((from, bytes[0], bytes.len()), (5, b'f', KEPT));
        recent.push(&vec![b'y'; KEPT * 2]);
        assert_eq!(recent.since(0).1, vec![b'y'; KEPT]);
    }

    #[test]
    fn lines_are_counted_whether_they_are_kept_or_not() {
        let mut recent = Recent::default();
        recent.push(b"a\nb\nc");
        assert_eq!(
            (recent.since(0).2, recent.since(2).2, recent.since(5).2),
            (0, 1, 2)
        );
        recent.push(&vec![b'x'; KEPT]);
        assert_eq!(recent.since(0).2, 2);
        recent.push(&vec![b'\n'; KEPT + 10]);
        let (from, _, lines) = recent.since(0);
        assert_eq!((from, lines), (KEPT as u64 + 15, 12));
        assert_eq!(recent.since(from + 3).2, 15);
    }
}
