//! Connects to allowed targets.

use crate::refusals::Refusals;
use crate::relay::with_timeout;
use crate::rules::{AllowedHosts, Host, Target};
use agent_bash_core::Clock;
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
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
            authorization: credentials
                .map(|it| format!("Basic {}", STANDARD.encode(percent_decoded(it)))),
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

/// Decodes percent-encoded bytes (`%XX`).
fn percent_decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        if let Some(byte) = byte.filter(|_| *first == b'%') {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    bytes
}

/// Why no connection was made.
#[derive(Debug)]
pub(crate) enum NotConnected {
    /// The target is not allowed.
    Refused,
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
        if matches!(connected, Err(NotConnected::Refused)) {
            self.refusals.add(target);
        }
        connected
    }

    async fn connect_uncounted(&self, target: &Target) -> Result<TcpStream, NotConnected> {
        if !self.allowed.allows(target) {
            return Err(NotConnected::Refused);
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
        let mut is_refused = false;
        for address in addresses {
            if !self.allowed.allows_address(address, target.port) {
                is_refused = true;
                continue;
            }
            match TcpStream::connect(SocketAddr::new(address, target.port)).await {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok(Ok(stream));
                }
                Err(error) => (last_error, is_refused) = (error, false),
            }
        }
        Ok(Err(if is_refused {
            NotConnected::Refused
        } else {
            last_error.into()
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
