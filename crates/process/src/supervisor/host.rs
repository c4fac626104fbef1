//! The host's side of a supervisor.
//!
//! Modules: `launch` (starting one), `client` (its events, and letting go of it), `hearing`
//! (receiving messages), `link` (sending orders), `shell` (starting a shell that waits for its
//! script), `terminal` (starting one on a terminal), `survivors` (listing and adopting what a call
//! leaves), `detach` (turning a call into a job), `visit` (a later host asks about a job), `reap`
//! (its end), `start_error`.

mod client;
mod detach;
mod direct;
mod job_client;
mod launch;
mod link;
mod probe;
mod reap;
mod receive;
mod shell;
mod start_error;
mod survivors;
mod terminal;

pub use client::SupervisorClient;
pub use detach::{JobFds, NotDetached};
pub use direct::DirectShell;
pub use job_client::{JobKilled, JobVisit};
pub use launch::Supervisor;
pub use link::OrderSender;
pub use receive::Disconnected;
pub use shell::{ReportFds, ShellFds};
pub use start_error::StartError;
pub use terminal::StartedOnTerminal;
