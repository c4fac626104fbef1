//! Lists of words, written as text.

/// A list of words as a `&'static [&'static str]`, written as lines of words with blanks between
/// them. The list is split when the program is compiled.
///
/// ```
/// const SHELLS: &[&str] = agent_bash_core::words![
///     // POSIX
///     "sh dash",
///     "bash zsh",
/// ];
/// assert_eq!(SHELLS, ["sh", "dash", "bash", "zsh"]);
/// ```
#[macro_export]
macro_rules! words {
    ($($line:literal),* $(,)?) => {{
        const TEXT: &str = concat!($($line, " "),*);
        const WORDS: &[&str] = &$crate::split_words::<{ $crate::word_count(TEXT) }>(TEXT);
        WORDS
    }};
}

/// Returns the number of words in a text.
#[doc(hidden)]
pub const fn word_count(text: &str) -> usize {
    let (mut count, mut at, mut is_in_word) = (0, 0, false);
    while at < text.len() {
        let is_letter = !text.as_bytes()[at].is_ascii_whitespace();
        if is_letter && !is_in_word {
            count += 1;
        }
        is_in_word = is_letter;
        at += 1;
    }
    count
}

/// Returns the first `N` words of a text, and empty texts if the text has fewer words.
#[doc(hidden)]
pub const fn split_words<const N: usize>(text: &str) -> [&str; N] {
    let mut words = [""; N];
    let (mut rest, mut index) = (text, 0);
    while index < N {
        rest = rest.trim_ascii_start();
        let mut end = 0;
        while end < rest.len() && !rest.as_bytes()[end].is_ascii_whitespace() {
            end += 1;
        }
        (words[index], rest) = rest.split_at(end);
        index += 1;
    }
    words
}
