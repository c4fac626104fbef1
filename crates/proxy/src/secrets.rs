//! Secrets that the proxy puts into the headers of plain requests, in place of placeholders.
//!
//! A request to a host of a secret is encrypted, unless the host is listed with `http://`. The
//! client asks for `http://HOST/`, so that the proxy can read the request; nothing is decrypted.

use crate::rules::{Host, InvalidEntry, Rule, Target};
use crate::tls::{TlsConnection, TlsProgram};
use agent_bash_core::sandbox::HostSecret;
use agent_bash_core::words;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::io;
use tokio::net::TcpStream;

/// The fields that get values, because servers read credentials from them. Servers may store other
/// fields (`x-amz-meta-…`) and return them to a client that the proxy cannot observe.
const CREDENTIAL_FIELDS: &[&str] = words![
    "authorization api-key dd-api-key deploy-token job-token private-token x-api-key",
    "x-auth-token x-figma-token x-goog-api-key x-shopify-access-token x-vault-token",
];

/// The prefix of a host that gets a secret without encryption.
const UNENCRYPTED_PREFIX: &str = "http://";

/// The largest credentials of `Authorization: Basic` in which a placeholder is found.
const MAX_BASIC_BYTES: usize = 8 * 1024;

/// The default port of plain requests.
const PLAIN_PORT: u16 = 80;

/// The default port of encrypted connections.
const ENCRYPTED_PORT: u16 = 443;

/// The hosts of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretHosts {
    /// Each host, and true if it is reached without encryption.
    rules: Vec<(Rule, bool)>,
}

impl SecretHosts {
    /// Parses a list of hosts: `name`, `*.name`, or an address, each with an optional `:port`.
    /// Connections to a host after `http://` are not encrypted.
    ///
    /// # Errors
    /// An entry is invalid.
    pub fn parse<S: AsRef<str>>(entries: &[S]) -> Result<Self, InvalidEntry> {
        let rule = |entry: &S| -> Result<(Rule, bool), InvalidEntry> {
            let host = entry.as_ref().strip_prefix(UNENCRYPTED_PREFIX);
            let rule = Rule::parse_entry(host.unwrap_or(entry.as_ref()))?;
            Ok((rule, host.is_some()))
        };
        let rules: Result<Vec<_>, _> = entries.iter().map(rule).collect();
        Ok(Self { rules: rules? })
    }

    /// True if the proxy encrypts requests to one of the hosts.
    pub fn has_encrypted(&self) -> bool {
        self.rules.iter().any(|(_, is_plain)| !is_plain)
    }

    fn allows(&self, target: &Target) -> bool {
        self.encrypts(target) || self.rules.iter().any(|(rule, _)| rule.allows(target))
    }

    fn encrypts(&self, target: &Target) -> bool {
        let mut rules = self.rules.iter().filter(|(_, is_plain)| !is_plain);
        let encrypted = encrypted(target);
        rules.any(|(rule, _)| rule.allows(target) || rule.allows(&encrypted))
    }
}

/// The secrets of a proxy.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    all: Vec<(HostSecret, SecretHosts)>,
    tls: Option<Box<dyn TlsProgram>>,
}

/// The destination of a plain request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Upstream {
    pub(crate) target: Target,
    pub(crate) is_encrypted: bool,
}

/// A text that was put into a request, and the text of the request; both have one length.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(Debug))]
pub(crate) struct Replacement {
    value: Vec<u8>,
    placeholder: Vec<u8>,
}

/// The head of a request, after the placeholders were replaced.
#[derive(PartialEq, Eq)]
#[cfg_attr(test, derive(Debug))]
pub(crate) struct FilledHead {
    pub(crate) bytes: Vec<u8>,
    pub(crate) replacements: Vec<Replacement>,
    /// The variables whose placeholders remain in the head.
    pub(crate) unfilled: Vec<String>,
}

impl Secrets {
    /// Parses the hosts of the secrets. Ignores secrets without a value.
    ///
    /// # Errors
    /// A host is invalid.
    pub(crate) fn new(
        secrets: &[HostSecret],
        tls: Option<Box<dyn TlsProgram>>,
    ) -> Result<Self, InvalidEntry> {
        let has_value = |secret: &&HostSecret| {
            !secret.value().is_empty() && secret.value().len() == secret.placeholder.len()
        };
        let mut all = Vec::new();
        for secret in secrets.iter().filter(has_value) {
            all.push((secret.clone(), SecretHosts::parse(&secret.hosts)?));
        }
        Ok(Self { all, tls })
    }

    /// Returns the destination of a plain request to `target`. Requests to hosts of secrets are
    /// encrypted; the port 80 then becomes 443.
    pub(crate) fn upstream(&self, target: &Target) -> Upstream {
        let is_encrypted = self.all.iter().any(|(_, hosts)| hosts.encrypts(target));
        Upstream {
            target: if is_encrypted {
                encrypted(target)
            } else {
                target.clone()
            },
            is_encrypted,
        }
    }

    /// Encrypts `server`, a connection to `host`.
    pub(crate) fn encrypt(&self, server: TcpStream, host: &Host) -> io::Result<TlsConnection> {
        let program = self.tls.as_deref().ok_or(io::ErrorKind::Unsupported)?;
        TlsConnection::start(program, server, host)
    }

    /// Replaces placeholders in the credentials of `head`, a request to `target`, where that is a
    /// host of the secret. `TRACE` gets no values, because servers return its fields.
    pub(crate) fn fill(&self, target: &Target, head: Vec<u8>) -> FilledHead {
        let mut filled = FilledHead {
            bytes: head,
            replacements: Vec::new(),
            unfilled: Vec::new(),
        };
        let is_trace = filled.bytes.starts_with(b"TRACE ");
        for (secret, hosts) in &self.all {
            let placeholder = secret.placeholder.as_bytes();
            if !is_trace && hosts.allows(target) {
                filled.put_in(secret.value().as_bytes(), placeholder);
            }
            if filled
                .lines()
                .any(|line| has_placeholder(line, placeholder))
            {
                filled.unfilled.push(secret.variable.clone());
            }
        }
        if !filled.replacements.is_empty() {
            filled.accept_only_whole_responses();
        }
        filled
    }
}

impl FilledHead {
    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.split_inclusive(|byte| *byte == b'\n')
    }

    /// Replaces a placeholder in the fields with credentials.
    fn put_in(&mut self, value: &[u8], placeholder: &[u8]) {
        let mut bytes = Vec::new();
        let mut replacements = Vec::new();
        for line in self.lines() {
            let (name, _) = split_field(line);
            if !CREDENTIAL_FIELDS.contains(&name.as_str()) || !has_placeholder(line, placeholder) {
                bytes.extend_from_slice(line);
                continue;
            }
            let mut line = line.to_vec();
            if replace(&mut line, placeholder, value) {
                replacements.push(Replacement::new(value, placeholder));
            } else if let Some(basic) = basic_credentials(&line) {
                let old = STANDARD.encode(&basic);
                let mut credentials = basic;
                replace(&mut credentials, placeholder, value);
                let new = STANDARD.encode(&credentials);
                replace(&mut line, old.as_bytes(), new.as_bytes());
                // A server may return the credentials in either form.
                replacements.push(Replacement::new(new.as_bytes(), old.as_bytes()));
                replacements.push(Replacement::new(value, placeholder));
            }
            bytes.extend_from_slice(&line);
        }
        self.bytes = bytes;
        self.replacements.extend(replacements);
    }

    /// Asks for a whole response that is not compressed, in which values can be found.
    fn accept_only_whole_responses(&mut self) {
        let is_other = |line: &&[u8]| {
            let (name, _) = split_field(line);
            !matches!(&*name, "accept-encoding" | "range" | "if-range")
        };
        let mut bytes = self.lines().filter(is_other).collect::<Vec<_>>().concat();
        // The empty line that ends the head.
        bytes.truncate(bytes.len() - b"\r\n".len());
        bytes.extend_from_slice(b"Accept-Encoding: identity\r\n\r\n");
        self.bytes = bytes;
    }
}

impl Replacement {
    fn new(value: &[u8], placeholder: &[u8]) -> Self {
        Self {
            value: value.to_vec(),
            placeholder: placeholder.to_vec(),
        }
    }

    /// Replaces the values in `bytes` by their placeholders. Returns the number of bytes at the end
    /// of `bytes` that may be the beginning of a value.
    pub(crate) fn hide_all(all: &[Self], bytes: &mut [u8]) -> usize {
        // A later replacement was made in the result of an earlier one.
        for replacement in all.iter().rev() {
            replace(bytes, &replacement.value, &replacement.placeholder);
        }
        let longest = all.iter().map(|it| it.value.len()).max();
        longest.map_or(0, |longest| partial_length(bytes, longest))
    }
}

/// Splits the line of a field into its name, in lower case, and its value without the line's end.
fn split_field(line: &[u8]) -> (String, &[u8]) {
    let end = line.iter().position(|byte| *byte == b':');
    let (name, value) = line.split_at(end.unwrap_or(0));
    let value = value.strip_prefix(b":").unwrap_or(value);
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    (name, value.trim_ascii())
}

/// Returns the decoded credentials of `Authorization: Basic`; `None` for other fields.
fn basic_credentials(line: &[u8]) -> Option<Vec<u8>> {
    let (name, value) = split_field(line);
    let scheme = value.get(..6).filter(|_| name == "authorization")?;
    let encoded = value[6..].trim_ascii();
    (scheme.eq_ignore_ascii_case(b"basic ") && encoded.len() <= MAX_BASIC_BYTES)
        .then(|| STANDARD.decode(encoded).ok())?
}

/// True if a line has a placeholder, as it is or in the credentials of `Authorization: Basic`.
fn has_placeholder(line: &[u8], placeholder: &[u8]) -> bool {
    let has = |text: &[u8]| position(text, placeholder).is_some();
    has(line) || basic_credentials(line).is_some_and(|credentials| has(&credentials))
}

/// Returns the position of `part` in `text`.
fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

/// Replaces each `old` in `text` by `new`, which is as long. Returns true if there was one.
fn replace(text: &mut [u8], old: &[u8], new: &[u8]) -> bool {
    let mut from = 0;
    while let Some(at) = position(&text[from..], old) {
        text[from + at..from + at + new.len()].copy_from_slice(new);
        from += at + new.len();
    }
    from > 0
}

/// Returns the number of bytes at the end of `text` that may begin a value of at most `max_length`
/// bytes. A value is within one line. The number does not depend on the value: the client sees how
/// many bytes are held back, so it would learn whether a guess is right.
fn partial_length(text: &[u8], max_length: usize) -> usize {
    let line = text.iter().rev();
    let line = line.take_while(|byte| !matches!(byte, b'\r' | b'\n' | b'\0'));
    line.take(max_length.saturating_sub(1)).count()
}

/// Returns the target to which an encrypted request goes.
fn encrypted(target: &Target) -> Target {
    let mut target = target.clone();
    if target.port == PLAIN_PORT {
        target.port = ENCRYPTED_PORT;
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: &str = "ghp_RealRealRealReal";
    const PLACEHOLDER: &str = "ghp_FakeFakeFakeFake";

    fn secrets(hosts: &[&str]) -> Secrets {
        let hosts = hosts.iter().map(|&host| host.to_owned()).collect();
        let [variable, value, placeholder] = ["TOKEN", VALUE, PLACEHOLDER].map(str::to_owned);
        let secret = HostSecret::new(variable, value, placeholder, hosts);
        Secrets::new(&[secret], None).unwrap()
    }

    fn target(text: &str) -> Target {
        Target::parse(text, None).unwrap()
    }

    fn filled(first_line: &str, host: &str, field: &str) -> (String, FilledHead) {
        let head = format!("{first_line}\r\nHost: x\r\n{field}\r\n\r\n");
        let filled = secrets(&["a.example", "*.b.example"]).fill(&target(host), head.into());
        (String::from_utf8(filled.bytes.clone()).unwrap(), filled)
    }

    fn basic(password: &str) -> String {
        format!(
            "Authorization: basic {}",
            STANDARD.encode(format!("u:{password}"))
        )
    }

    #[test]
    fn credentials_for_listed_hosts_get_the_value() {
        let filled_in = |field: &str| {
            let [before, after] = [PLACEHOLDER, VALUE].map(|value| field.replace('@', value));
            (before, after)
        };
        for (host, (field, want)) in [
            ("a.example:80", filled_in("Authorization: Bearer @")),
            ("x.b.example:443", filled_in("PRIVATE-TOKEN:@")),
            ("a.example:80", filled_in("x-api-key: @@")),
            ("a.example:80", (basic(PLACEHOLDER), basic(VALUE))),
        ] {
            let (text, filled) = filled("GET / HTTP/1.1", host, &field);
            assert_eq!(
                text,
                format!("GET / HTTP/1.1\r\nHost: x\r\n{want}\r\nAccept-Encoding: identity\r\n\r\n")
            );
            assert_eq!(filled.unfilled, Vec::<String>::new());
        }
    }

    #[test]
    fn request_with_a_value_asks_for_a_whole_response() {
        let bearer = format!("Authorization: Bearer {PLACEHOLDER}");
        let fields =
            format!("{bearer}\r\nRange: bytes=0-9\r\nIf-Range: x\r\nAccept-Encoding: gzip");
        for (host, want) in [("a.example:80", false), ("evil.example:80", true)] {
            let (text, _) = filled("GET / HTTP/1.1", host, &fields);
            for field in ["Range: bytes=0-9", "If-Range: x", "Accept-Encoding: gzip"] {
                assert_eq!(text.contains(field), want, "{text}");
            }
        }
    }

    #[test]
    fn other_hosts_fields_and_methods_get_no_value() {
        let get = "GET / HTTP/1.1";
        let bearer = format!("Authorization: Bearer {PLACEHOLDER}");
        let meta = format!("X-Amz-Meta-A: {PLACEHOLDER}");
        let name = format!("{PLACEHOLDER}: Authorization");
        let query = format!("GET /?authorization:{PLACEHOLDER} HTTP/1.1");
        for (first_line, host, field) in [
            (get, "evil.example:80", &*bearer),
            (get, "a.example.evil:80", &bearer),
            (get, "b.example:80", &bearer),
            (get, "a.example:8080", &bearer),
            (get, "evil.example:80", &basic(PLACEHOLDER)),
            ("TRACE / HTTP/1.1", "a.example:80", &bearer),
            (get, "a.example:80", &meta),
            (get, "a.example:80", &name),
            (&query, "a.example:80", "A: b"),
        ] {
            let (text, filled) = filled(first_line, host, field);
            assert_eq!(text, format!("{first_line}\r\nHost: x\r\n{field}\r\n\r\n"));
            assert_eq!(
                (filled.replacements, filled.unfilled),
                (vec![], vec!["TOKEN".to_owned()])
            );
        }
        let (_, filled) = filled(
            "GET / HTTP/1.1", "evil.example:80", "Authorization: Bearer x",
        );
        assert_eq!(filled.unfilled, Vec::<String>::new());
    }

    #[test]
    fn requests_to_hosts_of_secrets_are_encrypted_unless_listed_as_plain() {
        let secrets = secrets(&[
            "a.example", "c.example:8443", "http://d.example:8081", "e.example:443",
        ]);
        for (from, to, is_encrypted) in [
            ("a.example:80", "a.example:443", true),
            ("a.example:443", "a.example:443", true),
            ("a.example:8080", "a.example:8080", false),
            ("c.example:8443", "c.example:8443", true),
            ("c.example:80", "c.example:80", false),
            ("d.example:8081", "d.example:8081", false),
            ("e.example:80", "e.example:443", true),
        ] {
            let want = Upstream {
                target: target(to),
                is_encrypted,
            };
            assert_eq!(secrets.upstream(&target(from)), want, "{from}");
        }
    }

    #[test]
    fn hide_all_replaces_values_and_holds_as_much_for_right_and_wrong_beginnings() {
        let all = [Replacement::new(VALUE.as_bytes(), PLACEHOLDER.as_bytes())];
        for (text, want, partial) in [
            (
                format!("a{VALUE}b{VALUE}"),
                format!("a{PLACEHOLDER}b{PLACEHOLDER}"),
                VALUE.len() - 1,
            ),
            (
                format!("a\n{}", &VALUE[..7]),
                format!("a\n{}", &VALUE[..7]),
                7,
            ),
            ("a\nghp_ReX".to_owned(), "a\nghp_ReX".to_owned(), 7),
            ("ghp_R\r\n".to_owned(), "ghp_R\r\n".to_owned(), 0),
            (String::new(), String::new(), 0),
        ] {
            let mut bytes = text.into_bytes();
            assert_eq!(Replacement::hide_all(&all, &mut bytes), partial);
            assert_eq!(bytes, want.as_bytes());
        }
        assert_eq!(Replacement::hide_all(&[], &mut [1, 2]), 0);
    }

    #[test]
    fn two_secrets_in_one_password_are_hidden_in_its_echo() {
        let secret = |variable: &str, name: &str| {
            let [value, placeholder] = ["Real", "Fake"].map(|kind| format!("{kind}{name}12345678"));
            let hosts = vec!["a.example".to_owned()];
            HostSecret::new(variable.to_owned(), value, placeholder, hosts)
        };
        let secrets = Secrets::new(&[secret("USER", "One"), secret("PASS", "Two")], None).unwrap();
        let credentials = STANDARD.encode("FakeOne12345678:FakeTwo12345678");
        let head = format!("GET / HTTP/1.1\r\nAuthorization: Basic {credentials}\r\n\r\n");
        let filled = secrets.fill(&target("a.example:80"), head.into());
        let mut echo = STANDARD
            .encode("RealOne12345678:RealTwo12345678")
            .into_bytes();
        assert!(position(&filled.bytes, &echo).is_some());
        Replacement::hide_all(&filled.replacements, &mut echo);
        assert_eq!(echo, credentials.into_bytes());
    }

    #[test]
    fn host_of_a_secret_is_a_name_or_an_address() {
        for entry in ["https://a.com", "http://a.com/x", "github", "http://", "*"] {
            assert!(SecretHosts::parse(&[entry]).is_err(), "{entry}");
        }
    }
}
