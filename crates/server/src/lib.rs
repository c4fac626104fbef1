//! agent-bash for other programs: JSON lines ([`rpc`]) and the Model Context Protocol ([`mcp`])
//! over any pair of streams.
//!
//! The servers hold no logic about commands: what a call does is decided in `agent-bash`, and the
//! result is the same object on every interface. The servers only track requests and clients, and
//! handle a disconnect of either side.

mod field_error;
mod into_data;
mod jobs;
mod live_output;
pub mod mcp;
pub mod rpc;
mod stdio;
mod stored_output;

pub use agent_bash_protocol::data::{ChangesGroupData, ChangesSetData, FileDiffData};
pub use into_data::IntoData;
pub use stdio::stdio;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
