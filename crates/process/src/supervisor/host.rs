//! The host's side of a supervisor.
//!
//! Parts: `client` (starting one, giving it orders, hearing from it), `terminal` (a shell on a terminal), `survivors` (what a
//! call leaves), `detach` (a call becomes a job), `visit` (a job, by a later host), `reap` (its end).

mod client;
mod detach;
mod reap;
mod survivors;
mod terminal;
mod visit;

pub use client::{Gone, Link, ShellFds, StartError, Supervised, Supervisor};
pub use detach::{JobFds, NotTaken};
pub use visit::{JobKilled, JobVisit};
