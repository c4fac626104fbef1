//! Classes of bytes in secrets.

use crate::secrets::token_formats::TokenLetters;

/// The bytes that a secret consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Letters {
    /// The characters of a token.
    Token(TokenLetters),
    /// Base64: letters, digits, `+`, `/` and `=`.
    Base64,
    /// Base64 in an address, where `%` introduces other bytes.
    Percent,
    /// Everything but blanks, controls, quotes and `;`.
    Field,
    /// Nothing: the secret cannot continue.
    Nothing,
}

impl Letters {
    pub(super) fn contain(self, byte: u8) -> bool {
        match self {
            Self::Token(letters) => letters.contain(byte),
            Self::Base64 => byte.is_ascii_alphanumeric() || b"+/=".contains(&byte),
            Self::Percent => byte.is_ascii_alphanumeric() || b"%+/=_-".contains(&byte),
            Self::Field => !byte.is_ascii_control() && !b" ;\"'`\\,".contains(&byte),
            Self::Nothing => false,
        }
    }

    /// Returns the number of these bytes at the beginning of a text.
    pub(super) fn count(self, text: &[u8]) -> usize {
        text.iter().take_while(|byte| self.contain(**byte)).count()
    }
}

/// True for a byte of a name in code, in an address or of a file.
pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

pub(super) fn has(text: &[u8], is: fn(&u8) -> bool) -> bool {
    text.iter().any(is)
}

/// Minimum length of a random-looking part that has a digit.
const MIN_PART_WITH_DIGIT: usize = 10;

/// Minimum length of a random-looking part without a digit. Such a part has both cases.
const MIN_PART_WITHOUT_DIGIT: usize = 16;

/// True if a part of a text looks random: long with letters and digits, or longer and of mixed
/// case. `xxxxxxxx` and the words of a name do not look random.
pub(super) fn is_random(text: &[u8]) -> bool {
    let mut parts = text.split(|byte| !byte.is_ascii_alphanumeric());
    parts.any(|part| {
        let (upper, lower) = (
            has(part, u8::is_ascii_uppercase),
            has(part, u8::is_ascii_lowercase),
        );
        let is_mixed =
            part.len() >= MIN_PART_WITH_DIGIT && has(part, u8::is_ascii_digit) && (upper || lower);
        is_mixed || part.len() >= MIN_PART_WITHOUT_DIGIT && upper && lower
    })
}

/// True if a text is a placeholder for a secret: `$TOKEN`, `{token}`, `<password>`, `***`.
pub(super) fn is_placeholder(text: &[u8]) -> bool {
    let Some(first) = text.first() else {
        return true;
    };
    b"$`%{<[".contains(first)
        || text.iter().all(|byte| byte == first)
        || text.starts_with("‹".as_bytes())
}
