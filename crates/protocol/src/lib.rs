//! The JSON-lines protocol of `agent-bash rpc` as types: one object per line, requests in,
//! responses and updates out.
//!
//! Both ends use them: the server that answers, and a program that asks, such as a host whose
//! commands run on another machine. What the messages mean is in `docs/rpc.md`; that they arrive,
//! and what they do, is up to the two ends.

pub mod changes;
pub mod data;
pub mod file;
pub mod head;
pub mod hello;
pub mod line;
pub mod message;
pub mod name;
mod parts;
mod unlogged;
pub mod update;

pub use hello::Hello;
pub use line::MAX_LINE;
pub use message::{ErrorCode, RpcCall, RpcId, RpcRequest, RpcResponse, Stream};
pub use name::Name;
pub use unlogged::Unlogged;
pub use update::{RpcJobEnded, RpcUpdate};

/// Limit of requests in flight: each may be a shell with processes of its own.
pub const MAX_REQUESTS: usize = 256;

/// Limit of the total length of their lines. A single line is at most [`MAX_LINE`].
pub const MAX_REQUEST_BYTES: usize = 64 << 20;

/// The version of what the two ends say to each other. A host and its target must agree on it; it
/// changes with every change that an older end would misread.
pub const PROTOCOL_VERSION: u32 = 1;

/// The build: the commit if the packager set it, the platform, and whether it is optimised. For
/// telling builds apart, not for comparing.
pub const BUILD_NAME: &str = env!("AGENT_BASH_BUILT_AS");

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
