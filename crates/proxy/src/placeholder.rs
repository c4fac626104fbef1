//! Texts that stand for secrets.

use agent_bash_core::words;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// Beginnings of tokens, which tell programs the kind of a token. A placeholder has the same.
const TOKEN_PREFIXES: &[&str] = words![
    "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- gldt- glcbt- npm_ pypi- sk-ant- sk-proj- sk-",
    "xoxb- xoxp- hf_ dop_v1_ AKIA AIza eyJ",
];

/// The smallest number of random characters. A shorter text could occur in a request by chance.
const MIN_RANDOM_CHARS: usize = 12;

/// The largest length of a value.
const MAX_VALUE_BYTES: usize = 4096;

/// A source of placeholders, with random keys.
#[derive(Debug, Default)]
pub struct Placeholders {
    keys: RandomState,
}

impl Placeholders {
    /// Returns the placeholder for the value of a variable; the same one for each call. It has the
    /// length, the known beginning, the punctuation and the kinds of letters of `value`. The other
    /// characters depend on the variable, their position and the keys, not on `value`. Returns
    /// `None` if a header cannot have the value, and if the value is too short or too long.
    pub fn of(&self, variable: &str, value: &str) -> Option<String> {
        if value.len() > MAX_VALUE_BYTES || !value.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        let mut prefixes = TOKEN_PREFIXES.iter().copied();
        let prefix = prefixes.find(|prefix| value.starts_with(prefix));
        let prefix = prefix.unwrap_or_default();
        let rest = &value[prefix.len()..];
        let letters = letters_like(rest);
        let mut random_count = 0;
        let random = rest.chars().enumerate().map(|(position, letter)| {
            if !letter.is_ascii_alphanumeric() {
                return letter;
            }
            random_count += 1;
            let number = self.keys.hash_one((variable, position)) % letters.len() as u64;
            usize::try_from(number).map_or(letter, |number| char::from(letters[number]))
        });
        let text: String = prefix.chars().chain(random).collect();
        (random_count >= MIN_RANDOM_CHARS && text != value).then_some(text)
    }
}

/// Returns the letters and digits that a text like `text` may have. They are hexadecimal if those
/// of `text` are.
fn letters_like(text: &str) -> Vec<u8> {
    let has = |is: fn(&u8) -> bool| text.as_bytes().iter().any(is);
    let is_hexadecimal = !has(|byte| byte.is_ascii_alphabetic() && !byte.is_ascii_hexdigit());
    let last = if is_hexadecimal { 5 } else { 25 };
    let mut all = Vec::new();
    if has(u8::is_ascii_digit) {
        all.extend(b'0'..=b'9');
    }
    if has(u8::is_ascii_lowercase) {
        all.extend(b'a'..=b'a' + last);
    }
    if has(u8::is_ascii_uppercase) {
        all.extend(b'A'..=b'A' + last);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholder_has_the_form_of_the_value_and_nothing_else_of_it() {
        let placeholders = Placeholders::default();
        for (value, prefix, letters) in [
            (
                "ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123",
                "ghp_",
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
            ),
            ("00112233445566778899aabbccddeeff", "", "0123456789abcdef"),
            ("zyxwvutsrqponmlkjihg", "", "abcdefghijklmnopqrstuvwxyz"),
        ] {
            let made = placeholders.of("A_TOKEN", value).unwrap();
            let rest = made.strip_prefix(prefix).unwrap();
            assert_eq!(made.len(), value.len());
            assert!(
                rest.chars().all(|letter| letters.contains(letter)),
                "{made}"
            );
            assert_ne!(made, value);
            assert_ne!(
                Placeholders::default().of("A_TOKEN", value).as_ref(),
                Some(&made)
            );
            assert_eq!(placeholders.of("A_TOKEN", value).as_ref(), Some(&made));
            assert_ne!(placeholders.of("B_TOKEN", value).as_ref(), Some(&made));
            let reversed: String = value[prefix.len()..].chars().rev().collect();
            let other_value = format!("{prefix}{reversed}");
            assert_eq!(placeholders.of("A_TOKEN", &other_value), Some(made));
        }
        let value = "eyJhbGciOi.eyJzdWIiOi-x.c2lnbmF0dXJl_w";
        let made = placeholders.of("JWT", value).unwrap();
        let marks = |text: &str| -> Vec<usize> {
            let marks = text.match_indices(['.', '-', '_']);
            marks.map(|(position, _)| position).collect()
        };
        assert_eq!(marks(&made), marks(value));
    }

    #[test]
    fn value_that_is_short_long_or_no_header_has_no_placeholder() {
        let placeholders = Placeholders::default();
        for value in [
            "",
            "hunter2",
            "ghp_abcdefghijk",
            "---------------------",
            "abcdefghijklmnop\r\nHost: x",
            "abcdefghijklmnop é",
            &"a".repeat(5000),
        ] {
            assert_eq!(placeholders.of("A", value), None, "{value}");
        }
    }
}
