//! Forms of values: a token, a key, an address with a password, an amount, a path.

use super::tables::{
    AMOUNT_WORDS, HASHICORP_INFIX, MAX_UNIT_LENGTH, SECRET_ADDRESS_MARK, SECRET_ADDRESSES,
    SECRET_FIELDS, SECRET_HEADER, SIGNATURE_PARAMETER, TELEGRAM_BOT,
};
use super::token_formats::{TOKEN_FORMATS, TokenFormat, TokenLetters};
use std::ops::Range;

/// Minimum length of a random value. A value of that length with lower case, upper case and digits
/// is not a word.
const MIN_RANDOM_LENGTH: usize = 20;

/// Minimum length of a random part of a token, without and with a digit.
const MIN_PART_LENGTH: usize = 16;
const MIN_PART_LENGTH_WITH_DIGIT: usize = 10;

/// The length of the shortest token of the table.
const MIN_TOKEN_LENGTH: usize = {
    let mut shortest = usize::MAX;
    let mut at = 0;
    while at < TOKEN_FORMATS.len() {
        let length = TOKEN_FORMATS[at].prefix.len() + TOKEN_FORMATS[at].min_length;
        if length < shortest {
            shortest = length;
        }
        at += 1;
    }
    shortest
};

/// For each byte, true if a token of the table begins with it. Most values begin with another one.
const FIRST_BYTES: [bool; 256] = {
    let mut first = [false; 256];
    let mut at = 0;
    while at < TOKEN_FORMATS.len() {
        first[TOKEN_FORMATS[at].prefix.as_bytes()[0] as usize] = true;
        at += 1;
    }
    first
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
            signature(text).is_some()
                || secret_after_address(text).is_some()
                || bot_token(text).is_some()
        })
}

/// True for `Authorization: …`, unless the credentials are an expansion or a placeholder, as in a
/// script.
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

/// True if a text is a placeholder for a value: `$TOKEN`, `$(pass x)`, `{token}`, `%s`, or the end
/// of a quoted text.
fn is_placeholder(text: &[u8]) -> bool {
    let is_quote = |byte: &&u8| b"\\\"'".contains(byte);
    let first = text.iter().find(|byte| !is_quote(byte));
    first.is_none_or(|byte| b"$`%{<".contains(byte))
}

/// The label is checked because certificates and public keys have the same format.
fn has_private_key(value: &[u8]) -> bool {
    find(value, b"-----BEGIN ").is_some() && find(value, b"PRIVATE KEY").is_some()
}

/// True for a connection string with a password: `…;Password=y`, `…?user=a&password=b`.
fn has_assigned_password(value: &[u8]) -> bool {
    // Fast path: most values are not connection strings.
    if !value.contains(&b'=') {
        return false;
    }
    let value = value.to_ascii_lowercase();
    SECRET_FIELDS.iter().any(|field| {
        let mut from = 0;
        while let Some(at) = find(&value[from..], field) {
            let at = from + at;
            from = at + field.len();
            let is_field_start =
                at > 0 && matches!(value[at - 1], b';' | b'&' | b'?' | b' ' | b',');
            let has_value = value
                .get(from)
                .is_some_and(|byte| !byte.is_ascii_whitespace() && !b";&,$%<{".contains(byte));
            if is_field_start && has_value {
                return true;
            }
        }
        false
    })
}

/// True if the whole value is a token.
pub(super) fn is_token(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let is_candidate = value.len() >= MIN_TOKEN_LENGTH && FIRST_BYTES[usize::from(value[0])];
    is_candidate && TOKEN_FORMATS.iter().any(|format| format.matches(value))
        || std::str::from_utf8(value)
            .is_ok_and(|text| is_hashicorp_token(text) || bot_token(text) == Some(0..text.len()))
}

impl TokenFormat {
    fn matches(&self, value: &[u8]) -> bool {
        let Some(rest) = value.strip_prefix(self.prefix.as_bytes()) else {
            return false;
        };
        (self.min_length..=self.max_length).contains(&rest.len())
            && rest.iter().all(|byte| self.letters.contain(*byte))
            && !rest.starts_with(b"/")
            && (self.prefix.ends_with(' ')
                || !self.letters.contain_word_separators()
                || has_random_part(rest))
    }
}

/// True if a part is too long for a word of a name, or long and with a digit.
fn has_random_part(rest: &[u8]) -> bool {
    let mut parts = rest.split(|byte| !byte.is_ascii_alphanumeric());
    parts.any(|part| {
        part.len() >= MIN_PART_LENGTH || part.len() >= MIN_PART_LENGTH_WITH_DIGIT && has_digit(part)
    })
}

impl TokenLetters {
    pub(super) fn contain(self, byte: u8) -> bool {
        match self {
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || b"_-".contains(&byte),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Any => byte.is_ascii_alphanumeric() || b"-_.=+/~:".contains(&byte),
            Self::List => byte == b',' || Self::Any.contain(byte),
        }
    }

    /// True if some of these characters also separate the words of a name.
    fn contain_word_separators(self) -> bool {
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
    // Some tokens contain separators, so the whole rest is tried first.
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

/// True for `NAME.atlasv1.REST`.
fn is_hashicorp_token(text: &str) -> bool {
    let (infix, before, behind) = HASHICORP_INFIX;
    let at = find(text.as_bytes(), infix.as_bytes());
    at.is_some_and(|at| {
        let (name, rest) = (&text[..at], &text[at + infix.len()..]);
        let is_word = |byte: u8| TokenLetters::Word.contain(byte) || byte == b'=';
        name.len() >= before
            && rest.len() >= behind
            && name.bytes().chain(rest.bytes()).all(is_word)
    })
}

/// Returns the range of a Telegram bot's token, `123456789:AA…`. In an address, `bot` precedes the
/// token.
fn bot_token(text: &str) -> Option<Range<usize>> {
    let (digits, mark, length) = TELEGRAM_BOT;
    // Fast path: most texts do not contain the mark.
    find(text.as_bytes(), mark.as_bytes())?;
    text.match_indices(mark).find_map(|(at, _)| {
        let number = text[..at]
            .bytes()
            .rev()
            .take_while(u8::is_ascii_digit)
            .count();
        let begin = at - number;
        let rest = text[at + mark.len()..]
            .bytes()
            .take_while(|byte| TokenLetters::Word.contain(*byte))
            .count();
        let is_whole = begin == 0
            || text[..begin].ends_with("bot")
            || !text.as_bytes()[begin - 1].is_ascii_alphanumeric();
        (number >= digits && rest >= length && is_whole).then(|| begin..at + mark.len() + rest)
    })
}

/// Returns the range of the signature in `sig=…`, when the address was split at `&` before this
/// word.
pub(super) fn signature_after(before: &str, word: &str) -> Option<Range<usize>> {
    let (name, length) = SIGNATURE_PARAMETER;
    let value = word.strip_prefix(name)?.strip_prefix('=')?;
    let is_signature = before.ends_with('&') && value.len() >= length && !value.starts_with('$');
    is_signature.then(|| word.len() - value.len()..word.len())
}

/// Returns the range of the signature of an address: `?sv=…&sig=…`.
pub(super) fn signature(text: &str) -> Option<Range<usize>> {
    let (name, length) = SIGNATURE_PARAMETER;
    let is_address = || text.contains("://") || text.contains("sv=");
    let mut from = 0;
    let mut parts = text.split(['?', '&']).filter_map(|part| {
        let begin = from;
        from += part.len() + 1;
        let value = part.strip_prefix(name)?.strip_prefix('=')?;
        let end = value.find(['#', '"', '\'', ' ']).unwrap_or(value.len());
        (end >= length).then(|| begin + name.len() + 1..begin + name.len() + 1 + end)
    });
    parts.next().filter(|_| is_address())
}

/// Returns the range of the secret after one of [`SECRET_ADDRESSES`].
pub(super) fn secret_after_address(text: &str) -> Option<Range<usize>> {
    // Fast path: most texts are no address of a hook.
    find(text.as_bytes(), SECRET_ADDRESS_MARK)?;
    SECRET_ADDRESSES.iter().find_map(|address| {
        let begin = text.find(address)? + address.len();
        let rest = text[begin..]
            .bytes()
            .take_while(|byte| TokenLetters::Any.contain(*byte))
            .count();
        (rest > 0 && has_digit(&text.as_bytes()[begin..begin + rest])).then(|| begin..begin + rest)
    })
}

/// True if the value contains `scheme://user:password@host`.
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

/// Returns the position of `part`, which is not empty, in `text`. The crate `memchr` is faster for
/// long texts, but first detects the processor's features. In a virtual machine that takes longer
/// than searching a whole environment.
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

/// True for `4096`, `1_000`, `0.5`, `100k`, `30 days`, `unlimited`, or a list of these.
pub(super) fn is_amount(value: &[u8]) -> bool {
    let Ok(value) = std::str::from_utf8(value) else {
        return false;
    };
    let is_one = |part: &str| {
        let part = part.trim();
        let unit = part.trim_start_matches(|c: char| c.is_ascii_digit() || "+-_.' ".contains(c));
        let is_number = part.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
            && part.bytes().any(|b| b.is_ascii_digit());
        let is_unit = unit.len() <= MAX_UNIT_LENGTH
            && unit.bytes().all(|b| b.is_ascii_alphabetic() || b == b'%');
        is_number && (is_unit || part.parse::<f64>().is_ok())
            || AMOUNT_WORDS.contains(&&*part.to_ascii_lowercase())
    };
    value.len() < 2 || value.split([',', '/', ':']).all(is_one)
}

/// True for an absolute path, and for a path that begins with the home or the current directory.
pub(super) fn is_path(value: &[u8]) -> bool {
    let begins = [&b"/"[..], b"~/", b"./", b"../"];
    begins.iter().any(|begin| value.starts_with(begin)) && !value.contains(&b'\n')
}

/// True if the value looks random: long, with lower case, upper case and digits.
pub(super) fn is_random(value: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    value.len() >= MIN_RANDOM_LENGTH
        && value
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+/=_-".contains(byte))
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
}
