//! Decides whether a secret begins where the matcher found a beginning.

use super::letters::{Letters, has, is_name_byte, is_placeholder, is_random};
use crate::secrets::output_mask::key_block::{self, KeyLabel};
use crate::secrets::tables::{HASHICORP_INFIX, SIGNATURE_PARAMETER, TELEGRAM_BOT};
use crate::secrets::token_formats::{TokenFormat, TokenLetters};
use std::ops::Range;

/// The longest user, password and host of an address.
const MAX_AUTHORITY_BYTES: usize = 1024;

/// The longest scheme of an `Authorization` header.
const MAX_SCHEME_BYTES: usize = 32;

/// Minimum lengths of a header's credentials, of a password in a connection string, of an Azure
/// key, and of the rest of a secret address.
const MIN_CREDENTIAL_BYTES: usize = 8;
const MIN_PASSWORD_BYTES: usize = 4;
const MIN_ACCOUNT_KEY_BYTES: usize = 32;
const MIN_ADDRESS_REST_BYTES: usize = 8;

/// Length of AWS's secret key, and the most separators between its name and its value.
const AWS_SECRET_KEY_BYTES: usize = 40;
const MAX_AWS_SEPARATORS: usize = 12;

/// The kind of text that may begin at a match.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// A token with this prefix.
    Token(&'static TokenFormat),
    /// A private key.
    PrivateKey,
    /// `scheme://user:password@host`.
    UrlPassword,
    /// `123456789:AA…`
    TelegramToken,
    /// `NAME.atlasv1.REST`
    HashicorpToken,
    /// An address whose rest is a secret.
    Address,
    /// `&sig=…` of a signed address.
    Signature,
    /// `Authorization: …`
    Header,
    /// `;Password=…` of a connection string.
    Password,
    /// `AccountKey=…` of a connection string.
    AccountKey,
    /// The name of AWS's secret key, which itself has no prefix.
    AwsSecretKey,
}

/// A text to search.
pub(super) struct Context<'a> {
    /// The last bytes before the text.
    pub(super) before: &'a [u8],
    pub(super) text: &'a [u8],
    /// No text follows, or the text is not held any longer.
    pub(super) is_end: bool,
}

/// The decision.
pub(super) enum Checked {
    /// A secret, with the bytes by which it may continue.
    Secret(Range<usize>, Letters),
    /// A private key begins at this distance from the end of the match.
    KeyBegins(usize),
    /// The text from this offset on may be a secret; further text decides.
    Open(usize),
    /// Not a secret.
    Other,
}

impl Checked {
    /// Returns the decision for a secret that begins at `start`, before its checked part.
    fn beginning_at(self, start: usize) -> Self {
        match self {
            Self::Secret(rest, letters) => Self::Secret(start..rest.end, letters),
            Self::Open(_) => Self::Open(start),
            other => other,
        }
    }
}

impl Context<'_> {
    pub(super) fn check(&self, form: Form, hit: Range<usize>) -> Checked {
        match form {
            Form::Token(format) => self.token(format, &hit),
            Form::PrivateKey => match key_block::label(&self.text[hit.end..], self.is_end) {
                KeyLabel::Private(length) => Checked::KeyBegins(length),
                KeyLabel::Open => Checked::Open(hit.start),
                KeyLabel::Other => Checked::Other,
            },
            Form::UrlPassword => self.url_password(&hit),
            Form::TelegramToken => self.bot_token(&hit),
            Form::HashicorpToken => self.infix_token(&hit),
            Form::Address => {
                self.check_following(&hit, Letters::Token(TokenLetters::Any), |rest| {
                    rest.len() >= MIN_ADDRESS_REST_BYTES && has(rest, u8::is_ascii_digit)
                })
            }
            Form::Signature if !matches!(self.byte_before(hit.start), Some(b'?' | b'&')) => {
                Checked::Other
            }
            Form::Signature => self.check_following(&hit, Letters::Percent, |rest| {
                rest.len() >= SIGNATURE_PARAMETER.1
                    && has(rest, u8::is_ascii_digit)
                    && has(rest, u8::is_ascii_alphabetic)
            }),
            Form::Header => self.header(&hit),
            Form::Password => self.check_following(&hit, Letters::Field, |rest| {
                rest.len() >= MIN_PASSWORD_BYTES && !is_placeholder(rest)
            }),
            Form::AccountKey => self.check_following(&hit, Letters::Base64, |rest| {
                rest.len() >= MIN_ACCOUNT_KEY_BYTES && is_random(rest)
            }),
            Form::AwsSecretKey => self.aws_secret_key(&hit),
        }
    }

    fn byte_before(&self, at: usize) -> Option<u8> {
        match at.checked_sub(1) {
            Some(before) => Some(self.text[before]),
            None => self.before.last().copied(),
        }
    }

    /// True if a word begins at `at`. In JSON and in addresses, an escaped byte may precede it.
    fn is_word_start(&self, at: usize) -> bool {
        let byte = |distance: usize| -> Option<u8> {
            if let Some(at) = at.checked_sub(distance) {
                return Some(self.text[at]);
            }
            let at = self.before.len().checked_sub(distance - at)?;
            Some(self.before[at])
        };
        let is_escape = byte(2) == Some(b'\\') && matches!(byte(1), Some(b'n' | b't' | b'r'));
        is_escape || byte(3) == Some(b'%') || !byte(1).is_some_and(is_name_byte)
    }

    /// Checks the bytes after a match that consist of `letters`: `is_secret` decides.
    fn check_following(
        &self,
        hit: &Range<usize>,
        letters: Letters,
        is_secret: impl Fn(&[u8]) -> bool,
    ) -> Checked {
        let rest = &self.text[hit.end..];
        let length = letters.count(rest);
        if length == rest.len() && !self.is_end {
            return Checked::Open(hit.start);
        }
        if is_secret(&rest[..length]) {
            Checked::Secret(hit.end..hit.end + length, letters)
        } else {
            Checked::Other
        }
    }

    fn token(&self, format: &TokenFormat, hit: &Range<usize>) -> Checked {
        if !self.is_word_start(hit.start) {
            return Checked::Other;
        }
        let is_header = format.prefix.ends_with(' ');
        let letters = match format.prefix {
            "Basic " => Letters::Base64,
            _ => Letters::Token(format.letters),
        };
        let rest = &self.text[hit.end..];
        let length = letters.count(rest);
        if length == rest.len() && !self.is_end {
            return Checked::Open(hit.start);
        }
        let is_open_ended = matches!(
            letters,
            Letters::Token(TokenLetters::Any | TokenLetters::List) | Letters::Base64
        );
        let next = rest.get(length).copied();
        if !is_open_ended && next.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Checked::Other;
        }
        let mut secret = &rest[..length];
        while is_open_ended && secret.last().is_some_and(|byte| b".:/~,".contains(byte)) {
            secret = &secret[..secret.len() - 1];
        }
        let is_token = (format.min_length..=format.max_length).contains(&secret.len())
            && !secret.starts_with(b"/")
            && match format.prefix {
                "Basic " => is_basic_credential(secret),
                _ => is_random(secret),
            };
        if !is_token {
            return Checked::Other;
        }
        // The scheme of a header stays readable.
        let start = if is_header { hit.end } else { hit.start };
        Checked::Secret(start..hit.end + secret.len(), letters)
    }

    fn url_password(&self, hit: &Range<usize>) -> Checked {
        let rest = &self.text[hit.end..];
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b"/?#\"'<>`\\".contains(byte);
        let end = rest.iter().position(ends);
        if end.is_none() && !self.is_end && rest.len() < MAX_AUTHORITY_BYTES {
            return Checked::Open(hit.start);
        }
        let authority = &rest[..end.unwrap_or(rest.len())];
        let host = authority.iter().rposition(|byte| *byte == b'@');
        let password = host.and_then(|host| {
            let colon = authority[..host].iter().position(|byte| *byte == b':')?;
            let password = &authority[colon + 1..host];
            (!is_placeholder(password)).then(|| hit.end + colon + 1..hit.end + host)
        });
        match password {
            Some(range) => Checked::Secret(range, Letters::Nothing),
            None => Checked::Other,
        }
    }

    fn bot_token(&self, hit: &Range<usize>) -> Checked {
        let (min_digits, _, min_length) = TELEGRAM_BOT;
        let digits = self.text[..hit.start].iter().rev();
        let digits = digits.take_while(|byte| byte.is_ascii_digit()).count();
        let start = hit.start - digits;
        let is_whole = self.is_word_start(start) || self.text[..start].ends_with(b"bot");
        if digits < min_digits || !is_whole {
            return Checked::Other;
        }
        let checked = self.check_following(hit, Letters::Token(TokenLetters::Word), |rest| {
            rest.len() >= min_length && is_random(rest)
        });
        checked.beginning_at(start)
    }

    fn infix_token(&self, hit: &Range<usize>) -> Checked {
        let (_, min_before, min_length) = HASHICORP_INFIX;
        let name = self.text[..hit.start].iter().rev();
        let name = name.take_while(|byte| is_name_byte(**byte)).count();
        if name < min_before {
            return Checked::Other;
        }
        let mut start = hit.start - name;
        // In JSON, the name follows a written line end.
        if self.byte_before(start) == Some(b'\\') && matches!(self.text[start], b'n' | b't' | b'r')
        {
            start += 1;
        }
        let checked = self.check_following(hit, Letters::Percent, |rest| {
            rest.len() >= min_length && is_random(rest)
        });
        checked.beginning_at(start)
    }

    /// Checks `Authorization: SCHEME CREDENTIALS`, or the credentials alone.
    fn header(&self, hit: &Range<usize>) -> Checked {
        let rest = &self.text[hit.end..];
        let scheme = rest.iter().take_while(|byte| byte.is_ascii_alphabetic());
        let scheme = scheme.count().min(MAX_SCHEME_BYTES);
        if scheme == rest.len() && !self.is_end {
            return Checked::Open(hit.start);
        }
        let from = if scheme > 0 && rest.get(scheme) == Some(&b' ') {
            hit.end + scheme + 1
        } else {
            hit.end
        };
        match self.check_following(&(hit.start..from), Letters::Field, |credentials| {
            let is_mixed = has(credentials, u8::is_ascii_digit)
                && has(credentials, u8::is_ascii_alphabetic)
                && credentials.len() >= MIN_CREDENTIAL_BYTES;
            !is_placeholder(credentials) && (is_mixed || is_basic_credential(credentials))
        }) {
            // The scheme has its own forms.
            Checked::Other if from > hit.end => Checked::Other,
            checked => checked,
        }
    }

    fn aws_secret_key(&self, hit: &Range<usize>) -> Checked {
        let rest = &self.text[hit.end..];
        let is_separator = |byte: &&u8| b" \t\"':=\\>".contains(byte);
        let gap = rest.iter().take_while(is_separator).count();
        if gap == rest.len() && gap <= MAX_AWS_SEPARATORS && !self.is_end {
            return Checked::Open(hit.start);
        }
        if gap == 0 || gap > MAX_AWS_SEPARATORS {
            return Checked::Other;
        }
        self.check_following(&(hit.start..hit.end + gap), Letters::Base64, |rest| {
            rest.len() == AWS_SECRET_KEY_BYTES && is_random(rest)
        })
    }
}

/// True for Base64 of a user and a password. `Authentication` is a word.
fn is_basic_credential(text: &[u8]) -> bool {
    text.len() >= MIN_CREDENTIAL_BYTES
        && text.iter().all(|byte| Letters::Base64.contain(*byte))
        && has(text, u8::is_ascii_lowercase)
        && has(text, u8::is_ascii_uppercase)
        && (has(text, u8::is_ascii_digit) || text.ends_with(b"="))
}
