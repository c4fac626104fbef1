//! The binary from end to end, each test in a world of its own.
//!
//! Beside this are programs of their own: `conformance`, `agents`, `clients` and `engines` find their cases when they start,
//! `orphans` makes its process a subreaper, and `soak` loads the machine for as long as it is told.

mod audit;
mod census;
mod commands;
mod examples;
mod exit_codes;
mod faults;
mod hooks;
mod journal;
mod mcp;
mod misbehave;
mod rpc;
mod safe_mode;
mod sandbox;
mod session;
mod starved;
mod strangers;
mod targets;
mod terminal;
mod truth_table;
mod tui;
