//! Starts, contains, names and ends the processes of a call. Below `agent-bash-exec` and `agent-bash-pty`.
//!
//! - [`supervisor`]: the small process that stands between a host and a shell. Every descendant of the shell ends up
//!   as its child, so all can be named and ended; it holds a lifeline to the host, so that a killed host takes its
//!   commands with it.
//! - [`environment`]: what a command finds in its environment: secrets removed, unattended defaults set.
//! - [`resolve_shell`], [`SystemClock`], [`signal_name`], [`quoted`].
//!
//! What is *not* here: the protocol between host and shell (`agent-bash-exec`), terminals (`agent-bash-pty`), what
//! becomes of the output (`agent-bash-sink`).

mod clock;
pub mod environment;
mod git_settings;
mod here;
mod inherited;
mod leftovers;
mod platform;
mod proc_fs;
mod quote;
mod refused;
mod secrets;
mod shell;
mod signal;
pub mod supervisor;
mod unattended;

pub use agent_bash_core as core;
pub use agent_bash_os::{ProcessIdentity, ProcessInfo};
pub use clock::SystemClock;
pub use here::is_reached_from_here;
pub use inherited::Inherited;
pub use leftovers::Leftovers;
pub use platform::{is_known_directory, make_fifo, shrink_pipe, unnamed_file};
pub use proc_fs::{Children, directory_of, holds_open, processes_of_session};
pub use quote::quoted;
pub use shell::resolve_shell;
pub use signal::{hide_memory, signal_name};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
