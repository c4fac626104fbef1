//! [`FormMatcher`]: finds texts with the form of a secret. One matcher finds the places where a
//! secret may begin; `check` decides, with stricter rules than for a variable's value: most of an
//! output is not a secret.

mod check;
mod letters;

use super::found::{FoundSecret, mask_text};
use super::key_block::{KEY_HEADER, KeyBlock, KeyLine};
use super::prefixes::{PrefixSet, longest_matcher};
use crate::secrets::tables::{HASHICORP_INFIX, SECRET_ADDRESSES, TELEGRAM_BOT};
use crate::secrets::token_formats::TOKEN_FORMATS;
use aho_corasick::{AhoCorasick, Input};
use check::{Checked, Context, Form};
use letters::{Letters, is_name_byte};
use std::sync::Arc;

/// The longest name before the middle of a token that is masked with the token.
const MAX_NAME_BYTES: usize = 64;

/// Forms that have no row in the tables, with the text before the secret.
const FURTHER_FORMS: &[(&str, Form, &str)] = &[
    ("://", Form::UrlPassword, "password"),
    ("sig=", Form::Signature, "signature"),
    ("Authorization: ", Form::Header, "authorization"),
    ("authorization: ", Form::Header, "authorization"),
    ("AUTHORIZATION: ", Form::Header, "authorization"),
    (";Password=", Form::Password, "password"),
    (";password=", Form::Password, "password"),
    (";Pwd=", Form::Password, "password"),
    (";pwd=", Form::Password, "password"),
    ("AccountKey=", Form::AccountKey, "azure key"),
    ("SharedAccessKey=", Form::AccountKey, "azure key"),
    (
        "aws_secret_access_key",
        Form::AwsSecretKey,
        "aws secret key",
    ),
    (
        "AWS_SECRET_ACCESS_KEY",
        Form::AwsSecretKey,
        "aws secret key",
    ),
    ("SecretAccessKey", Form::AwsSecretKey, "aws secret key"),
];

/// Matches the beginnings of all forms at once.
#[derive(Debug)]
pub(super) struct FormMatcher {
    matcher: AhoCorasick,
    open: PrefixSet,
    /// The form of each pattern, and the text that replaces a secret of that form.
    forms: Vec<(Form, Arc<str>)>,
    private_key: Arc<str>,
    continuation: Arc<str>,
}

/// The state of one stream.
#[derive(Debug, Default)]
pub(super) struct FormState {
    /// The private key whose end was not seen yet.
    key: Option<KeyBlock>,
    /// The characters of a masked secret that may continue.
    continues: Option<Letters>,
}

impl FormMatcher {
    /// Compiles the forms.
    pub(super) fn new() -> Option<Self> {
        let mut patterns: Vec<&'static [u8]> = vec![KEY_HEADER];
        let private_key = mask_text("private key");
        let mut forms = vec![(Form::PrivateKey, Arc::clone(&private_key))];
        let mut add = |pattern: &'static str, form, name: &str| {
            patterns.push(pattern.as_bytes());
            forms.push((form, mask_text(name)));
        };
        for format in TOKEN_FORMATS {
            let name = format!("{} token", format.issuer);
            add(format.prefix, Form::Token(format), &name);
        }
        for address in SECRET_ADDRESSES {
            add(address, Form::Address, "webhook");
        }
        add(TELEGRAM_BOT.1, Form::TelegramToken, "telegram token");
        add(HASHICORP_INFIX.0, Form::HashicorpToken, "terraform token");
        for (pattern, form, name) in FURTHER_FORMS {
            add(pattern, *form, name);
        }
        Some(Self {
            matcher: longest_matcher(&patterns)?,
            open: PrefixSet::new(patterns),
            forms,
            private_key,
            continuation: Arc::from(""),
        })
    }

    /// Adds the secrets in `text`, which follows `before`, to `found`. Returns the length of the
    /// text that further text cannot change. `is_end`: the text is not held any longer.
    pub(super) fn find(
        &self,
        state: &mut FormState,
        before: &[u8],
        text: &[u8],
        is_end: bool,
        found: &mut Vec<FoundSecret>,
    ) -> usize {
        let context = Context {
            before,
            text,
            is_end,
        };
        let mut add = |range, mask: &Arc<str>| {
            let mask = Arc::clone(mask);
            found.push(FoundSecret { range, mask });
        };
        let mut at = 0;
        if let Some(letters) = state.continues {
            at = letters.count(text);
            if at > 0 {
                add(0..at, &self.continuation);
            }
            if at == text.len() {
                return at;
            }
            state.continues = None;
        }
        // No further secret begins before the end of the last one.
        let mut secret_end = at;
        while at < text.len() {
            if let Some(block) = &mut state.key {
                let (length, data, is_over) = match block.line(&text[at..], is_end) {
                    KeyLine::Open => return at,
                    KeyLine::Line(length, data) => (length, data, false),
                    KeyLine::End(length, data) => (length, data, true),
                };
                for range in data {
                    add(at + range.start..at + range.end, &self.private_key);
                }
                at += length;
                secret_end = at;
                if is_over {
                    state.key = None;
                }
                continue;
            }
            let Some(hit) = self.matcher.find(Input::new(text).range(at..)) else {
                break;
            };
            let (form, mask) = &self.forms[hit.pattern().as_usize()];
            match context.check(*form, hit.range()) {
                Checked::Secret(range, letters) => {
                    at = range.end;
                    secret_end = at;
                    if is_end && at == text.len() {
                        state.continues = Some(letters);
                    }
                    let token = self.token_mask(*form, &text[range.clone()]);
                    add(range, token.unwrap_or(mask));
                }
                Checked::KeyBegins(length) => {
                    state.key = Some(KeyBlock::default());
                    at = hit.end() + length;
                    secret_end = at;
                }
                Checked::Open(from) => return from.max(secret_end),
                Checked::Other => at = hit.start() + 1,
            }
        }
        if is_end {
            return text.len();
        }
        let rest = &text[secret_end.min(text.len())..];
        text.len() - self.open_len(rest)
    }

    /// Returns the mask of a token, if the password in a URL is a token.
    fn token_mask(&self, form: Form, secret: &[u8]) -> Option<&Arc<str>> {
        if !matches!(form, Form::UrlPassword) {
            return None;
        }
        let mut tokens = self.forms.iter();
        let token = tokens.find(|(form, _)| {
            matches!(form, Form::Token(format) if secret.starts_with(format.prefix.as_bytes()))
        });
        token.map(|(_, mask)| mask)
    }

    /// Returns the length of the end of a text that may begin a secret: the beginning of a pattern,
    /// and a name or number before it.
    fn open_len(&self, text: &[u8]) -> usize {
        let open = self.open.open_len(text);
        let before = text[..text.len() - open].iter().rev();
        let name = before
            .take(MAX_NAME_BYTES)
            .take_while(|byte| is_name_byte(**byte));
        open + name.count()
    }
}
