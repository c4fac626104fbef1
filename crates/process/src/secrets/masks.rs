//! [`Masks`]: takes secrets out of texts that are kept or shown. What holds a secret is decided as for the environment:
//! by the variables' own values, by names (`--token x`, `PASSWORD=x`), and by the form of a word.

use super::{SecretFilter, find, has_url_with_password, is_token, name_is_secret};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::ops::Range;

/// Stands where a secret was.
const MASK: &str = "[hidden]";

/// Shorter values of variables are not looked for: they would be found in words that have nothing to do with them.
const SHORTEST: usize = 6;

/// The word after one of these is a credential (RFC 6750, RFC 7617).
const SCHEMES: [&str; 2] = ["bearer", "basic"];

/// Takes the host's secrets, and what looks like one, out of texts.
#[derive(Debug, Clone)]
pub struct Masks {
    filter: SecretFilter,
    /// Values of the host's variables, the longest first.
    values: Vec<String>,
}

impl Masks {
    /// Those of a host's environment, as `filter` sees it.
    pub fn new<'a>(
        environment: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>,
        filter: SecretFilter,
    ) -> Self {
        let variables = environment.into_iter();
        let mut values: Vec<String> = variables
            .filter(|(name, value)| filter.is_secret(name, value))
            .filter_map(|(_, value)| value.to_str())
            .filter(|value| value.len() >= SHORTEST)
            .map(str::to_owned)
            .collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self { filter, values }
    }

    /// The text with `[hidden]` in place of each secret.
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for value in &self.values {
            if text.contains(value.as_str()) {
                text = Cow::Owned(text.replace(value.as_str(), MASK));
            }
        }
        let found = self.found(&text);
        if found.is_empty() {
            return text;
        }
        let (mut masked, mut from) = (String::with_capacity(text.len()), 0);
        for range in found {
            masked.push_str(&text[from..range.start]);
            masked.push_str(MASK);
            from = range.end;
        }
        masked.push_str(&text[from..]);
        Cow::Owned(masked)
    }

    /// Where words look like secrets, in order and without overlaps.
    fn found(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let (mut at, mut announced) = (0, false);
        while let Some(word) = next_word(text, at) {
            at = word.end;
            let inner = match text[word.clone()].as_bytes() {
                [quote @ (b'"' | b'\''), .., last] if quote == last => word.start + 1..word.end - 1,
                _ => word.clone(),
            };
            if let Some(key) = private_key(text, word.start) {
                at = key.end;
                found.push(key);
                continue;
            }
            if announced && !text[inner.clone()].starts_with(['-', '$']) {
                found.push(inner);
                announced = false;
                continue;
            }
            announced = announces(&text[inner.clone()]);
            found.extend(self.in_word(text, inner));
        }
        found
    }

    /// The secret part of a word.
    fn in_word(&self, text: &str, word: Range<usize>) -> Option<Range<usize>> {
        let whole = &text[word.clone()];
        if let Some((name, value)) = whole.split_once(['=', ':'])
            && let value = value.trim_start_matches(['"', '\''])
            && is_name(name)
            && !value.is_empty()
            && !value.starts_with(['$', '/', '='])
            && value != MASK
            && self.filter.by_name
            && self
                .filter
                .is_secret(name.trim_start_matches('-').as_ref(), value.as_ref())
        {
            return Some(word.end - value.len()..word.end);
        }
        if !self.filter.by_value {
            return None;
        }
        if has_url_with_password(whole.as_bytes()) {
            let user = find(whole.as_bytes(), b"://")? + 3;
            let colon = user + find(&whole.as_bytes()[user..], b":")? + 1;
            let host = whole[colon..].find('@')? + colon;
            return Some(word.start + colon..word.start + host);
        }
        let value = whole
            .rsplit_once(['=', ':'])
            .map_or(whole, |(_, value)| value);
        is_token(value.as_bytes()).then(|| word.end - value.len()..word.end)
    }
}

/// `NAME`, `--name`, `-H`: what may stand before a value.
fn is_name(text: &str) -> bool {
    let name = text.trim_start_matches('-');
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
}

/// Whether the next word is a credential: `--password`, `Bearer`.
fn announces(word: &str) -> bool {
    if let Some(name) = word.strip_prefix("--") {
        return is_name(name) && name_is_secret(name);
    }
    let scheme = word.rsplit_once(':').map_or(word, |(_, scheme)| scheme);
    SCHEMES.iter().any(|one| scheme.eq_ignore_ascii_case(one))
}

/// From the header of a private key at `start` to the end of its footer, or of the text.
fn private_key(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = text[start..].strip_prefix("-----BEGIN")?;
    rest.lines().next()?.contains("PRIVATE KEY").then_some(())?;
    let end = rest
        .find("-----END")
        .map_or(text.len(), |at| text.len() - rest.len() + at);
    let footer = text[end..].find('\n').map_or(text.len(), |at| end + at);
    Some(start..footer)
}

/// The next run of characters that are neither blanks nor what separates words for a shell. A quoted part goes with
/// what it is quoted for: `NAME="a b"` is one word, `"NAME=a b"` is `NAME=a` and `b`.
fn next_word(text: &str, from: usize) -> Option<Range<usize>> {
    let ends = |c: char| c.is_whitespace() || ";|&()<>,`".contains(c);
    let start = from + text[from..].find(|c| !ends(c) && c != '"' && c != '\'')?;
    let mut end = start;
    for (at, c) in text[start..].char_indices() {
        if ends(c) {
            return Some(start..start + at);
        }
        end = start + at + c.len_utf8();
        if c != '"' && c != '\'' {
            continue;
        }
        if !text[..start + at].ends_with(['=', ':']) {
            return Some(start..start + at);
        }
        // Up to the closing quote, without it; an open one ends with its line.
        let value = start + at + 1;
        let length = text[value..].find([c, '\n']).unwrap_or(text.len() - value);
        return Some(start..value + length);
    }
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masks() -> Masks {
        let environment = [
            ("GH_TOKEN", "s3cr3t-value"),
            ("EDITOR", "helix-editor"),
            ("API_KEY", "abc"),
        ];
        let environment = environment.map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
        Masks::new(environment, SecretFilter::default())
    }

    #[test]
    fn secrets_are_hidden() {
        for (text, want) in [
            ("curl -H s3cr3t-value x", "curl -H [hidden] x"),
            ("a\"s3cr3t-value\"b", "a\"[hidden]\"b"),
            ("PASSWORD=hunter22 make", "PASSWORD=[hidden] make"),
            (
                "export PASSWORD='hunter 22'; make",
                "export PASSWORD='[hidden]'; make",
            ),
            (
                "mysql --password=hunter22 -e x",
                "mysql --password=[hidden] -e x",
            ),
            (
                "login --password hunter22 --user me",
                "login --password [hidden] --user me",
            ),
            (
                "curl -H 'Authorization: Bearer abcdef' x",
                "curl -H 'Authorization: Bearer [hidden]' x",
            ),
            (
                "git clone https://me:hunter22@example.org/a.git",
                "git clone https://me:[hidden]@example.org/a.git",
            ),
            (
                "echo ghp_0123456789abcdefghijABCDEFGHIJ012345 | x",
                "echo [hidden] | x",
            ),
            ("x=ghp_0123456789abcdefghijABCDEFGHIJ012345", "x=[hidden]"),
            (
                "a\n-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nb",
                "a\n[hidden]\nb",
            ),
        ] {
            assert_eq!(masks().hide(text), want);
        }
    }

    #[test]
    fn what_is_none_stays() {
        for text in [
            "cargo test --workspace",
            "helix-editor abc",
            "PASSWORD=$PASSWORD make",
            "login --password \"$PASSWORD\"",
            "TOKEN_FILE=/run/x cat /etc/hosts",
            "git log --author=me 'a: b' é=ü",
            "-----BEGIN CERTIFICATE-----",
            "MAX_TOKENS=4096 run",
            "",
            "'",
            "\"a=",
        ] {
            assert!(matches!(masks().hide(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn a_filter_that_looks_for_nothing_hides_nothing_but_named_values() {
        let filter = SecretFilter {
            by_name: false,
            by_value: false,
            ..SecretFilter::default()
        };
        let masks = Masks::new([], filter);
        assert_eq!(masks.hide("PASSWORD=hunter22"), "PASSWORD=hunter22");
    }
}
