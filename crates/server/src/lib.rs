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

use std::time::Duration;

/// Time limit for the end of commands after their grace period.
const AFTER_GRACE_TIMEOUT: Duration = Duration::from_secs(2);

/// Time limit for a client to read answers before the server exits.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
