//! Forms of values: a token, a key, an address with a password, an amount, a path.

use super::tables::{
    AMOUNT_WORDS, HASHICORP_INFIX, SECRET_ADDRESSES, SECRET_FIELDS, SECRET_HEADER,
    SIGNATURE_PARAMETER, TELEGRAM_BOT, TOKEN_FORMATS, TokenFormat, TokenLetters, UNIT_LENGTH,
};
use std::ops::Range;

/// A value of this length and more, of all kinds of letters and digits, is no word.
const RANDOM_LENGTH: usize = 20;

/// A part of a token is at least so long; or so, if it has a digit.
const LONG_PART: usize = 16;
const MIXED_PART: usize = 10;

/// No token of the table is shorter.
const SHORTEST_TOKEN: usize = {
    let mut shortest = usize::MAX;
    let mut at = 0;
    while at < TOKEN_FORMATS.len() {
        let length = TOKEN_FORMATS[at].prefix.len() + TOKEN_FORMATS[at].at_least;
        if length < shortest {
            shortest = length;
        }
        at += 1;
    }
    shortest
};

/// Separators of addresses, lists and assignments.
const VALUE_SEPARATORS: &[u8] = b"/?&=:@#;,|\"'()[]{}<>";

pub(super) fn is_secret(value: &[u8]) -> bool {
    has_private_key(value)
        || is_token(value)
        || has_url_with_password(value)
        || has_assigned_password(value)
        || has_header(value)
        || std::str::from_utf8(value).is_ok_and(|text| {
            signature(text).is_some() || behind_address(text).is_some() || bot_token(text).is_some()
        })
}

/// `Authorization: …`, unless the credentials are an expansion or a placeholder, as in a script.
fn has_header(value: &[u8]) -> bool {
    if !value.contains(&b':') {
        return false;
    }
    let lower = value.to_ascii_lowercase();
    let mut rest = lower.as_slice();
    while let Some(at) = find(rest, SECRET_HEADER) {
        rest = &rest[at + SECRET_HEADER.len()..];
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let words = line.split(u8::is_ascii_whitespace);
        let mut words = words.filter(|word| !word.is_empty());
        let is_scheme = |word: &&[u8]| word.iter().all(u8::is_ascii_alphabetic);
        let first = words.next().unwrap_or_default();
        let credentials = match words.next() {
            Some(second) if is_scheme(&first) => second,
            _ => first,
        };
        if !is_placeholder(credentials) {
            return true;
        }
    }
    false
}

/// Whether a text stands for a value instead of being one: `$TOKEN`, `$(pass x)`, `{token}`, `%s`,
/// or the end of a quoted text.
fn is_placeholder(text: &[u8]) -> bool {
    let is_quote = |byte: &&u8| b"\\\"'".contains(byte);
    let first = text.iter().find(|byte| !is_quote(byte));
    first.is_none_or(|byte| b"$`%{<".contains(byte))
}

/// Certificates and public keys have the same format.
fn has_private_key(value: &[u8]) -> bool {
    find(value, b"-----BEGIN ").is_some() && find(value, b"PRIVATE KEY").is_some()
}

/// `…;Password=y`, `…?user=a&password=b`
fn has_assigned_password(value: &[u8]) -> bool {
    // Most values are no connection strings.
    if !value.contains(&b'=') {
        return false;
    }
    let value = value.to_ascii_lowercase();
    SECRET_FIELDS.iter().any(|field| {
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

/// True if the whole value is a token.
pub(super) fn is_token(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    value.len() >= SHORTEST_TOKEN && TOKEN_FORMATS.iter().any(|format| format.is(value))
        || std::str::from_utf8(value)
            .is_ok_and(|text| has_infix(text) || bot_token(text) == Some(0..text.len()))
}

impl TokenFormat {
    fn is(&self, value: &[u8]) -> bool {
        let Some(rest) = value.strip_prefix(self.prefix.as_bytes()) else {
            return false;
        };
        (self.at_least..=self.at_most).contains(&rest.len())
            && rest.iter().all(|byte| self.letters.have(*byte))
            && !rest.starts_with(b"/")
            && (self.prefix.ends_with(' ') || !self.letters.separate() || has_long_part(rest))
    }
}

/// Names are made of words, and a word is shorter than what is random, or has no digit in it.
fn has_long_part(rest: &[u8]) -> bool {
    let mut parts = rest.split(|byte| !byte.is_ascii_alphanumeric());
    parts.any(|part| part.len() >= LONG_PART || part.len() >= MIXED_PART && has_digit(part))
}

impl TokenLetters {
    fn have(self, byte: u8) -> bool {
        match self {
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || b"_-".contains(&byte),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Any => byte.is_ascii_alphanumeric() || b"-_.=+/~:".contains(&byte),
            Self::List => byte == b',' || Self::Any.have(byte),
        }
    }

    /// True if some of these characters also separate the words of a name.
    fn separate(self) -> bool {
        matches!(self, Self::Word | Self::Any | Self::List)
    }
}

fn has_digit(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
}

/// Returns the range of a token in a word: all of the word, or a part of an address, an assignment
/// or a list.
pub(super) fn token_in(word: &str) -> Option<Range<usize>> {
    if is_token(word.as_bytes()) {
        return Some(0..word.len());
    }
    // With its separators, as some have them.
    let assigned = word.find(['=', ':']).map(|at| at + 1);
    if let Some(from) = assigned.filter(|from| is_token(&word.as_bytes()[*from..])) {
        return Some(from..word.len());
    }
    if let Some(token) = bot_token(word) {
        return Some(token);
    }
    let mut from = 0;
    for part in word.split(|c: char| c.is_ascii() && VALUE_SEPARATORS.contains(&(c as u8))) {
        if is_token(part.as_bytes()) {
            return Some(from..from + part.len());
        }
        from += part.len() + 1;
    }
    None
}

/// `NAME.atlasv1.REST`
fn has_infix(text: &str) -> bool {
    let (infix, before, behind) = HASHICORP_INFIX;
    text.split_once(infix).is_some_and(|(name, rest)| {
        let is_word = |byte: u8| TokenLetters::Word.have(byte) || byte == b'=';
        name.len() >= before
            && rest.len() >= behind
            && name.bytes().chain(rest.bytes()).all(is_word)
    })
}

/// `123456789:AA…`, also within an address, where `bot` stands before it.
fn bot_token(text: &str) -> Option<Range<usize>> {
    let (digits, mark, length) = TELEGRAM_BOT;
    text.match_indices(mark).find_map(|(at, _)| {
        let number = text[..at]
            .bytes()
            .rev()
            .take_while(u8::is_ascii_digit)
            .count();
        let begin = at - number;
        let rest = text[at + mark.len()..]
            .bytes()
            .take_while(|byte| TokenLetters::Word.have(*byte))
            .count();
        let is_whole = begin == 0
            || text[..begin].ends_with("bot")
            || !text.as_bytes()[begin - 1].is_ascii_alphanumeric();
        (number >= digits && rest >= length && is_whole).then(|| begin..at + mark.len() + rest)
    })
}

/// The signature in `sig=…`, where the address that it belongs to was split at its `&`.
pub(super) fn signature_behind(before: &str, word: &str) -> Option<Range<usize>> {
    let (name, length) = SIGNATURE_PARAMETER;
    let value = word.strip_prefix(name)?.strip_prefix('=')?;
    let is_signature = before.ends_with('&') && value.len() >= length && !value.starts_with('$');
    is_signature.then(|| word.len() - value.len()..word.len())
}

/// The signature of an address: `?sv=…&sig=…`.
pub(super) fn signature(text: &str) -> Option<Range<usize>> {
    let (name, length) = SIGNATURE_PARAMETER;
    let is_address = text.contains("://") || text.contains("sv=");
    let mut from = 0;
    let mut parts = text.split(['?', '&']).filter_map(|part| {
        let begin = from;
        from += part.len() + 1;
        let value = part.strip_prefix(name)?.strip_prefix('=')?;
        let end = value.find(['#', '"', '\'', ' ']).unwrap_or(value.len());
        (end >= length).then(|| begin + name.len() + 1..begin + name.len() + 1 + end)
    });
    parts.next().filter(|_| is_address)
}

/// Returns the range after an address that is the secret.
pub(super) fn behind_address(text: &str) -> Option<Range<usize>> {
    // All of them are paths, and most texts are not.
    if !text.contains('/') {
        return None;
    }
    SECRET_ADDRESSES.iter().find_map(|address| {
        let begin = text.find(address)? + address.len();
        let rest = text[begin..]
            .bytes()
            .take_while(|byte| TokenLetters::Any.have(*byte))
            .count();
        (rest > 0 && has_digit(&text.as_bytes()[begin..begin + rest])).then(|| begin..begin + rest)
    })
}

/// `scheme://user:password@host` anywhere in the value.
pub(super) fn has_url_with_password(value: &[u8]) -> bool {
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
            && !is_placeholder(&authority[colon + 1..host])
        {
            return true;
        }
    }
    false
}

/// The position of `part`, which is not empty, in `text`. The crate `memchr` would be faster for
/// long texts, but asks the processor for its features first. In a virtual machine that takes
/// longer than a whole environment.
pub(super) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    let first = part.first()?;
    let mut from = 0;
    while let Some(at) = text[from..].iter().position(|byte| byte == first) {
        if text[from + at..].starts_with(part) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

/// `4096`, `1_000`, `0.5`, `100k`, `30 days`, `unlimited`, or a list of these.
pub(super) fn is_amount(value: &[u8]) -> bool {
    let Ok(value) = std::str::from_utf8(value) else {
        return false;
    };
    let is_one = |part: &str| {
        let part = part.trim();
        let unit = part.trim_start_matches(|c: char| c.is_ascii_digit() || "+-_.' ".contains(c));
        let is_number = part.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
            && part.bytes().any(|b| b.is_ascii_digit());
        let is_unit =
            unit.len() <= UNIT_LENGTH && unit.bytes().all(|b| b.is_ascii_alphabetic() || b == b'%');
        is_number && (is_unit || part.parse::<f64>().is_ok())
            || AMOUNT_WORDS.contains(&&*part.to_ascii_lowercase())
    };
    value.len() < 2 || value.split([',', '/', ':']).all(is_one)
}

/// An absolute path, or one from the home or the current directory.
pub(super) fn is_path(value: &[u8]) -> bool {
    let begins = [&b"/"[..], b"~/", b"./", b"../"];
    begins.iter().any(|begin| value.starts_with(begin)) && !value.contains(&b'\n')
}

/// True if the value can only be random: long, and with all kinds of letters and digits.
pub(super) fn is_random(value: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    value.len() >= RANDOM_LENGTH
        && value
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+/=_-".contains(byte))
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
}
