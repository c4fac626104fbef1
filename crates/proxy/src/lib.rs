//! A proxy for sandboxed commands: HTTP `CONNECT`, plain HTTP and SOCKS5, for listed hosts only.
//!
//! The listener may belong to another network namespace. The proxy connects from the namespace of
//! its own process. The number of connections and the size of a request's head are limited. Reading
//! a head, connecting, and idle connections have time limits.

mod dial;
mod head;
mod http;
mod proxy;
mod public_address;
mod refusals;
mod relay;
mod rules;
mod socks;
mod thread;

pub use agent_bash_core as core;
pub use dial::{ParentProxy, Resolver, SystemResolver};
pub use proxy::Proxy;
pub use refusals::{RefusalCounts, Refusals};
pub use rules::{AllowedHosts, Host, InvalidEntry, Target};
pub use thread::ProxyThread;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
