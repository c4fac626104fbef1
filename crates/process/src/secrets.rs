//! Detects variables that hold secrets: by exact name, by the words in a name, by the form of a value. Each is a
//! table, in `tables`, with a function to apply it.

mod masks;
mod tables;

pub use masks::Masks;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use tables::{
    DROP, ENDINGS, FIELDS, KEEP, LAST_WORDS, NO_SECRETS, PAIRS, PLACES, QUANTITIES, SECRET_PARTS,
    SWITCHES, TOKEN_LENGTH, TOKEN_PREFIXES, WORDS,
};

/// Decides which variables are hidden from commands. A host can change every part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFilter {
    /// Names that are kept regardless of everything else; a `*` at either end matches anything.
    pub keep: Vec<String>,
    /// Additional names that are removed, in the same format.
    pub drop: Vec<String>,
    /// Whether to check the words in names.
    pub by_name: bool,
    /// Whether to check values.
    pub by_value: bool,
}

impl Default for SecretFilter {
    fn default() -> Self {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            keep: own(KEEP),
            drop: own(DROP),
            by_name: true,
            by_value: true,
        }
    }
}

impl SecretFilter {
    /// Whether a variable holds a secret.
    pub fn is_secret(&self, name: &OsStr, value: &OsStr) -> bool {
        let text = name.to_string_lossy();
        if self.keep.iter().any(|pattern| matches(pattern, &text)) {
            return false;
        }
        self.drop.iter().any(|pattern| matches(pattern, &text))
            || (self.by_name
                && name_is_secret(&text)
                && !is_switch_or_number(&text, value.as_bytes()))
            || (self.by_value && value_is_secret(value.as_bytes()))
    }
}

fn name_is_secret(name: &str) -> bool {
    let words = words(name);
    let is = |word: &String, list: &[&str]| list.contains(&word.as_str());
    let ends = |list: &[&str]| words.last().is_some_and(|word| is(word, list));
    if ends(PLACES) || words.ends_with(&["public".to_owned(), "key".to_owned()]) {
        return false;
    }
    let grown_together = |word: &String| {
        ENDINGS.iter().any(|ending| word.ends_with(ending)) && !is(word, NO_SECRETS)
    };
    words
        .iter()
        .any(|word| is(word, WORDS) || grown_together(word))
        || ends(LAST_WORDS)
        || words
            .windows(2)
            .any(|pair| PAIRS.iter().any(|(a, b)| pair[0] == *a && pair[1] == *b))
}

/// Whether it is only a switch or an amount: `DISABLE_AUTH=1`, `MAX_TOKENS=4096`.
fn is_switch_or_number(name: &str, value: &[u8]) -> bool {
    let words = words(name);
    let quantity = words.iter().any(|word| QUANTITIES.contains(&word.as_str()));
    let switch = words.last().is_some_and(|word| word == "auth");
    let number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    (quantity && (number || value.len() < 2))
        || switch
            && (number && value.len() < 2
                || SWITCHES.contains(&value.to_ascii_lowercase().as_slice()))
}

/// The words of a name in lower case: split at everything that is not alphanumeric, and where a capital follows a
/// lower-case letter. Trailing digits are not part of a word.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in name.split(|c: char| !c.is_alphanumeric()) {
        let mut word = String::new();
        let mut small = false;
        for c in part.chars() {
            if small && c.is_uppercase() {
                words.push(std::mem::take(&mut word));
            }
            small = c.is_lowercase();
            word.extend(c.to_lowercase());
        }
        words.push(word);
    }
    words
        .into_iter()
        .map(|word| {
            word.trim_end_matches(|c: char| c.is_ascii_digit())
                .to_owned()
        })
        .filter(|word| !word.is_empty())
        .collect()
}

fn value_is_secret(value: &[u8]) -> bool {
    has_private_key(value)
        || is_token(value)
        || has_url_with_password(value)
        || has_assigned_password(value)
        || SECRET_PARTS
            .iter()
            .any(|part| find(&value.to_ascii_lowercase(), part).is_some())
}

/// Certificates and public keys have the same format.
fn has_private_key(value: &[u8]) -> bool {
    find(value, b"-----BEGIN ").is_some() && find(value, b"PRIVATE KEY").is_some()
}

/// `…;Password=y`, `…?user=a&password=b`
fn has_assigned_password(value: &[u8]) -> bool {
    let value = value.to_ascii_lowercase();
    FIELDS.iter().any(|field| {
        let mut from = 0;
        while let Some(at) = find(&value[from..], field) {
            let at = from + at;
            from = at + field.len();
            let starts = at > 0 && matches!(value[at - 1], b';' | b'&' | b'?' | b' ' | b',');
            let filled = value
                .get(from)
                .is_some_and(|byte| !byte.is_ascii_whitespace() && !b";&,$%<{".contains(byte));
            if starts && filled {
                return true;
            }
        }
        false
    })
}

fn is_token(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let Some(prefix) = TOKEN_PREFIXES
        .iter()
        .find(|prefix| value.starts_with(prefix.as_bytes()))
    else {
        return false;
    };
    let rest = &value[prefix.len()..];
    let token_byte = |b: &u8| b.is_ascii_alphanumeric() || b"-_.=+/~:".contains(b);
    value.len() >= TOKEN_LENGTH && rest.iter().all(token_byte) && !rest.starts_with(b"/")
}

/// `scheme://user:password@host` anywhere in the value.
fn has_url_with_password(value: &[u8]) -> bool {
    let mut rest = value;
    while let Some(at) = find(rest, b"://") {
        rest = &rest[at + 3..];
        let end = rest
            .iter()
            .position(|b| b.is_ascii_whitespace() || b"/?#\"'".contains(b))
            .unwrap_or(rest.len());
        let authority = &rest[..end];
        if let Some(host) = authority.iter().rposition(|b| *b == b'@')
            && let Some(colon) = authority[..host].iter().position(|b| *b == b':')
            && colon + 1 < host
        {
            return true;
        }
    }
    false
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

/// `*` at the beginning or end of a pattern matches anything.
fn matches(pattern: &str, name: &str) -> bool {
    if let Some(end) = pattern.strip_prefix('*') {
        return name.ends_with(end);
    }
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
