//! The matching lines of a long text. They are stored, so that a move to another match reads no
//! file.

use crate::search_origin;

const WORD_BITS: u64 = u64::BITS as u64;

/// The lines as a bit set, which is small even for many millions of lines.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct MatchingLines {
    words: Vec<u64>,
    count: u64,
}

impl MatchingLines {
    /// Adds a line by its number.
    pub(crate) fn add(&mut self, line: u64) {
        let word = usize::try_from(line / WORD_BITS).unwrap_or(usize::MAX);
        if word >= self.words.len() {
            self.words.resize(word.saturating_add(1), 0);
        }
        if let Some(word) = self.words.get_mut(word) {
            let bit = 1 << (line % WORD_BITS);
            self.count += u64::from(*word & bit == 0);
            *word |= bit;
        }
    }

    /// The number of matching lines.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The number of matching lines before a line.
    fn count_before(&self, line: u64) -> u64 {
        let word = usize::try_from(line / WORD_BITS).unwrap_or(usize::MAX);
        let ones = |word: &u64| u64::from(word.count_ones());
        let whole: u64 = self.words.iter().take(word).map(ones).sum();
        let part = self.words.get(word).map_or(0, |word| {
            let below = (1 << (line % WORD_BITS)) - 1;
            ones(&(word & below))
        });
        whole + part
    }

    /// The number of the matching line with this index, from 0.
    fn line_of_match(&self, mut before: u64) -> Option<u64> {
        for (at, word) in (0..).zip(&self.words) {
            let in_word = u64::from(word.count_ones());
            if before < in_word {
                let mut bits = (0..WORD_BITS).filter(|bit| word >> bit & 1 == 1);
                let bit = bits.nth(usize::try_from(before).ok()?)?;
                return Some(at * WORD_BITS + bit);
            }
            before -= in_word;
        }
        None
    }

    /// Returns the `times`-th matching line at or after the line `from`: its number, its index, and
    /// true if the search wrapped around. A backward search finds lines at or before `from`.
    pub(crate) fn next(&self, from: u64, forward: bool, times: u64) -> Option<(u64, u64, bool)> {
        let before = if forward {
            self.count_before(from)
        } else {
            self.count_before(from.saturating_add(1))
        };
        let (at, has_wrapped) = search_origin::nth_match(before, self.count, forward, times)?;
        Some((self.line_of_match(at)?, at, has_wrapped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_found_and_counted() {
        let mut matches = MatchingLines::default();
        assert_eq!(matches.next(1, true, 1), None);
        for line in [3, 63, 64, 64, 65, 1000] {
            matches.add(line);
        }
        assert_eq!(matches.count(), 5);
        for (from, forward, times, wanted) in [
            (1, true, 1, (3, 0, false)),
            (64, true, 1, (64, 2, false)),
            (66, true, 1, (1000, 4, false)),
            (1001, true, 1, (3, 0, true)),
            (64, false, 1, (64, 2, false)),
            (62, false, 1, (3, 0, false)),
            (2, false, 1, (1000, 4, true)),
            (u64::MAX, false, 1, (1000, 4, false)),
            (1, true, 5, (1000, 4, false)),
            (1, true, 6, (3, 0, true)),
            (64, false, 3, (3, 0, false)),
            (64, false, 4, (1000, 4, true)),
            (1, true, u64::MAX, (1000, 4, true)),
        ] {
            let next = matches.next(from, forward, times);
            assert_eq!(next, Some(wanted), "{from} {forward} {times}");
        }
    }
}
