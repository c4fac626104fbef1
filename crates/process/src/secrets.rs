//! Detects variables that hold secrets: by exact name, by the words in a name, by the form of a value. Each is a
//! table with a function to apply it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Decides which variables are hidden from commands. A host can change every part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFilter {
    /// Names that are kept regardless of everything else; a `*` at either end matches anything.
    pub keep: Vec<String>,
    /// Additional names that are removed, in the same format.
    pub drop: Vec<String>,
    /// Whether to check the words in names.
    pub by_name: bool,
    /// Whether to check values.
    pub by_value: bool,
}

impl Default for SecretFilter {
    fn default() -> Self {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            keep: own(KEEP),
            drop: own(DROP),
            by_name: true,
            by_value: true,
        }
    }
}

impl SecretFilter {
    /// Whether a variable holds a secret.
    pub fn is_secret(&self, name: &OsStr, value: &OsStr) -> bool {
        let text = name.to_string_lossy();
        if self.keep.iter().any(|pattern| matches(pattern, &text)) {
            return false;
        }
        self.drop.iter().any(|pattern| matches(pattern, &text))
            || (self.by_name
                && name_is_secret(&text)
                && !is_switch_or_number(&text, value.as_bytes()))
            || (self.by_value && value_is_secret(value.as_bytes()))
    }
}

/// Kept: their names contain a listed word, but they hold a path, a terminal or a user's name. Or they are needed
/// even if they contain a password: no download gets through a proxy without it.
const KEEP: &[&str] = &[
    "SSH_AUTH_SOCK",
    "SSH_ASKPASS",
    "SSH_ASKPASS_REQUIRE",
    "GIT_ASKPASS",
    "SUDO_ASKPASS",
    "GPG_TTY",
    "GPG_AGENT_INFO",
    "XAUTHORITY",
    "GIT_AUTHOR_*",
    "GIT_COMMITTER_*",
    "SSL_CERT_*",
    "GIT_CONFIG_KEY_*",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "FTP_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "ftp_proxy",
    "PWD",
    "OLDPWD",
];

/// Removed by exact name, as no word in them says what they are.
const DROP: &[&str] = &[
    "PGPASSWORD",
    "PGPASSFILE",
    "MYSQL_PWD",
    "SSHPASS",
    "REDISCLI_AUTH",
    "DATABASE_URL",
    "DATABASE_URI",
    "REDIS_URL",
    "MONGODB_URI",
    "MONGODB_URL",
    "MONGO_URL",
    "MONGO_URI",
    "AMQP_URL",
    "RABBITMQ_URL",
    "POSTGRES_URL",
    "POSTGRESQL_URL",
    "MYSQL_URL",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "AZURE_STORAGE_CONNECTION_STRING",
    "DOCKER_AUTH_CONFIG",
    "NETRC",
    "KUBECONFIG_DATA",
    "VAULT_UNSEAL",
    "*_AUTHTOKEN",
    "BW_SESSION",
    "CONNECTION_STRING",
    "CONNECTIONSTRING",
    "DSN",
    "*_WEBHOOK",
    "*_CONNECTION_STRING",
    "*_DSN",
    "*_WEBHOOK_URL",
];

/// A name that contains one of these as a whole word is that of a secret.
const WORDS: &[&str] = &[
    "token",
    "tokens",
    "secret",
    "secrets",
    "password",
    "passwords",
    "passwd",
    "pwd",
    "pass",
    "pw",
    "passphrase",
    "passcode",
    "pat",
    "apikey",
    "apikeys",
    "apitoken",
    "accesstoken",
    "authtoken",
    "secretkey",
    "privatekey",
    "credential",
    "credentials",
    "creds",
    "cred",
    "cookie",
    "cookies",
    "jwt",
    "bearer",
    "otp",
];

/// Words that end like this are compounds of a listed word.
const ENDINGS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pass",
    "secret",
    "token",
    "apikey",
    "secretkey",
    "privatekey",
    "accesskey",
    "credentials",
];

/// Words with such an ending that are not.
const NO_SECRETS: &[&str] = &[
    "askpass",
    "bypass",
    "compass",
    "encompass",
    "multipass",
    "overpass",
    "trespass",
    "underpass",
];

/// A name whose last word is one of these is that of a secret.
const LAST_WORDS: &[&str] = &["key", "keys", "auth"];

/// A name whose last word is one of these says where something is, not what it is.
const PLACES: &[&str] = &["file", "path", "dir", "directory", "sock", "socket"];

/// A name with one of these words and a numeric value is an amount or a duration.
const QUANTITIES: &[&str] = &[
    "max", "min", "num", "count", "limit", "total", "budget", "per", "length", "size", "ttl",
    "expiry", "expires", "timeout", "window",
];

/// A name that contains two such adjacent words is that of a secret.
const PAIRS: &[(&str, &str)] = &[
    ("api", "key"),
    ("access", "key"),
    ("secret", "key"),
    ("private", "key"),
    ("signing", "key"),
    ("encryption", "key"),
    ("master", "key"),
    ("ssh", "key"),
    ("account", "key"),
    ("client", "secret"),
    ("service", "account"),
];

fn name_is_secret(name: &str) -> bool {
    let words = words(name);
    let is = |word: &String, list: &[&str]| list.contains(&word.as_str());
    let ends = |list: &[&str]| words.last().is_some_and(|word| is(word, list));
    if ends(PLACES) || words.ends_with(&["public".to_owned(), "key".to_owned()]) {
        return false;
    }
    let grown_together = |word: &String| {
        ENDINGS.iter().any(|ending| word.ends_with(ending)) && !is(word, NO_SECRETS)
    };
    words
        .iter()
        .any(|word| is(word, WORDS) || grown_together(word))
        || ends(LAST_WORDS)
        || words
            .windows(2)
            .any(|pair| PAIRS.iter().any(|(a, b)| pair[0] == *a && pair[1] == *b))
}

/// Whether it is only a switch or an amount: `DISABLE_AUTH=1`, `MAX_TOKENS=4096`.
fn is_switch_or_number(name: &str, value: &[u8]) -> bool {
    let words = words(name);
    let quantity = words.iter().any(|word| QUANTITIES.contains(&word.as_str()));
    let switch = words.last().is_some_and(|word| word == "auth");
    let number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    (quantity && (number || value.len() < 2))
        || switch
            && (number && value.len() < 2
                || SWITCHES.contains(&value.to_ascii_lowercase().as_slice()))
}

/// Values that mean yes or no.
const SWITCHES: &[&[u8]] = &[
    b"", b"true", b"false", b"yes", b"no", b"on", b"off", b"none",
];

/// The words of a name in lower case: split at everything that is not alphanumeric, and where a capital follows a
/// lower-case letter. Trailing digits are not part of a word.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in name.split(|c: char| !c.is_alphanumeric()) {
        let mut word = String::new();
        let mut small = false;
        for c in part.chars() {
            if small && c.is_uppercase() {
                words.push(std::mem::take(&mut word));
            }
            small = c.is_lowercase();
            word.extend(c.to_lowercase());
        }
        words.push(word);
    }
    words
        .into_iter()
        .map(|word| {
            word.trim_end_matches(|c: char| c.is_ascii_digit())
                .to_owned()
        })
        .filter(|word| !word.is_empty())
        .collect()
}

/// Prefixes of well-known tokens, as their issuers document them for secret scanners.
const TOKEN_PREFIXES: &[&str] = &[
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "gldt-",
    "glrt-",
    "glsa_",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxr-",
    "xoxs-",
    "xapp-",
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "rk_test_",
    "whsec_",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "npm_",
    "pypi-",
    "dop_v1_",
    "doo_v1_",
    "hf_",
    "SG.",
    "shpat_",
    "shpss_",
    "lin_api_",
    "tskey-",
    "hvs.",
    "hvb.",
    "dapi",
    "figd_",
    "sntrys_",
    "PMAK-",
    "pul-",
    "AGE-SECRET-KEY-",
    "Bearer ",
    "Basic ",
    "eyJhbGciOi",
];

/// Minimum length of a token; shorter values with such a prefix are something else.
const TOKEN_LENGTH: usize = 20;

fn value_is_secret(value: &[u8]) -> bool {
    has_private_key(value)
        || is_token(value)
        || has_url_with_password(value)
        || has_assigned_password(value)
        || SECRET_PARTS
            .iter()
            .any(|part| find(&value.to_ascii_lowercase(), part).is_some())
}

/// Certificates and public keys have the same format.
fn has_private_key(value: &[u8]) -> bool {
    find(value, b"-----BEGIN ").is_some() && find(value, b"PRIVATE KEY").is_some()
}

/// Parts, in lower case, that make a value a secret wherever they occur: a header, and addresses that are
/// themselves secret.
const SECRET_PARTS: &[&[u8]] = &[
    b"authorization: ",
    b"://hooks.slack.com/services/",
    b"discord.com/api/webhooks/",
    b"discordapp.com/api/webhooks/",
];

/// Fields of connection strings and URLs that hold a secret, in lower case.
const FIELDS: &[&[u8]] = &[
    b"password=",
    b"passwd=",
    b"pwd=",
    b"accountkey=",
    b"sharedaccesskey=",
    b"sharedaccesssignature=",
    b"secret=",
    b"access_token=",
    b"api_key=",
    b"apikey=",
];

/// `…;Password=y`, `…?user=a&password=b`
fn has_assigned_password(value: &[u8]) -> bool {
    let value = value.to_ascii_lowercase();
    FIELDS.iter().any(|field| {
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

fn is_token(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let Some(prefix) = TOKEN_PREFIXES
        .iter()
        .find(|prefix| value.starts_with(prefix.as_bytes()))
    else {
        return false;
    };
    let rest = &value[prefix.len()..];
    let token_byte = |b: &u8| b.is_ascii_alphanumeric() || b"-_.=+/~:".contains(b);
    value.len() >= TOKEN_LENGTH && rest.iter().all(token_byte) && !rest.starts_with(b"/")
}

/// `scheme://user:password@host` anywhere in the value.
fn has_url_with_password(value: &[u8]) -> bool {
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
        {
            return true;
        }
    }
    false
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

/// `*` at the beginning or end of a pattern matches anything.
fn matches(pattern: &str, name: &str) -> bool {
    if let Some(end) = pattern.strip_prefix('*') {
        return name.ends_with(end);
    }
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_secret(name: &str, value: &str) -> bool {
        SecretFilter::default().is_secret(OsStr::new(name), OsStr::new(value))
    }

    #[test]
    fn secrets_by_name() {
        for name in [
            "GITHUB_TOKEN",
            "NPM_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "AWS_SESSION_TOKEN",
            "OPENAI_API_KEY",
            "ANTHROPIC_API_KEY",
            "apiKey",
            "APIKey",
            "MyApiKey2",
            "DB_PASSWORD",
            "DB_PASS",
            "MYSQL_PWD",
            "PGPASSWORD",
            "SSHPASS",
            "REDISCLI_AUTH",
            "DATABASE_URL",
            "SENTRY_DSN",
            "SLACK_WEBHOOK_URL",
            "GH_PAT",
            "SESSION_COOKIE",
            "MY_JWT",
            "SIGNING_KEYS",
            "SSH_PRIVATE_KEY",
            "VAULT_TOKEN1",
            "clientSecret",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "DOCKER_AUTH_CONFIG",
            "PGPASSFILE",
            "AZURE_CLIENT_SECRET",
            "KEY",
            "API_KEY_2",
            "GPG_PASSPHRASE",
            "token",
            "X_BEARER",
            "CREDS",
            "DBPASSWORD",
            "MYAPIKEY",
            "GITHUBTOKEN",
            "ROOT_PW",
            "LDAP_BIND_PW",
            "TOKENS",
            "BASIC_AUTH",
            "NPM_CONFIG__AUTH",
            "COMPOSER_AUTH",
            "BW_SESSION",
            "DISCORD_WEBHOOK",
            "CONNECTION_STRING",
            "PGPASS",
            "AWSSECRETKEY",
        ] {
            assert!(is_secret(name, "x"), "{name} must go");
        }
    }

    #[test]
    fn names_that_only_look_like_secrets_stay() {
        for name in [
            "KEYBOARD_LAYOUT",
            "TOKENIZERS_PARALLELISM",
            "GOPRIVATE",
            "AUTHOR",
            "SSH_AUTH_SOCK",
            "GPG_TTY",
            "XAUTHORITY",
            "GIT_AUTHOR_NAME",
            "GIT_COMMITTER_EMAIL",
            "SSL_CERT_FILE",
            "SSH_ASKPASS",
            "PWD",
            "OLDPWD",
            "PATH",
            "HOME",
            "PASSENGER_ROOT",
            "COMPASS",
            "MONKEY",
            "MAX_TOKENS",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "AWS_SHARED_CREDENTIALS_FILE",
            "DB_PASSWORD_FILE",
            "PUBLIC_KEY",
            "SSH_PUBLIC_KEY",
            "COLORTERM",
            "GIT_CONFIG_KEY_0",
            "GIT_CONFIG_COUNT",
            "SYSTEMD_ASKPASS",
            "PATTERN",
            "KEYMAP",
            "XDG_RUNTIME_DIR",
            "BYPASS",
            "SECRETARY",
            "LESSKEYS",
            "HISTCONTROL",
            "DBUS_SESSION_BUS_ADDRESS",
        ] {
            assert!(!is_secret(name, "x"), "{name} must stay");
        }
    }

    #[test]
    fn secrets_by_value() {
        for value in [
            "-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
            "postgres://user:hunter2@db:5432/x",
            "see https://u:p@host/ for more",
            "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            "sk-ant-api03-abcdefghijklmnop",
            "AKIAIOSFODNN7EXAMPLE",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
            "Bearer abcdefghijklmnopqrst",
            "Server=db;Uid=x;Password=y",
            "jdbc:postgresql://db/x?user=a&password=b",
            "AUTHORIZATION: basic s3cr3t",
            "https://discord.com/api/webhooks/1/x",
            "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=y==",
        ] {
            assert!(is_secret("INNOCENT", value), "{value} must go");
        }
        for value in [
            "https://host:8080/path@x",
            "https://user@host/",
            "ssh://git@host:22/x",
            "user:password@host",
            "sk-short",
            "npm_modules are in here, all of them",
            "SG",
            "http://[::1]:80/",
            "hf_/home/models/of/mine",
            "a://b",
            "-----BEGIN PUBLIC KEY-----\nabc",
            "-----BEGIN CERTIFICATE-----\nabc",
            "?password=",
            "prompt for password= here",
            "--password=$PASS",
            "://",
            "://:@",
        ] {
            assert!(!is_secret("INNOCENT", value), "{value} must stay");
        }
        assert!(
            !is_secret(
                "GIT_AUTHOR_NAME",
                "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
            ),
            "keep wins"
        );
    }

    #[test]
    fn numbers_and_switches_stay_and_so_do_proxies() {
        for (name, value, expect) in [
            ("MAX_TOKENS", "4096", false),
            ("OPENAI_MAX_TOKENS", "4096", false),
            ("TOKEN_TTL", "3600", false),
            ("MAX_TOKENS", "s3cr3t", true),
            ("DISABLE_AUTH", "1", false),
            ("USE_AUTH", "true", false),
            ("BASIC_AUTH", "user:x", true),
            ("HTTPS_PROXY", "http://u:p@proxy:3128", false),
            ("https_proxy", "http://u:p@proxy:3128", false),
            ("PIP_INDEX_URL", "https://u:p@index/simple", true),
            ("GIT_CONFIG_VALUE_0", "AUTHORIZATION: basic x", true),
            ("GIT_CONFIG_VALUE_0", "*", false),
        ] {
            assert_eq!(is_secret(name, value), expect, "{name}={value}");
        }
    }

    #[test]
    fn every_part_can_be_switched() {
        let none = SecretFilter {
            keep: vec![],
            drop: vec![],
            by_name: false,
            by_value: false,
        };
        assert!(!none.is_secret(
            OsStr::new("GITHUB_TOKEN"),
            OsStr::new("ghp_abcdefghijklmnopqrstuvwxyz01")
        ));
        let own = SecretFilter {
            drop: vec!["MINE_*".into()],
            ..none.clone()
        };
        assert!(own.is_secret(OsStr::new("MINE_X"), OsStr::new("")));
        let kept = SecretFilter {
            keep: vec!["GITHUB_TOKEN".into()],
            ..SecretFilter::default()
        };
        assert!(!kept.is_secret(OsStr::new("GITHUB_TOKEN"), OsStr::new("x")));
    }
}
