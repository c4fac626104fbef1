//! The words that occur anywhere in a text: a cheap way to know that a word does not occur.

use std::borrow::Cow;

/// The runs of letters and underscores in a text. Quotes and backslashes inside a run may join or end it, so both
/// readings are kept.
#[derive(Debug)]
pub struct Written<'t> {
    text: &'t str,
    /// In order and without duplicates: long texts repeat the same words.
    words: Vec<Cow<'t, str>>,
}

/// Minimum number of bytes joined to the first piece of a run. No word that is looked up is longer.
const LONGEST: usize = 32;

impl<'t> Written<'t> {
    /// Splits a text into words.
    pub fn of(text: &'t str) -> Self {
        let mut words = Vec::new();
        let mut pieces: Vec<&str> = Vec::new();
        let mut start = None;
        for (at, byte) in text.bytes().chain([b' ']).enumerate() {
            if byte.is_ascii_alphabetic() || byte == b'_' {
                start.get_or_insert(at);
                continue;
            }
            if let Some(from) = start.take() {
                pieces.push(&text[from..at]);
            }
            if !matches!(byte, b'\'' | b'"' | b'\\') {
                join(&pieces, &mut words);
                pieces.clear();
            }
        }
        words.sort_unstable();
        words.dedup();
        Written { text, words }
    }

    /// Whether it contains a word for which `is` is true.
    pub fn any(&self, is: impl Fn(&str) -> bool) -> bool {
        self.words.iter().any(|word| is(word))
    }

    /// Whether it contains this word.
    pub fn has_word(&self, word: &str) -> bool {
        let at = self.words.partition_point(|here| **here < *word);
        self.words.get(at).is_some_and(|here| here == word)
    }

    /// Whether it contains one of these characters.
    pub fn has(&self, characters: &[char]) -> bool {
        self.text.contains(characters)
    }
}

/// Adds each piece of a run, alone and joined to those after it.
fn join<'t>(pieces: &[&'t str], words: &mut Vec<Cow<'t, str>>) {
    for (at, first) in pieces.iter().enumerate() {
        words.push(Cow::Borrowed(first));
        let mut joined = String::new();
        for next in &pieces[at + 1..] {
            if joined.is_empty() {
                joined.push_str(first);
            }
            joined.push_str(next);
            words.push(Cow::Owned(joined.clone()));
            if joined.len() > first.len() + LONGEST {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_join_and_end_words() {
        for (text, word, expect) in [
            ("rm -rf /", "rm", true),
            ("/bin/rm2", "rm", true),
            ("a;rm", "rm", true),
            ("r'm' x", "rm", true),
            ("\\r\\m", "rm", true),
            ("\"r\"''\"m\"", "rm", true),
            ("e'rm'", "rm", true),
            ("a\\rm", "rm", true),
            ("python3.11", "python", true),
            ("format", "rm", false),
            ("rm_rf", "rm", false),
            ("r m", "rm", false),
            ("r-m", "rm", false),
        ] {
            let found = Written::of(text).any(|here| here == word);
            assert_eq!(found, expect, "{text}");
            assert_eq!(Written::of(text).has_word(word), expect, "{text}");
        }
        assert!(Written::of("a[b").has(&['[']));
        assert!(!Written::of("ab").has(&['[']));
    }
}
