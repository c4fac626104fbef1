//! Shell patterns: matches known text, and separates text from active glob characters.

use super::value::{Value, ValuePiece};

/// Adds unquoted text to a field, with glob characters as separate pieces.
pub fn push_globbed(value: &mut Value, text: &str) {
    let mut plain_start = 0;
    let mut pos = 0;
    while let Some(found) = text[pos..].find(['*', '?', '[', '!']) {
        let start = pos + found;
        // Group patterns: `!(…)` of extglob matches all names except its contents; `*(…)` and
        // `?(…)` are also patterns with zsh's qualifiers.
        let group = text[start..]
            .find(')')
            .filter(|_| text[start + 1..].starts_with('('));
        let end = if let Some(len) = group {
            start + len + 1
        } else if text[start..].starts_with('!') {
            pos = start + 1;
            continue;
        } else if text[start..].starts_with('[') {
            if let Some(len) = bracket_len(&text[start..]) {
                start + len
            } else {
                pos = start + 1;
                continue;
            }
        } else {
            start + 1
        };
        value.push_text(&text[plain_start..start]);
        value.push_glob(&text[start..end]);
        plain_start = end;
        pos = end;
    }
    value.push_text(&text[plain_start..]);
}

/// Maximum length in bytes of a bracket expression. A longer search from each opening bracket would
/// be quadratic.
const MAX_BRACKET_BYTES: usize = 256;

/// Returns the length of a bracket expression at the beginning of `text`.
fn bracket_len(text: &str) -> Option<usize> {
    let body = text.strip_prefix('[')?;
    let end = (0..=body.len().min(MAX_BRACKET_BYTES))
        .rev()
        .find(|pos| body.is_char_boundary(*pos))?;
    let body = &body[..end];
    let negation = usize::from(body.starts_with(['!', '^']));
    // A `]` at the beginning of the set is an ordinary character.
    let search_start = negation + usize::from(body[negation..].starts_with(']'));
    let close = body[search_start..].find(']')?;
    let inside = &body[..search_start + close];
    (!inside.contains('/')).then_some(inside.len() + 2)
}

/// True if a shell pattern matches the whole text. A `*` also matches `/`, as in `case` and in
/// parameter expansions.
pub fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // The position in the pattern after the last `*`, and the position in the text to which this
    // `*` matched so far.
    let mut star: Option<(usize, usize)> = None;
    loop {
        let step = if t < text.len() {
            match_char(&pattern[p..], text[t])
        } else {
            None
        };
        if p < pattern.len() && pattern[p] == '*' {
            star = Some((p + 1, t));
            p += 1;
        } else if let Some(len) = step {
            p += len;
            t += 1;
        } else if p == pattern.len() && t == text.len() {
            return true;
        } else if let Some((after_star, matched)) = star {
            if matched >= text.len() {
                return false;
            }
            star = Some((after_star, matched + 1));
            p = after_star;
            t = matched + 1;
        } else {
            return false;
        }
    }
}

/// Returns the number of pattern characters that match this character; `None` if they do not match.
fn match_char(pattern: &[char], c: char) -> Option<usize> {
    match *pattern.first()? {
        '?' => Some(1),
        '\\' if pattern.len() > 1 => (pattern[1] == c).then_some(2),
        '[' => {
            let text: String = pattern.iter().collect();
            let Some(len) = bracket_len(&text) else {
                return (c == '[').then_some(1);
            };
            let inside: Vec<char> = text[1..len - 1].chars().collect();
            let negated = matches!(inside.first(), Some('!' | '^'));
            let set = &inside[usize::from(negated)..];
            let mut found = false;
            let mut pos = 0;
            while pos < set.len() {
                if pos + 2 < set.len() && set[pos + 1] == '-' {
                    found |= set[pos] <= c && c <= set[pos + 2];
                    pos += 3;
                } else {
                    // A class such as [:alpha:] is assumed to match.
                    found |= set[pos] == c || (set[pos] == '[' && set.get(pos + 1) == Some(&':'));
                    pos += 1;
                }
            }
            (found != negated).then_some(2 + inside.len())
        }
        first => (first == c && first != '*').then_some(1),
    }
}

/// Converts a value to a pattern, in which unknown parts match any text.
pub fn of_value(value: &Value) -> String {
    let mut out = String::new();
    for piece in value.pieces() {
        match piece {
            ValuePiece::Glob(glob) => out.push_str(glob),
            ValuePiece::Unknown { .. } => out.push('*'),
            ValuePiece::Text(text) => {
                for c in text.chars() {
                    if matches!(c, '*' | '?' | '[' | '\\') {
                        out.push('\\');
                    }
                    out.push(c);
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_the_shell() {
        for (pattern, text, expect) in [
            ("r?", "rm", true),
            ("*m", "rm", true),
            ("*", "", true),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abcd", false),
            ("[e]tc", "etc", true),
            ("[!e]tc", "etc", false),
            ("[a-f]tc", "etc", true),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("/*", "/home/u", true),
        ] {
            assert_eq!(matches(pattern, text), expect, "{pattern} {text}");
        }
    }

    #[test]
    fn push_globbed_separates_glob_characters() {
        let mut value = Value::default();
        push_globbed(&mut value, "a*[b]c[");
        let kinds: Vec<_> = value.pieces().to_vec();
        assert_eq!(
            kinds,
            [
                ValuePiece::Text("a".into()),
                ValuePiece::Glob("*".into()),
                ValuePiece::Glob("[b]".into()),
                ValuePiece::Text("c[".into())
            ]
        );
    }
}
