//! The hosts that a sandboxed call may reach.

use crate::public_address::{is_of_this_machine, is_public};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The ports of an entry without a port.
const DEFAULT_PORTS: [u16; 2] = [80, 443];

/// Presets: names that stand for lists of entries.
const PRESETS: &[(&str, &[&str])] = &[
    ("npm", &["registry.npmjs.org", "registry.yarnpkg.com"]),
    ("pypi", &["pypi.org", "files.pythonhosted.org"]),
    (
        "crates",
        &["index.crates.io", "static.crates.io", "crates.io"],
    ),
    (
        "github",
        &[
            "github.com", "github.com:22", "ssh.github.com:443", "api.github.com",
            "codeload.github.com", "*.githubusercontent.com",
        ],
    ),
    (
        "debian",
        &[
            "deb.debian.org", "security.debian.org", "ftp.debian.org", "snapshot.debian.org",
        ],
    ),
];

/// A host: a name or an address.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Host {
    /// A name in lower case and ASCII (`xn--…` for other letters), without a trailing dot.
    Name(String),
    /// An address. An IPv4-mapped IPv6 address is its IPv4 address.
    Address(IpAddr),
}

impl Host {
    /// Parses a name, an IPv4 address, or an IPv6 address in brackets. Returns `None` for anything
    /// else, such as `127.1`, which resolvers take for an address.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(bracketed) = text.strip_prefix('[') {
            let address: Ipv6Addr = bracketed.strip_suffix(']')?.parse().ok()?;
            return Some(Self::Address(IpAddr::V6(address).to_canonical()));
        }
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Some(Self::Address(address.into()));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let is_label = |label: &str| {
            let is_allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
            (1..=63).contains(&label.len()) && label.bytes().all(is_allowed)
        };
        let last_label = name.rsplit('.').next()?;
        let is_number =
            last_label.bytes().all(|b| b.is_ascii_digit()) || last_label.starts_with("0x");
        (name.len() <= 253 && name.split('.').all(is_label) && !is_number)
            .then_some(Self::Name(name))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// The destination of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    /// The host.
    pub host: Host,
    /// The port.
    pub port: u16,
}

impl Target {
    /// Parses `host:port`; without a port, the port is `default_port`. Returns `None` for user
    /// information (`user@host`) and other forms.
    pub fn parse(text: &str, default_port: Option<u16>) -> Option<Self> {
        let (host, port) = split_port(text)?;
        Some(Self {
            host: Host::parse(host)?,
            port: port.or(default_port)?,
        })
    }

    /// Returns an entry of a list of hosts that allows this target.
    pub fn entry(&self) -> String {
        // In a list, a name without a dot needs a port, because presets have such names.
        let may_be_preset = matches!(&self.host, Host::Name(name) if !name.contains('.'));
        if DEFAULT_PORTS.contains(&self.port) && !may_be_preset {
            self.host.to_string()
        } else {
            self.to_string()
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Splits `host` or `host:port`. Returns `None` if the port is invalid.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => Some((host, Some(parse_port(port)?))),
        _ => Some((text, None)),
    }
}

fn parse_port(text: &str) -> Option<u16> {
    let is_plain = text.bytes().all(|b| b.is_ascii_digit());
    let port = text.parse().ok().filter(|port| *port > 0);
    port.filter(|_| is_plain)
}

/// An invalid entry of a list of hosts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{entry}` is no host: {reason}")]
pub struct InvalidEntry {
    entry: String,
    reason: &'static str,
}

/// The hosts of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Pattern {
    Exact(Host),
    /// All names below this name, at any depth, without the name itself.
    Below(String),
}

/// A parsed entry of a list of hosts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Rule {
    pattern: Pattern,
    /// The port; `None` for the default ports.
    port: Option<u16>,
}

/// A list of hosts that a call may reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct AllowedHosts {
    rules: Vec<Rule>,
}

impl AllowedHosts {
    /// Parses a list of hosts: `name`, `*.name`, an address, each with an optional `:port`, or the
    /// name of a preset.
    ///
    /// # Errors
    /// An entry is invalid.
    pub fn parse<S: AsRef<str>>(entries: &[S]) -> Result<Self, InvalidEntry> {
        let mut rules = Vec::new();
        for entry in entries.iter().map(AsRef::as_ref) {
            match PRESETS.iter().find(|(name, _)| *name == entry) {
                Some((_, hosts)) => rules.extend(Self::parse(hosts)?.rules),
                None => rules.push(Rule::parse_entry(entry)?),
            }
        }
        Ok(Self { rules })
    }

    /// Returns the names of the presets.
    pub fn preset_names() -> impl Iterator<Item = &'static str> {
        PRESETS.iter().map(|(name, _)| *name)
    }

    /// True if an entry lists the target.
    pub fn allows(&self, target: &Target) -> bool {
        self.rules.iter().any(|rule| rule.allows(target))
    }

    /// True if a connection to this address may be made: it is public and of another machine, or an
    /// entry names it.
    pub fn allows_address(&self, address: IpAddr, port: u16) -> bool {
        let host = Host::Address(address.to_canonical());
        let is_elsewhere = is_public(address) && !is_of_this_machine(address);
        is_elsewhere || self.allows(&Target { host, port })
    }

    /// True if this list allows everything that `other` allows.
    pub fn covers(&self, other: &Self) -> bool {
        let is_covered = |rule: &Rule| self.rules.iter().any(|wider| wider.covers(rule));
        other.rules.iter().all(is_covered)
    }
}

impl Rule {
    /// Parses an entry that is no preset.
    pub(crate) fn parse_entry(entry: &str) -> Result<Self, InvalidEntry> {
        Self::parse(entry).map_err(|reason| InvalidEntry {
            entry: entry.to_owned(),
            reason,
        })
    }

    fn parse(entry: &str) -> Result<Self, &'static str> {
        let (host, port) = split_port(entry).ok_or("its port is invalid")?;
        let (is_below, name) = match host.strip_prefix("*.") {
            Some(name) => (true, name),
            None => (false, host),
        };
        if !name.is_ascii() {
            return Err("write the name in its ASCII form (xn--...)");
        }
        let host = Host::parse(name).ok_or("it is neither a name nor an address")?;
        let pattern = match host {
            Host::Name(name) if is_below && name.contains('.') => Pattern::Below(name),
            _ if is_below => return Err("a wildcard needs a name with two labels"),
            Host::Name(name) if !name.contains('.') && port.is_none() => {
                return Err("a name without a dot needs a port, and no preset has this name");
            }
            host => Pattern::Exact(host),
        };
        Ok(Self { pattern, port })
    }

    pub(crate) fn allows(&self, target: &Target) -> bool {
        let has_port = match self.port {
            Some(port) => port == target.port,
            None => DEFAULT_PORTS.contains(&target.port),
        };
        has_port
            && match (&self.pattern, &target.host) {
                (Pattern::Exact(host), other) => host == other,
                (Pattern::Below(name), Host::Name(other)) => is_below(other, name),
                (Pattern::Below(_), Host::Address(_)) => false,
            }
    }

    fn covers(&self, other: &Self) -> bool {
        let has_ports = match (self.port, other.port) {
            (None, Some(port)) => DEFAULT_PORTS.contains(&port),
            (port, other_port) => port == other_port,
        };
        has_ports
            && match (&self.pattern, &other.pattern) {
                (pattern, other) if pattern == other => true,
                (
                    Pattern::Below(name),
                    Pattern::Exact(Host::Name(other)) | Pattern::Below(other),
                ) => is_below(other, name),
                _ => false,
            }
    }
}

fn is_below(name: &str, parent: &str) -> bool {
    let prefix = name.strip_suffix(parent);
    prefix.is_some_and(|prefix| prefix.len() > 1 && prefix.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(entries: &[&str], target: &str) -> bool {
        let target = Target::parse(target, None);
        let allowed = AllowedHosts::parse(entries).unwrap();
        target.is_some_and(|target| allowed.allows(&target))
    }

    #[test]
    fn allows_compares_normalised_names_addresses_and_ports() {
        let all = [
            "Registry.npmjs.org", "*.example.com", "git.example.org:22", "192.0.2.7:8080",
            "[2001:db8::1]:443", "xn--bcher-kva.example",
        ];
        for (target, want) in [
            ("registry.npmjs.org:443", true),
            ("REGISTRY.npmjs.org.:80", true),
            ("registry.npmjs.org:8443", false),
            ("registry.npmjs.org.evil.example:443", false),
            ("xregistry.npmjs.org:443", false),
            ("npmjs.org:443", false),
            ("a.example.com:443", true),
            ("a.b.example.com:443", true),
            ("example.com:443", false),
            (".example.com:443", false),
            ("aexample.com:443", false),
            ("git.example.org:22", true),
            ("git.example.org:443", false),
            ("192.0.2.7:8080", true),
            ("192.0.2.7:80", false),
            ("[::ffff:192.0.2.7]:8080", true),
            ("[2001:0db8:0::1]:443", true),
            ("[2001:db8::2]:443", false),
            ("xn--bcher-kva.example:443", true),
            ("bücher.example:443", false),
            ("user@registry.npmjs.org:443", false),
            ("registry.npmjs.org:+443", false),
            ("registry.npmjs.org:0", false),
            ("registry.npmjs.org:65979", false),
            ("registry.npmjs.org:", false),
            ("registry.npmjs.org\0.a.example.com:443", false),
            ("evil.org/a.example.com:443", false),
            ("127.0.0.1:443", false),
        ] {
            assert_eq!(allows(&all, target), want, "{target}");
        }
    }

    #[test]
    fn other_spellings_of_addresses_are_no_hosts() {
        for text in [
            "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.1.", "0x7f.1", "a.1",
            "::1", "[::1%lo]", "[127.0.0.1]", "", ".", "a..b", "a b", "-.1",
        ] {
            assert_eq!(Host::parse(text), None, "{text}");
        }
    }

    #[test]
    fn parse_refuses_unclear_entries() {
        for entry in [
            "*", "*.com", "*.", "a.*.com", "ncm", "localhost", "https://example.com", "a.com:",
            "a.com:0", "a.com:x", "u@a.com", "*.127.0.0.1", "a.com/x", "",
        ] {
            assert!(AllowedHosts::parse(&[entry]).is_err(), "{entry}");
        }
        for entry in ["localhost:8080", "nexus:443"] {
            assert!(AllowedHosts::parse(&[entry]).is_ok(), "{entry}");
        }
        assert_eq!(
            AllowedHosts::parse(&["ncm"]).unwrap_err().to_string(),
            "`ncm` is no host: a name without a dot needs a port, and no preset has this name"
        );
    }

    #[test]
    fn entry_of_a_refused_target_allows_it() {
        for (target, want) in [
            ("a.com:443", "a.com"),
            ("a.com:8443", "a.com:8443"),
            ("nexus:80", "nexus:80"),
            ("npm:443", "npm:443"),
            ("10.0.0.5:80", "10.0.0.5"),
            ("[::1]:443", "[::1]"),
        ] {
            let entry = Target::parse(target, None).unwrap().entry();
            assert_eq!(entry, want);
            assert!(allows(&[&entry], target), "{target}");
        }
    }

    #[test]
    fn presets_are_valid_lists() {
        for (name, hosts) in PRESETS {
            let preset = AllowedHosts::parse(&[name]).unwrap();
            assert_eq!(preset, AllowedHosts::parse(hosts).unwrap());
        }
        assert!(allows(&["github"], "github.com:22"));
    }

    #[test]
    fn covers_compares_what_two_lists_allow() {
        for (wide, narrow, want) in [
            (vec!["*.a.com"], vec!["x.a.com", "*.y.a.com"], true),
            (vec!["*.a.com"], vec!["a.com"], false),
            (vec!["a.com"], vec!["a.com:443"], true),
            (vec!["a.com:443"], vec!["a.com"], false),
            (vec!["npm"], vec!["registry.npmjs.org"], true),
            (vec!["npm"], vec!["npm", "pypi"], false),
            (vec![], vec![], true),
        ] {
            let [wider, narrower] = [&wide, &narrow].map(|it| AllowedHosts::parse(it).unwrap());
            assert_eq!(wider.covers(&narrower), want, "{wide:?} {narrow:?}");
        }
    }

    #[test]
    fn address_that_is_not_public_needs_an_entry_of_its_own() {
        let allowed = AllowedHosts::parse(&["nexus.corp", "10.0.0.5:443"]).unwrap();
        for (address, port, want) in [
            ("10.0.0.5", 443, true),
            ("::ffff:10.0.0.5", 443, true),
            ("10.0.0.5", 80, false),
            ("10.0.0.6", 443, false),
            ("93.184.216.34", 443, true),
        ] {
            let found = allowed.allows_address(address.parse().unwrap(), port);
            assert_eq!(found, want, "{address}:{port}");
        }
    }
}
