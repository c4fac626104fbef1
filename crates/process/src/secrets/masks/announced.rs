//! Words after which a secret follows: `--password`, `Bearer`, `X-Api-Key:`, and the options in
//! [`options`].

use super::names::{SECRET_MASK, bare, is_name};
use super::options::{self, CredentialKind};
use super::words::Word;
use crate::secrets::{SecretFilter, name_is_secret};
use std::collections::VecDeque;
use std::ops::Range;

/// The word after one of these is a credential (RFC 6750, RFC 7617).
const AUTH_SCHEMES: [&str; 4] = ["bearer", "basic", "token", "apikey"];

/// Headers whose name does not show that they hold a credential.
const CREDENTIAL_HEADERS: [&str; 4] = [
    "authorization", "proxy-authorization", "cookie", "set-cookie",
];

/// The form of the value that the preceding word announces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Announced {
    /// The whole word is a secret.
    Secret,
    /// The value of an option or a setting with this name.
    Named(String),
    /// `user:password`; the password is a secret.
    User,
    /// The value of a header or a field with this name.
    Field { name: String, is_header: bool },
    /// `name=value`, the value is a secret; more pairs may follow.
    Cookie,
    /// `name=value`; the value is a secret.
    Assigned,
}

/// The state of the search: what the preceding words say about the next one.
#[derive(Debug, Default)]
pub(super) struct PrecedingWords {
    announced: Option<Announced>,
    /// Programs and subcommands of this command that are in a table of [`options`].
    programs: Vec<&'static str>,
    /// The first words of this command.
    words: Vec<String>,
    /// The range of the only argument of `echo` or `printf` that is piped to this command.
    piped: Option<Range<usize>>,
    /// The last words, across the ends of commands; see [`NETRC_WORDS`].
    recent_words: VecDeque<String>,
    /// The word before the next word; empty at the beginning.
    previous_word: String,
}

/// Maximum number of remembered words of a command.
const MAX_REMEMBERED_WORDS: usize = 24;

/// Commands that print their arguments.
const PRINTING_COMMANDS: [&str; 2] = ["echo", "printf"];

/// The keywords of `machine HOST login NAME password`, a line of a netrc file. Each has its
/// distance from the last word, in words.
const NETRC_KEYWORDS: [(usize, &str); 3] = [(4, "machine"), (2, "login"), (0, "password")];
const NETRC_DEFAULT: [(usize, &str); 3] = [(3, "default"), (2, "login"), (0, "password")];
const NETRC_WORDS: usize = 5;

impl PrecedingWords {
    /// Starts the next command; `is_piped` if its input is the output of the last one.
    pub(super) fn command_ended(&mut self, is_piped: bool, last_word: Option<Range<usize>>) {
        let is_printed =
            |words: &[String]| words.len() >= 2 && PRINTING_COMMANDS.contains(&&*words[0]);
        let arguments = self
            .words
            .iter()
            .skip(1)
            .filter(|word| !word.starts_with('-'));
        let is_only =
            arguments.count() == 1 || self.words.len() == 3 && self.words[1].starts_with('%');
        self.piped = last_word.filter(|_| is_piped && is_only && is_printed(&self.words));
        self.programs.clear();
        self.words.clear();
    }

    /// Returns the range of this command's piped input, once, if the command reads a credential.
    pub(super) fn piped_credential(&mut self, text: &str) -> Option<Range<usize>> {
        let kind = self
            .piped
            .as_ref()
            .and_then(|_| options::input_credential(&self.words))?;
        let piped = self.piped.take()?;
        let is_value = !text[piped.clone()].starts_with('$');
        match kind {
            CredentialKind::User => options::password(text, piped),
            _ => is_value.then_some(piped),
        }
    }

    pub(super) fn programs(&self) -> &[&'static str] {
        &self.programs
    }

    /// Returns the announced value, if `word` follows the announcement.
    pub(super) fn take_announced(&mut self, text: &str, word: &Word) -> Option<Announced> {
        let announced = self.announced.take()?;
        let is_next_cookie = announced == Announced::Cookie
            && word.is_quoted
            && text[word.gap.clone()].trim() == ";";
        (word.follows_directly || is_next_cookie).then_some(announced)
    }

    /// Records that the announced secret was found in `word`.
    pub(super) fn after_secret(&mut self, announced: &Announced, word: &str) {
        self.announced = (*announced == Announced::Cookie).then_some(Announced::Cookie);
        word.clone_into(&mut self.previous_word);
    }

    /// Adds a word that is not an announced secret.
    pub(super) fn push(&mut self, text: &str, word: &Word) {
        let whole = &text[word.range.clone()];
        self.remember(whole);
        self.announced = self.announces(text, word, whole);
        self.programs.extend(options::known_program(whole));
        whole.clone_into(&mut self.previous_word);
    }

    fn remember(&mut self, whole: &str) {
        if self.words.len() < MAX_REMEMBERED_WORDS {
            self.words.push(whole.to_owned());
        }
        // `printf` and `echo -e` print `\n` as the end of a line.
        for part in whole.split("\\n").filter(|part| !part.is_empty()) {
            self.recent_words.push_back(part.to_owned());
        }
        while self.recent_words.len() > NETRC_WORDS {
            self.recent_words.pop_front();
        }
    }

    /// True if the last words are a line of a netrc file up to its password.
    fn is_netrc(&self) -> bool {
        let is = |pattern: &[(usize, &str)]| {
            pattern.iter().all(|(back, wanted)| {
                let at = self.recent_words.len().checked_sub(back + 1);
                at.is_some_and(|at| self.recent_words[at] == *wanted)
            })
        };
        is(&NETRC_KEYWORDS) || is(&NETRC_DEFAULT)
    }

    fn announces(&self, text: &str, word: &Word, whole: &str) -> Option<Announced> {
        let precedes_quote = text[word.range.end..].starts_with(['"', '\'']) && !word.is_quoted;
        match options::kind_of_next_word(&self.programs, whole, precedes_quote) {
            Some(CredentialKind::Secret) => return Some(Announced::Secret),
            Some(CredentialKind::User) => return Some(Announced::User),
            Some(CredentialKind::Cookie) => return Some(Announced::Cookie),
            Some(CredentialKind::Assigned) => return Some(Announced::Assigned),
            None => {}
        }
        if let Some(name) = whole.strip_prefix("--")
            && is_name(name)
            && name_is_secret(name)
        {
            return Some(Announced::Named(name.to_owned()));
        }
        let follows_label = self.previous_word.ends_with(':') && word.follows_directly;
        match whole.rsplit_once(':') {
            Some((name, scheme)) if is_name(name) && is_one_of(scheme, &AUTH_SCHEMES[..2]) => {
                return Some(Announced::Secret);
            }
            None if is_one_of(whole, &AUTH_SCHEMES[..1])
                || follows_label && is_one_of(whole, &AUTH_SCHEMES[..2]) =>
            {
                return Some(Announced::Secret);
            }
            _ => {}
        }
        if is_one_of(
            self.previous_word.trim_end_matches(':'),
            &CREDENTIAL_HEADERS[..2],
        ) && follows_label
            && is_one_of(whole, &AUTH_SCHEMES)
        {
            return Some(Announced::Secret);
        }
        if self.is_netrc() || options::is_password_next(&self.words) {
            return Some(Announced::Secret);
        }
        let setting = whole.rsplit(['/', ':']).next().unwrap_or(whole);
        if name_is_secret(setting) && options::is_setting_command(&self.words) {
            return Some(Announced::Named(setting.to_owned()));
        }
        if whole == ":"
            && is_secret_field(&self.previous_word)
            && follows_quote(text, word.range.start)
        {
            return Some(Announced::Field {
                name: self.previous_word.clone(),
                is_header: false,
            });
        }
        let name = whole.strip_suffix(':').filter(|name| is_name(name))?;
        let name = bare(name);
        let is_header_argument = ["-H", "--header"].contains(&&*self.previous_word);
        if !is_header_argument && !starts_line_or_quote(text, word.range.start) {
            return None;
        }
        if is_one_of(name, &CREDENTIAL_HEADERS[2..]) {
            return Some(Announced::Cookie);
        }
        let is_known = is_one_of(name, &CREDENTIAL_HEADERS);
        (is_known || is_secret_field(name)).then(|| Announced::Field {
            name: name.to_owned(),
            is_header: is_known || is_header_argument || name.contains('-'),
        })
    }
}

impl Announced {
    /// Returns the range of the secret in the announced word.
    pub(super) fn secret(
        &self,
        filter: &SecretFilter,
        text: &str,
        word: &Word,
    ) -> Option<Range<usize>> {
        let range = word.range.clone();
        let value = &text[range.clone()];
        let is_value = !value.starts_with(['-', '$']) && value != SECRET_MASK;
        match self {
            Self::Secret => is_value.then_some(range),
            Self::Named(name) => {
                let is_secret = is_value && filter.is_secret(name.as_ref(), value.as_ref());
                is_secret.then_some(range)
            }
            Self::User => options::password(text, range),
            Self::Cookie | Self::Assigned => options::assigned_value(text, range),
            Self::Field { name, is_header } => {
                let is_scheme = is_one_of(value, &AUTH_SCHEMES);
                // `token: String` in a program is not a header.
                let looks_secret = *is_header
                    || follows_quote(text, range.start)
                    || value.bytes().any(|b| b.is_ascii_digit());
                let is_known = is_one_of(name, &CREDENTIAL_HEADERS);
                let is_secret = is_known || filter.is_secret(name.as_ref(), value.as_ref());
                let is_value = is_value && !value.starts_with(['/', '{', '[', '&', '*']);
                (is_value && looks_secret && is_secret && !is_scheme).then_some(range)
            }
        }
    }
}

/// Returns the range of the value in `"name":"value"` without blanks, if the name is that of a
/// secret.
pub(super) fn json_secret(
    filter: &SecretFilter,
    preceding: &PrecedingWords,
    text: &str,
    word: &Range<usize>,
) -> Option<Range<usize>> {
    let whole = &text[word.clone()];
    let value = whole
        .strip_prefix(":\"")
        .or_else(|| whole.strip_prefix(":'"))?;
    let is_value = !value.is_empty() && !value.starts_with('$');
    let is_secret = is_value
        && is_secret_field(&preceding.previous_word)
        && follows_quote(text, word.start)
        && filter.is_secret(preceding.previous_word.as_ref(), value.as_ref());
    is_secret.then(|| word.end - value.len()..word.end)
}

/// True if a field of this name holds a secret. `key:` and `auth:` alone are too common to be
/// secrets.
fn is_secret_field(name: &str) -> bool {
    let is_short = is_one_of(name, &["key", "keys", "auth"]);
    is_name(name) && name_is_secret(bare(name)) && !is_short
}

/// True if the list has the word, in upper or lower case.
fn is_one_of(word: &str, list: &[&str]) -> bool {
    list.iter().any(|one| word.eq_ignore_ascii_case(one))
}

fn follows_quote(text: &str, at: usize) -> bool {
    text[..at].ends_with(['"', '\''])
}

/// True if a line or a quoted text begins at `at`. The mark of a diff line or of a YAML list may
/// precede it. Examines only the text directly before `at`, as a line may be long.
fn starts_line_or_quote(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches([' ', '\t', '+', '-']);
    before.is_empty() || before.ends_with('\n') || follows_quote(text, at)
}
