//! Calls that may continue after their answer. A [`RunningCalls`] has the calls of one client.
//!
//! - [`ClientAdapters`]: the calls of adapters, which are the shell tools that models were trained
//!   on.
//! - [`terminal`]: calls on terminals that a model or a client drives.
//! - [`until`]: waiting for a job until one of several conditions is met.
//!
//! This crate serves no protocol: `agent-bash-server` does. A call's checks and its result come
//! from `agent-bash`.

mod adapters;
mod calls;
pub mod terminal;
pub mod until;

pub use adapters::ClientAdapters;
pub use calls::{
    LOST_CALL, MAX_CALLS, RunningCall, RunningCalls, StartOptions, TooManyCalls, WaitOutcome,
    WriteError,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
