//! [`PrintedOutputCollector`]: stores the beginning and the end of an output in bounded memory.

use crate::PrintedOutput;
use std::collections::VecDeque;

/// The largest sizes of the beginning and of the end in bytes: about as much output as a user reads
/// of one call.
const HEAD_BYTES: usize = 16 << 10;
const TAIL_BYTES: usize = 48 << 10;

/// Collects an output.
#[derive(Debug, Default)]
pub struct PrintedOutputCollector {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    omitted_bytes: u64,
}

impl PrintedOutputCollector {
    /// Adds a chunk.
    pub fn push(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(HEAD_BYTES - self.head.len()));
        self.head.extend_from_slice(first);
        // Only the end of a chunk that is longer than the limit matters.
        let (over, last) = rest.split_at(rest.len().saturating_sub(TAIL_BYTES));
        let capacity = TAIL_BYTES - last.len();
        let dropped = self.tail.len().saturating_sub(capacity);
        self.tail.drain(..dropped);
        self.tail.extend(last);
        self.omitted_bytes += (dropped + over.len()) as u64;
    }

    /// Returns the collected output. Characters are never split; if bytes are omitted, lines are
    /// not split either.
    pub fn finish(self) -> PrintedOutput {
        let (head, mut tail) = (self.head, Vec::from(self.tail));
        if self.omitted_bytes == 0 {
            let all = [head, tail].concat();
            return PrintedOutput {
                head: String::from_utf8_lossy(&all).into_owned(),
                omitted_bytes: 0,
                tail: String::new(),
            };
        }
        // The output is cut at a line break, else at a blank. A cut within a secret would prevent
        // the recognition of the secret.
        let end = end_of_last(&head, b'\n').or_else(|| end_of_last(&head, b' '));
        let end = end.unwrap_or(head.len());
        let first = |wanted| tail.iter().position(|byte| *byte == wanted);
        let begin = first(b'\n').or_else(|| first(b' '));
        let begin = begin.map_or(0, |index| index + 1);
        let omitted_bytes = self.omitted_bytes + (head.len() - end + begin) as u64;
        PrintedOutput {
            head: String::from_utf8_lossy(&head[..end]).into_owned(),
            omitted_bytes,
            tail: String::from_utf8_lossy(&tail.split_off(begin)).into_owned(),
        }
    }
}

/// Returns the position after the last `wanted` byte; `None` if `bytes` has no such byte.
fn end_of_last(bytes: &[u8], wanted: u8) -> Option<usize> {
    let last = bytes.iter().rposition(|byte| *byte == wanted);
    last.map(|index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(chunks: impl IntoIterator<Item = Vec<u8>>) -> PrintedOutput {
        let mut collector = PrintedOutputCollector::default();
        for chunk in chunks {
            collector.push(&chunk);
        }
        collector.finish()
    }

    #[test]
    fn short_output_is_complete() {
        let text = "é".repeat(HEAD_BYTES / 2 + TAIL_BYTES / 2);
        let printed = of(text.as_bytes().chunks(7).map(<[u8]>::to_vec));
        assert_eq!(
            printed,
            PrintedOutput {
                head: text,
                ..PrintedOutput::default()
            }
        );
        assert_eq!(of([]), PrintedOutput::default());
    }

    #[test]
    fn output_without_line_breaks_is_cut_between_words() {
        let printed = of([b"secret ".repeat(20_000)]);
        assert!(printed.head.ends_with("secret ") && printed.tail.starts_with("secret "));
        let words = printed.head.len() + printed.tail.len();
        assert_eq!(words as u64 + printed.omitted_bytes, 140_000);
    }

    #[test]
    fn long_output_is_cut_at_line_breaks_for_any_chunks() {
        use std::fmt::Write as _;
        let mut all = String::new();
        for line in 0..30_000 {
            writeln!(all, "line {line}").unwrap();
        }
        let whole = of([all.clone().into_bytes()]);
        for size in [1, 1000, HEAD_BYTES, HEAD_BYTES + 1, TAIL_BYTES + 3] {
            assert_eq!(
                of(all.as_bytes().chunks(size).map(<[u8]>::to_vec)),
                whole,
                "{size}"
            );
        }
        assert!(all.starts_with(&whole.head) && whole.head.ends_with('\n'));
        assert!(all.ends_with(&whole.tail) && whole.tail.starts_with("line "));
        let kept = whole.head.len() + whole.tail.len();
        assert!(kept <= HEAD_BYTES + TAIL_BYTES);
        assert_eq!(kept as u64 + whole.omitted_bytes, all.len() as u64);
    }
}
