//! Finds patterns in a text, and the suffix of the text that may be the beginning of a pattern.

use aho_corasick::{AhoCorasick, MatchKind};

/// Returns a matcher that finds the longest of the patterns that begin at the same byte; `None` if
/// the patterns are too many.
pub(super) fn longest_matcher(patterns: &[impl AsRef<[u8]>]) -> Option<AhoCorasick> {
    let matcher = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(patterns);
    matcher
        .inspect_err(|error| tracing::warn!(%error, "secrets are not masked"))
        .ok()
}

/// A set of patterns.
#[derive(Debug)]
pub(super) struct PrefixSet {
    /// The patterns in byte order.
    sorted: Vec<Box<[u8]>>,
    /// True for each byte with which a pattern begins.
    is_first: [bool; 256],
    /// Length of the longest pattern.
    longest: usize,
}

impl PrefixSet {
    pub(super) fn new<'a>(patterns: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut sorted: Vec<Box<[u8]>> = patterns.into_iter().map(Box::from).collect();
        sorted.sort();
        let mut is_first = [false; 256];
        for pattern in &sorted {
            if let Some(first) = pattern.first() {
                is_first[usize::from(*first)] = true;
            }
        }
        let longest = sorted.iter().map(|pattern| pattern.len()).max();
        Self {
            sorted,
            is_first,
            longest: longest.unwrap_or(0),
        }
    }

    /// Returns the length of the longest suffix of `text` with which a longer pattern begins.
    pub(super) fn open_len(&self, text: &[u8]) -> usize {
        let first = text.len().saturating_sub(self.longest.saturating_sub(1));
        let mut starts = (first..text.len()).filter(|at| self.is_first[usize::from(text[*at])]);
        let start = starts.find(|at| self.begins_longer(&text[*at..]));
        start.map_or(0, |at| text.len() - at)
    }

    /// True if a longer pattern begins with `text`.
    fn begins_longer(&self, text: &[u8]) -> bool {
        let at = self.sorted.partition_point(|pattern| **pattern <= *text);
        let next = self.sorted.get(at);
        next.is_some_and(|pattern| pattern.starts_with(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_len_is_the_longest_suffix_that_begins_a_pattern() {
        let set = PrefixSet::new([&b"abc"[..], b"abcdef", b"cab"]);
        for (text, length) in [
            ("", 0),
            ("x", 0),
            ("xa", 1),
            ("xab", 2),
            ("xabc", 3),
            ("xcab", 2),
            ("abcdef", 0),
            ("abcde", 5),
            ("c", 1),
            ("abca", 2),
        ] {
            assert_eq!(set.open_len(text.as_bytes()), length, "{text}");
        }
    }
}
