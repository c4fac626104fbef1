//! A proxy for sandboxed commands: HTTP `CONNECT`, plain HTTP and SOCKS5, for listed hosts only.
//! Puts secrets, which the commands do not know, into plain requests to their hosts.
//!
//! The listener may belong to another network namespace. The proxy connects from the namespace of
//! its own process. The number of connections and the size of a request's head are limited. Reading
//! a head, connecting, and idle connections have time limits.

mod dial;
mod head;
mod http;
mod placeholder;
mod proxy;
mod public_address;
mod refusals;
mod relay;
mod rules;
mod secrets;
mod socks;
mod thread;
mod tls;

pub use agent_bash_core as core;
pub use dial::{ParentProxy, Resolver, SystemResolver};
pub use placeholder::Placeholders;
pub use proxy::Proxy;
pub use refusals::{RefusalCounts, Refusals, Refused};
pub use rules::{AllowedHosts, Host, InvalidEntry, Target};
pub use secrets::SecretHosts;
pub use thread::ProxyThread;
pub use tls::{StartedTls, TlsProcess, TlsProgram};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
