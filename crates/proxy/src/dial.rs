//! Connects to allowed targets.

use crate::refusals::Refusals;
use crate::relay::with_timeout;
use crate::rules::{AllowedHosts, Host, Target};
use agent_bash_core::Clock;
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The time limit for resolving a name and connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// The largest answer of a parent proxy to `CONNECT`, in bytes.
const MAX_ANSWER_BYTES: usize = 8 * 1024;

/// Resolves names.
#[async_trait]
pub trait Resolver: Send + Sync + std::fmt::Debug {
    /// Returns the addresses of a name.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let found = tokio::net::lookup_host((name, 0)).await?;
        Ok(found.map(|address| address.ip()).collect())
    }
}

/// The HTTP proxy of the host, which connects to the targets in place of this process. The parent
/// proxy resolves names itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentProxy {
    address: Target,
    /// The value of `Proxy-Authorization`.
    authorization: Option<String>,
    /// The names of targets for which the parent proxy is not used; `*` for all.
    exceptions: Vec<String>,
}

impl ParentProxy {
    /// Returns the proxy that these environment variables name for HTTPS, as curl and git read
    /// them; `None` without one.
    pub fn from_env(env: &BTreeMap<OsString, OsString>) -> Option<Self> {
        let value = |names: &[&str]| {
            let values = names.iter().filter_map(|name| env.get(OsStr::new(name)));
            let mut texts = values.filter_map(|value| value.to_str());
            texts.find(|text| !text.is_empty()).map(str::to_owned)
        };
        let url = value(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])?;
        let exceptions = value(&["no_proxy", "NO_PROXY"]).unwrap_or_default();
        Self::parse(&url, &exceptions)
    }

    /// Parses `url`, a value of `HTTPS_PROXY`, and `exceptions`, a value of `NO_PROXY`. Returns
    /// `None` if the proxy is not `http://`.
    pub fn parse(url: &str, exceptions: &str) -> Option<Self> {
        let rest = url.strip_prefix("http://").unwrap_or(url);
        let rest = rest.trim_end_matches('/');
        let (credentials, address) = match rest.rsplit_once('@') {
            Some((credentials, address)) => (Some(credentials), address),
            None => (None, rest),
        };
        let trimmed = exceptions
            .split(',')
            .map(|name| name.trim().trim_start_matches('.'));
        let names = trimmed.filter(|name| !name.is_empty());
        Some(Self {
            address: Target::parse(address, Some(80))?,
            authorization: credentials.map(|credentials| {
                let credentials: Vec<u8> = percent_decode_str(credentials).collect();
                format!("Basic {}", STANDARD.encode(credentials))
            }),
            exceptions: names.map(str::to_ascii_lowercase).collect(),
        })
    }

    fn is_used_for(&self, target: &Target) -> bool {
        let host = target.host.to_string();
        !self.exceptions.iter().any(|name| {
            let prefix = host.strip_suffix(name.as_str());
            name == "*" || prefix.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
    }
}

/// Why no connection was made.
#[derive(Debug)]
pub(crate) enum NotConnected {
    /// The list of hosts does not allow this target: the requested one, or the address of a listed
    /// name.
    Refused(Target),
    /// The target cannot be reached.
    Failed(io::Error),
}

impl From<io::Error> for NotConnected {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Connects to allowed targets, and counts refused ones.
#[derive(Debug)]
pub(crate) struct Dialer {
    pub(crate) allowed: AllowedHosts,
    pub(crate) resolver: Box<dyn Resolver>,
    pub(crate) parent: Option<ParentProxy>,
    pub(crate) refusals: Arc<Refusals>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Dialer {
    /// Connects to the target if it is allowed. Each address is checked, and the connection is made
    /// to the checked address.
    pub(crate) async fn connect(&self, target: &Target) -> Result<TcpStream, NotConnected> {
        let connected = self.connect_uncounted(target).await;
        if let Err(NotConnected::Refused(unlisted)) = &connected {
            self.refusals.add(unlisted, None);
        }
        connected
    }

    async fn connect_uncounted(&self, target: &Target) -> Result<TcpStream, NotConnected> {
        if !self.allowed.allows(target) {
            return Err(NotConnected::Refused(target.clone()));
        }
        let connecting = async {
            match &self.parent {
                Some(parent) if parent.is_used_for(target) => {
                    self.connect_through(parent, target).await.map(Ok)
                }
                _ => self.connect_directly(target).await,
            }
        };
        with_timeout(&*self.clock, CONNECT_TIMEOUT, connecting).await?
    }

    async fn connect_directly(
        &self,
        target: &Target,
    ) -> io::Result<Result<TcpStream, NotConnected>> {
        let addresses = match &target.host {
            Host::Address(address) => vec![*address],
            Host::Name(name) => self.resolver.resolve(name).await?,
        };
        let mut last_error = io::Error::from(io::ErrorKind::NotFound);
        let mut has_failed = false;
        let mut unlisted = None;
        for address in addresses {
            if !self.allowed.allows_address(address, target.port) {
                unlisted.get_or_insert(address);
                continue;
            }
            match TcpStream::connect(SocketAddr::new(address, target.port)).await {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok(Ok(stream));
                }
                Err(error) => (last_error, has_failed) = (error, true),
            }
        }
        Ok(Err(match unlisted {
            Some(address) if !has_failed => NotConnected::Refused(Target {
                host: Host::Address(address.to_canonical()),
                port: target.port,
            }),
            _ => last_error.into(),
        }))
    }

    /// Asks the parent proxy for a tunnel.
    async fn connect_through(
        &self,
        parent: &ParentProxy,
        target: &Target,
    ) -> io::Result<TcpStream> {
        let address = (parent.address.host.to_string(), parent.address.port);
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n");
        if let Some(authorization) = &parent.authorization {
            request.extend(["Proxy-Authorization: ", authorization, "\r\n"]);
        }
        request.push_str("\r\n");
        stream.write_all(request.as_bytes()).await?;
        // The answer is read byte by byte, because the bytes after it belong to the tunnel.
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            if answer.len() >= MAX_ANSWER_BYTES {
                return Err(io::ErrorKind::InvalidData.into());
            }
            answer.push(stream.read_u8().await?);
        }
        let is_open = answer.starts_with(b"HTTP/1.") && answer.get(8..10) == Some(b" 2");
        if !is_open {
            let refused = "the host's proxy refused the connection";
            return Err(io::Error::other(refused));
        }
        Ok(stream)
    }
}
