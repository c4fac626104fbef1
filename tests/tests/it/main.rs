//! The binary from end to end, each test in its own world.
//!
//! Other test programs have their own reasons: `conformance`, `agents`, `clients` and `engines`
//! find their cases at the start, `orphans` makes its process a subreaper, and `soak` loads the
//! machine for a given time.

mod agent_shell;
mod audit;
mod census;
mod commands;
mod containers;
mod examples;
mod exceptions;
mod exit_codes;
mod exported_functions;
mod faults;
mod hooks;
mod journal;
mod masks;
mod mcp;
mod misbehave;
mod packaging;
mod plugins;
mod prompts;
mod rpc;
mod safe_mode;
mod sandbox;
mod sandbox_caches;
mod sandbox_edges;
mod sandbox_git;
mod sandbox_secrets;
mod session;
mod starved;
mod strangers;
mod targets;
mod terminal;
mod truth_table;
mod tui;
