//! A word as it has to be written for bash.

/// Characters that mean something to bash in a word.
const SPECIAL: &str = " \t|&;()<>$`\\\"'*?[]#{}!~^";

/// A word that goes on, within the quote that is open. `keeps_tilde`: a `~` in front is the home directory.
pub(super) fn open(word: &str, quote: Option<char>, keeps_tilde: bool) -> String {
    let mut out = String::with_capacity(word.len() + 2);
    out.extend(quote);
    for (at, c) in word.chars().enumerate() {
        match (quote, c) {
            (None, '\n') => out.push_str("$'\\n'"),
            (None, '~') if at == 0 && keeps_tilde => out.push(c),
            // `=` and `%` and the like mean nothing within a word.
            (None, c) if SPECIAL.contains(c) => out.extend(['\\', c]),
            (Some('"'), '$' | '`' | '"' | '\\') => out.extend(['\\', c]),
            (Some('\''), '\'') => out.push_str("'\\''"),
            (_, c) => out.push(c),
        }
    }
    out
}
