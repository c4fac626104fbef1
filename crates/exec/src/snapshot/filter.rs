//! Excludes parts of the user's shell: names that scripts rely on, and texts that hold secrets.
//!
//! Secrets are detected by the rules for the environment, applied to the words of a text.

use super::dump::{Definition, OWN_PREFIX, Variable};
use super::names::{BUILTINS, KEYWORDS, TOOLS};
use agent_bash_process::environment::SecretFilter;
use std::ffi::OsStr;

/// Alias names that bash cannot be asked for, as these subscripts mean "all".
const WHOLE_ARRAY_SUBSCRIPTS: &[&str] = &["@", "*"];

/// Minimum length of a literal assigned to a secret's name: `pass=0` and `key=x` are counters.
const MIN_SECRET: usize = 4;

/// True if a definition may be part of a snapshot. Logs the names (never the texts) of excluded
/// ones.
pub(super) fn may_stay(definition: &Definition, secrets: Option<&SecretFilter>) -> bool {
    let name = definition.name.as_str();
    if name.is_empty() || name.starts_with(OWN_PREFIX) || WHOLE_ARRAY_SUBSCRIPTS.contains(&name) {
        return false;
    }
    if is_taken(name) {
        tracing::debug!(
            name,
            "left out of the snapshot: scripts rely on what this name means"
        );
        return false;
    }
    if secrets.is_some_and(|filter| holds_secret(&definition.text, filter)) {
        tracing::debug!(
            name,
            "left out of the snapshot: it looks as if it held a secret"
        );
        return false;
    }
    true
}

impl Variable {
    /// Whether the variable of this name holds a secret.
    pub(super) fn holds_secret(&self, name: &str, filter: &SecretFilter) -> bool {
        if self.is_array() {
            return holds_secret(&self.declaration, filter);
        }
        filter.is_secret(OsStr::new(name), &self.value)
    }
}

fn is_taken(name: &str) -> bool {
    [BUILTINS, KEYWORDS, TOOLS]
        .iter()
        .any(|table| table.contains(&name))
}

/// True if a text holds a secret: a token, a key, a URL with a password, or a literal assigned to a
/// secret's name.
fn holds_secret(text: &[u8], filter: &SecretFilter) -> bool {
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
            .any(|two| looks_secret(&format!("{} {}", two[0], two[1])))
        || words(&text).any(|word| assigns_secret(&word, filter))
}

/// Runs of characters between separators and quotes.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "'\"`;|&()<>{},=:".contains(c))
        .filter(|piece| !piece.is_empty())
}

/// Approximately the words of a shell, without quotes.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| c.is_whitespace() || ";|&()<>".contains(c))
        .filter(|word| word.contains('='))
        .map(|word| word.replace(['\'', '"', '\\'], ""))
}

/// `NAME=literal`, `--name=literal`.
fn assigns_secret(word: &str, filter: &SecretFilter) -> bool {
    let Some((name, value)) = word.split_once('=') else {
        return false;
    };
    let name = name.trim_start_matches('-').trim_end_matches('+');
    let is_name = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let literal = value.len() >= MIN_SECRET && !value.contains(['$', '`']);
    literal
        && !name.is_empty()
        && name.chars().all(is_name)
        && filter.is_secret(OsStr::new(name), OsStr::new(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stays(name: &str, text: &str) -> bool {
        let definition = Definition {
            name: name.to_owned(),
            text: text.as_bytes().to_vec(),
        };
        may_stay(&definition, Some(&SecretFilter::default()))
    }

    #[test]
    fn names_that_scripts_rely_on_go() {
        for name in [
            "ls",
            "rm",
            "grep",
            "git",
            "cd",
            "builtin",
            "if",
            "{",
            "__ab_dump",
            "@",
            "*",
            "",
        ] {
            assert!(!stays(name, ":"), "{name}");
        }
        for name in [
            "ll", "-", "..", "gs", "python", "docker", "lsx", "nvm", "_private",
        ] {
            assert!(stays(name, ":"), "{name}");
        }
    }

    #[test]
    fn texts_with_secrets_go() {
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
            assert!(!stays("deploy", text), "{text}");
        }
    }

    #[test]
    fn texts_that_only_speak_of_secrets_stay() {
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
            assert!(stays("deploy", text), "{text}");
        }
        let definition = Definition {
            name: "deploy".into(),
            text: b"TOKEN=abcdefgh x".to_vec(),
        };
        assert!(may_stay(&definition, None), "switched off");
    }
}
