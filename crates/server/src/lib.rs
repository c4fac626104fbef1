//! agent-bash for other programs: JSON lines ([`rpc`]) and the Model Context Protocol ([`mcp`]) over any pair of streams.
//!
//! A server holds no logic about commands: what a call does is `agent-bash`'s, and the result is the same object on every
//! surface. Here is who asked, who is told, and what happens when the one or the other goes away.

mod head;
mod kept;
mod line;
mod live;
pub mod mcp;
pub mod rpc;
mod stdio;

pub use stdio::stdio;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
