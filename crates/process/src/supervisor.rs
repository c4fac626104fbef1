//! The supervisor: one small process between a host and the shells of its calls.
//!
//! It is one mechanism for many needs. As the subreaper of a call every descendant, double forks and `setsid`
//! included, ends up as its child, so that it can name them all and end them all; it reaps, so there are no zombies; it
//! signals only processes that it has not reaped, so no reused pid is ever hit; it holds a lifeline (a socket) to
//! the host, so that a killed host takes its commands with it; and it is small, so that a big host pays no copy of its
//! page tables for a fork.
//!
//! The supervisor is the host's own binary started again under another name, so that nothing extra is installed:
//!
//! ```no_run
//! // First of all in `main`, before any thread: in the supervisor's own process this call does not return.
//! let token = agent_bash_process::supervisor::init();
//! let supervisor = agent_bash_process::supervisor::Supervisor::this_program(&token);
//! // … hand `supervisor` to `agent_bash_exec::ShellCache`
//! ```
//!
//! A host whose `main` is not its own (a plugin, a test) starts another program that calls [`init`]:
//! [`Supervisor::at`]. A program that has not called [`init`] must never be started as one: it would start itself
//! again, without end. That is what the token is for. A host that can do neither has [`Supervisor::fallback`]: the same
//! loop in a thread, with less to go by.
//!
//! Parts: `entry` (becoming a supervisor), `serve` (its loop), `ladder` (ending a tree), `tree` (who is in it),
//! `launch` and `leader` (starting a shell), `fallback` and `marked` (without a process of its own), `handles` (who is known), `limits` (what it may use), `terminal` (starting one on a terminal), `relay` (reading on for survivors and jobs), `beside` (survivors of a session's call), `job` and `job_directory` (a call that
//! outlives its host), `protocol` and `channel` (what it says and how), `client`, `survivors`, `detach` and `reap` (the host's side), `visit`
//! (a later host's). It runs neither tokio nor threads.

mod beside;
mod channel;
mod client;
mod detach;
mod entry;
mod fallback;
mod handles;
mod job;
pub mod job_directory;
mod ladder;
mod launch;
mod leader;
mod limits;
mod marked;
mod protocol;
mod reap;
mod relay;
mod serve;
mod survivors;
mod terminal;
mod tree;
mod visit;

pub use client::{Gone, Link, ShellFds, StartError, Supervised, Supervisor};
pub use detach::{DetachError, JobFds};
pub use entry::{Token, init};
pub use job_directory::{JobEnd, JobEnding};
pub use protocol::{Detach, Event, ShellEnd, ShellStart, TerminalStart};
pub(crate) use tree::command_line;
pub use visit::{JobKilled, JobVisit};

/// The name under which a supervisor runs, and by which [`init`] knows that it is one. Never contains anything of the
/// user's command, so that `pkill -f` with a word of the command does not find it.
const NAME: &str = "agent-bash-supervisor";

/// Version of the protocol; both sides are the same binary, except where a host's file was replaced while it ran.
const VERSION: u32 = 6;
