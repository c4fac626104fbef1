//! The host's side of a supervisor.
//!
//! Modules: `launch` (starting supervisors), `client` (events and the end of a supervisor),
//! `receive` (receiving messages), `order_sender` (sending orders), `shell` (shells that wait for
//! their script), `direct` (shells with their own command line), `terminal` (shells on a terminal),
//! `survivors` (listing and adopting survivors), `detach` (turning a call into a job), `job_client`
//! (a later host's connection to a job), `probe` (what sandboxes enforce), `reap` (reaping
//! supervisors), `host_proxy` (the proxies of sandboxes), `start_error`.

mod client;
mod detach;
mod direct;
mod host_proxy;
mod job_client;
mod launch;
mod openssl;
mod order_sender;
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
pub use job_client::{JobClient, JobKilled};
pub use launch::Supervisor;
pub use openssl::openssl_path;
pub use order_sender::OrderSender;
pub use receive::Disconnected;
pub use shell::{ReportFds, ShellFds};
pub use start_error::StartError;
pub use terminal::StartedOnTerminal;
