//! The supervisor itself. It runs neither tokio nor threads.
//!
//! Parts: `entry` (becoming one), `serve` (its loop), `launch`, `leader` and `terminal` (starting a shell), `limits` (what that may
//! use), `tree` (who is in its tree), `handles` (who is known), `ladder` (ending a tree), `relay` (reading on for survivors and
//! jobs), `session_processes` (survivors of a session's call), `job` (a call that outlives its host), `fallback` and `marked` (without a process
//! of its own).

mod entry;
mod fallback;
mod handles;
mod job;
mod ladder;
mod launch;
mod leader;
mod limits;
mod marked;
mod reaped;
mod relay;
mod serve;
mod session_processes;
mod terminal;
mod tree;

pub(super) use entry::this_program;
pub use entry::{Token, init};
pub(super) use fallback::start as start_fallback;
pub(crate) use tree::command_line;
