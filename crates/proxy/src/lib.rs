//! A proxy for sandboxed commands: HTTP `CONNECT`, plain HTTP and SOCKS5, for listed hosts only.
//!
//! The listener may be of another network namespace; connections are made from this process's.
//! Bounded: connections, the size of a head, and the time of a head, a connection attempt and an
//! idle connection.

mod dial;
mod guard;
mod head;
mod http;
mod proxy;
mod refusals;
mod relay;
mod rules;
mod socks;

pub use agent_bash_core as core;
pub use dial::{ParentProxy, Resolver, SystemResolver};
pub use proxy::Proxy;
pub use refusals::Refusals;
pub use rules::{AllowedHosts, Host, InvalidEntry, Target};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
