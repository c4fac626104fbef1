//! Excludes definitions of the user's shell: definitions with names that scripts rely on, and
//! definitions with secrets in their texts.
//!
//! Detects secrets by the rules for environment variables, applied to the words of a text.

mod names;

use super::dump::{Definition, OWN_PREFIX, Variable};
use agent_bash_process::environment::{SecretFilter, exported_function};
use names::TOOLS;
pub use names::{BUILTINS, KEYWORDS};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Minimum length in bytes of a literal that is assigned to a secret's name: `pass=0` and `key=x`
/// are not secrets.
const MIN_SECRET_BYTES: usize = 4;

/// True if a definition may be part of a snapshot. Logs the names (never the texts) of excluded
/// definitions.
pub(super) fn is_allowed(definition: &Definition, secrets: Option<&SecretFilter>) -> bool {
    let name = definition.name.as_str();
    if name.is_empty() || name.starts_with(OWN_PREFIX) {
        return false;
    }
    if is_reserved(name) {
        tracing::debug!(
            name,
            "left out of the snapshot: scripts rely on the meaning of this name"
        );
        return false;
    }
    if secrets.is_some_and(|filter| holds_secret(&definition.text, filter)) {
        tracing::debug!(
            name,
            "left out of the snapshot: the definition probably holds a secret"
        );
        return false;
    }
    true
}

/// Returns the variables by which an environment exports functions to bash, without functions that
/// have reserved names or hold secrets.
pub fn exported_functions(
    environment: &BTreeMap<OsString, OsString>,
    secrets: Option<&SecretFilter>,
) -> BTreeMap<OsString, OsString> {
    let allowed = environment.iter().filter(|(name, value)| {
        exported_function(name, value).is_some_and(|(name, text)| {
            let text = text.into_bytes();
            is_allowed(&Definition { name, text }, secrets)
        })
    });
    allowed
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

impl Variable {
    /// True if the variable, which has this name, holds a secret.
    pub(super) fn holds_secret(&self, name: &str, filter: &SecretFilter) -> bool {
        if self.is_array() {
            return holds_secret(&self.declaration, filter);
        }
        filter.is_secret(OsStr::new(name), &self.value)
    }
}

fn is_reserved(name: &str) -> bool {
    [BUILTINS, KEYWORDS, TOOLS]
        .iter()
        .any(|table| table.contains(&name))
}

/// True if a text holds a secret: a token, a key, a URL with a password, or a literal assigned to a
/// secret's name.
pub(super) fn holds_secret(text: &[u8], filter: &SecretFilter) -> bool {
    let text = String::from_utf8_lossy(text);
    let looks_secret = |value: &str| filter.is_secret(OsStr::new(""), OsStr::new(value));
    if looks_secret(&text) {
        return true;
    }
    let pieces: Vec<&str> = pieces(&text).collect();
    pieces.iter().any(|piece| looks_secret(piece))
        // `Bearer …`: a prefix that is a separate word.
        || pieces
            .windows(2)
            .any(|pair| looks_secret(&format!("{} {}", pair[0], pair[1])))
        || words(&text).any(|word| assigns_secret(&word, filter))
}

/// Splits a text at separators and quotes.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "'\"`;|&()<>{},=:".contains(c))
        .filter(|piece| !piece.is_empty())
}

/// Returns approximately the shell words that contain `=`, without quotes.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| c.is_whitespace() || ";|&()<>".contains(c))
        .filter(|word| word.contains('='))
        .map(|word| word.replace(['\'', '"', '\\'], ""))
}

/// True for `NAME=literal` and `--name=literal` with a secret's name.
fn assigns_secret(word: &str, filter: &SecretFilter) -> bool {
    let Some((name, value)) = word.split_once('=') else {
        return false;
    };
    let name = name.trim_start_matches('-').trim_end_matches('+');
    let is_name = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let is_literal = value.len() >= MIN_SECRET_BYTES && !value.contains(['$', '`']);
    is_literal
        && !name.is_empty()
        && name.chars().all(is_name)
        && filter.is_secret(OsStr::new(name), OsStr::new(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_allowed_with_text(name: &str, text: &str) -> bool {
        let definition = Definition {
            name: name.to_owned(),
            text: text.as_bytes().to_vec(),
        };
        is_allowed(&definition, Some(&SecretFilter::default()))
    }

    #[test]
    fn is_allowed_refuses_names_that_scripts_rely_on() {
        for name in [
            "ls", "rm", "grep", "git", "cd", "builtin", "if", "{", "__ab_dump", "",
        ] {
            assert!(!is_allowed_with_text(name, ":"), "{name}");
        }
        for name in [
            "ll", "-", "..", "@", "gs", "python", "docker", "lsx", "nvm", "_private",
        ] {
            assert!(is_allowed_with_text(name, ":"), "{name}");
        }
    }

    #[test]
    fn exported_functions_excludes_reserved_names_and_secrets() {
        let text = "() {  :\n}";
        let environment = [
            ("BASH_FUNC_module%%", text),
            ("BASH_FUNC_git%%", text),
            (
                "BASH_FUNC_deploy%%",
                "() {  GITHUB_TOKEN=abcdefgh deploy\n}",
            ),
            ("module", text),
        ];
        let environment = environment
            .into_iter()
            .map(|(name, text)| (OsString::from(name), OsString::from(text)));
        let functions = exported_functions(&environment.collect(), Some(&SecretFilter::default()));
        let names: Vec<_> = functions.keys().collect();
        assert_eq!(names, ["BASH_FUNC_module%%"]);
    }

    #[test]
    fn is_allowed_refuses_texts_with_secrets() {
        for text in [
            "GITHUB_TOKEN=abcdefgh deploy",
            "export AWS_SECRET_ACCESS_KEY='abcd efgh'",
            "local password=\"hunter2\"; login",
            "mysql --password=hunter2",
            "curl -H 'Authorization: Bearer abcdefghijklmnopqrst' x",
            "curl -u ghp_abcdefghijklmnopqrstuvwxyz0123456789: x",
            "psql postgres://me:hunter2@db/x",
            "X=ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            "echo '-----BEGIN RSA PRIVATE KEY-----'",
            "API_KEY+=abcdef",
        ] {
            assert!(!is_allowed_with_text("deploy", text), "{text}");
        }
    }

    #[test]
    fn is_allowed_accepts_texts_that_only_mention_secrets() {
        for text in [
            "local key=$1 value=$2; echo \"$key=$value\"",
            "GITHUB_TOKEN=$(pass show github) gh \"$@\"",
            "pass=0; fail=0; key=x",
            "read -rs -p 'password: ' password",
            "git remote add origin git@host:me/x",
            "[[ $token == abc ]]",
            "TOKEN=${TOKEN:-`cat ~/.token`}",
            "echo https://host:8080/x",
            "curl --header \"Authorization: ${header}\" x",
            "curl -H \"Authorization: Bearer $TOKEN\" x",
            "curl -H \"Authorization: token $(gh auth token)\" x",
            "printf 'Authorization: Basic %s' \"$1\"",
            "git clone \"https://$user:$password@host/x\"",
        ] {
            assert!(is_allowed_with_text("deploy", text), "{text}");
        }
        let definition = Definition {
            name: "deploy".into(),
            text: b"TOKEN=abcdefgh x".to_vec(),
        };
        assert!(is_allowed(&definition, None), "switched off");
    }
}
