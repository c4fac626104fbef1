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
//! Parts: `protocol` (what the two sides say), `channel` (how it travels), `job_directory` (the files of a call that outlives
//! its host), `host` (the side that gives orders) and `server` (the side that obeys; it runs neither tokio nor threads). Of the
//! server the host knows how to start one, and nothing else; the server knows nothing of the host.

mod channel;
mod host;
pub mod job_directory;
mod protocol;
mod server;

pub use host::{
    Gone, JobFds, JobKilled, JobVisit, Link, NotTaken, ShellFds, StartError, Supervised, Supervisor,
};
pub use job_directory::{JobEnd, JobEnding};
pub use protocol::{Detach, Event, ShellEnd, ShellStart, TerminalStart};
pub(crate) use server::command_line;
pub use server::{Token, init};

/// The name under which a supervisor runs, and by which [`init`] knows that it is one. Never contains anything of the
/// user's command, so that `pkill -f` with a word of the command does not find it.
const NAME: &str = "agent-bash-supervisor";

/// Version of the protocol; both sides are the same binary, except where a host's file was replaced while it ran.
const VERSION: u32 = 7;
