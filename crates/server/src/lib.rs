//! agent-bash for other programs: the messages.
//!
//! Here so far: the lines of the JSON-lines protocol as types ([`rpc`]), those that are settled. Nothing serves them
//! yet; README.md says what will.

pub mod rpc;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
