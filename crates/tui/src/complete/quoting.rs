//! Quoting a word for bash.

/// Characters that are special to bash in a word.
const SPECIAL_CHARS: &str = " \t|&;()<>$`\\\"'*?[]#{}!~^";

/// Quotes a word that may continue: adds the opening `quote`, if there is one, but no closing one.
/// `keeps_tilde`: a leading `~` is the home directory.
pub(super) fn quote_open(word: &str, quote: Option<char>, keeps_tilde: bool) -> String {
    let mut out = String::with_capacity(word.len() + 2);
    out.extend(quote);
    for (at, c) in word.chars().enumerate() {
        match (quote, c) {
            (None, '\n') => out.push_str("$'\\n'"),
            (None, '~') if at == 0 && keeps_tilde => out.push(c),
            // `=`, `%` and the like are not special within a word.
            (None, c) if SPECIAL_CHARS.contains(c) => out.extend(['\\', c]),
            (Some('"'), '$' | '`' | '"' | '\\') => out.extend(['\\', c]),
            (Some('\''), '\'') => out.push_str("'\\''"),
            (_, c) => out.push(c),
        }
    }
    out
}
