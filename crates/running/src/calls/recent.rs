//! The most recent output of a running call, and its unread part.

use agent_bash::sink::{CarriageReturn, TailBuffer, TailPart};

/// Maximum number of stored bytes of the most recent output.
pub(super) const MAX_TAIL_BYTES: usize = 256 * 1024;

/// Maximum number of stored bytes of the beginning of the unread output.
pub(super) const MAX_HEAD_BYTES: usize = 64 * 1024;

/// The last [`MAX_TAIL_BYTES`] bytes of the output, by offset, and the state of the unread part.
#[derive(Debug)]
pub(super) struct RecentOutput {
    tail: TailBuffer,
    /// The offset of the unread part.
    unread_from: u64,
    /// The number of line ends before the unread part.
    unread_lines: u64,
    /// The first [`MAX_HEAD_BYTES`] bytes of the unread output.
    head: Vec<u8>,
}

/// The output since the last read.
#[derive(Debug)]
pub(super) struct UnreadOutput {
    /// The offset of the unread output.
    pub(super) from: u64,
    /// The first [`MAX_HEAD_BYTES`] bytes of the unread output.
    pub(super) head: Vec<u8>,
    /// The number of line ends in the unread output.
    pub(super) lines: u64,
}

impl Default for RecentOutput {
    fn default() -> Self {
        Self {
            tail: TailBuffer::new(MAX_TAIL_BYTES, CarriageReturn::Overwrite),
            unread_from: 0,
            unread_lines: 0,
            head: Vec::new(),
        }
    }
}

impl RecentOutput {
    /// Adds a chunk of output.
    pub(super) fn push(&mut self, chunk: &[u8]) {
        let room = MAX_HEAD_BYTES - self.head.len();
        let head = &chunk[..chunk.len().min(room)];
        self.head.extend_from_slice(head);
        self.tail.push(chunk);
    }

    /// Returns the offset of the output since the last read.
    pub(super) fn unread_from(&self) -> u64 {
        self.unread_from
    }

    /// Returns the output since the last read, and marks this output as read, except for the last
    /// `held` bytes. These bytes must not contain a line end.
    pub(super) fn take_unread(&mut self, held: usize) -> UnreadOutput {
        let from = self.total() - held as u64;
        let beginning = self.since(from).bytes;
        let line_ends = self.tail.line_ends();
        UnreadOutput {
            from: std::mem::replace(&mut self.unread_from, from),
            head: std::mem::replace(&mut self.head, beginning),
            lines: line_ends - std::mem::replace(&mut self.unread_lines, line_ends),
        }
    }

    /// Returns the number of bytes printed so far.
    pub(super) fn total(&self) -> u64 {
        self.tail.total_bytes()
    }

    /// Returns the stored bytes from `offset` on.
    pub(super) fn since(&self, offset: u64) -> TailPart {
        self.tail.since(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginning_of_unread_output_is_kept_and_its_lines_are_counted() {
        let mut recent = RecentOutput::default();
        recent.push(b"old\n");
        let unread = recent.take_unread(0);
        assert_eq!(
            (unread.from, unread.head, unread.lines),
            (0, b"old\n".to_vec(), 1)
        );
        recent.push(b"first\n");
        recent.push(&vec![b'x'; MAX_TAIL_BYTES * 2]);
        recent.push(b"\nlast");
        let unread = recent.take_unread(0);
        assert_eq!(
            (unread.from, unread.lines, unread.head.len()),
            (4, 2, MAX_HEAD_BYTES)
        );
        assert!(unread.head.starts_with(b"first\nxx"));
        assert_eq!(recent.take_unread(2).from, recent.total());
        recent.push(b"!");
        let unread = recent.take_unread(0);
        assert_eq!(
            (unread.head, unread.from),
            (b"st!".to_vec(), recent.total() - 3)
        );
    }

    fn since(recent: &RecentOutput, offset: u64) -> (u64, Vec<u8>, u64) {
        let part = recent.since(offset);
        (part.from, part.bytes, part.lines_before)
    }

    #[test]
    fn since_returns_the_bytes_from_an_offset_as_far_as_they_are_kept() {
        let mut recent = RecentOutput::default();
        recent.push(b"abc");
        recent.push(b"def");
        assert_eq!(since(&recent, 0), (0, b"abcdef".to_vec(), 0));
        assert_eq!(since(&recent, 4), (4, b"ef".to_vec(), 0));
        assert_eq!(since(&recent, 99), (6, Vec::new(), 0));
        recent.push(&vec![b'x'; MAX_TAIL_BYTES - 1]);
        assert_eq!(recent.total(), MAX_TAIL_BYTES as u64 + 5);
        let (from, bytes, _) = since(&recent, 0);
        assert_eq!((from, bytes[0], bytes.len()), (5, b'f', MAX_TAIL_BYTES));
        recent.push(&vec![b'y'; MAX_TAIL_BYTES * 2]);
        assert_eq!(since(&recent, 0).1, vec![b'y'; MAX_TAIL_BYTES]);
    }

    #[test]
    fn lines_before_counts_lines_that_are_no_longer_kept() {
        let mut recent = RecentOutput::default();
        recent.push(b"a\nb\nc");
        assert_eq!(
            (
                since(&recent, 0).2,
                since(&recent, 2).2,
                since(&recent, 5).2
            ),
            (0, 1, 2)
        );
        recent.push(&vec![b'x'; MAX_TAIL_BYTES]);
        assert_eq!(since(&recent, 0).2, 2);
        recent.push(&vec![b'\n'; MAX_TAIL_BYTES + 10]);
        let (from, _, lines) = since(&recent, 0);
        assert_eq!((from, lines), (MAX_TAIL_BYTES as u64 + 15, 12));
        assert_eq!(since(&recent, from + 3).2, 15);
    }
}
