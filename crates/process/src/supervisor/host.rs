//! The host's side of a supervisor.
//!
//! Parts: `launch` (starting one), `client` (hearing from it, its end), `link` (giving it orders), `shell` (one that waits for its
//! script), `terminal` (a shell on a terminal), `survivors` (what a
//! call leaves), `detach` (a call becomes a job), `visit` (a job, by a later host), `reap` (its end).

mod client;
mod detach;
mod launch;
mod link;
mod reap;
mod shell;
mod survivors;
mod terminal;
mod visit;

pub use client::{Gone, Supervised};
pub use detach::{JobFds, NotTaken};
pub use launch::Supervisor;
pub use link::Link;
pub use shell::{ShellFds, StartError};
pub use visit::{JobKilled, JobVisit};
