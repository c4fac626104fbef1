//! The JSON-lines protocol of `agent-bash rpc` as types: one object per line, requests in,
//! responses and updates out.
//!
//! Both ends use these types: the server, and clients such as a host whose commands run on another
//! machine. `docs/rpc.md` explains the messages. This crate neither sends nor serves them.

pub mod data;
pub mod file;
pub mod head;
pub mod hello;
pub mod line;
pub mod message;
pub mod name;
mod parts;
mod request_id;
mod response;
mod stream;
mod unlogged;
pub mod update;

pub use hello::Hello;
pub use line::MAX_LINE;
pub use message::{ErrorCode, RpcCall, RpcId, RpcRequest, RpcResponse, Stream};
pub use name::Name;
pub use unlogged::Unlogged;
pub use update::{RpcJobEnded, RpcPrompt, RpcUpdate};

/// Maximum number of requests in flight: each may run a shell with its own processes.
pub const MAX_REQUESTS: usize = 256;

/// Maximum total length of the lines of the requests in flight. A single line is at most
/// [`MAX_LINE`].
pub const MAX_REQUEST_BYTES: usize = 64 << 20;

/// The version of the protocol, which must be equal on a host and its target. It changes with every
/// change that an older end would misread.
pub const PROTOCOL_VERSION: u32 = 1;

/// The build: the commit (if the packager set it), the platform and the cargo profile. The name
/// distinguishes builds, but does not order them.
pub const BUILD_NAME: &str = env!("AGENT_BASH_BUILT_AS");

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
