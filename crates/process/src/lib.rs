//! Starts, contains, names and ends the processes of a call. The layer below `agent-bash-exec` and
//! `agent-bash-pty`.
//!
//! - [`supervisor`]: a small process between a host and a shell. Every descendant of the shell is
//!   reparented to the supervisor, which can name and end all of them. Its lifeline to the host
//!   ends the commands when the host is killed.
//! - [`environment`]: the environment of a command: secrets removed, unattended defaults set.
//! - [`in_foreground`]: the user's editor on this process's terminal.
//! - [`Askpass`]: answers the password prompts of a call's programs.
//! - [`Transport`]: a program that carries bytes to a remote host, such as `ssh`.
//! - [`listening_addresses`]: the TCP addresses on which processes listen.
//! - [`DelegatedCgroup`]: limits for all processes of a call together.
//! - [`GitConfigProgram`]: reads and writes files in git's configuration format.
//! - [`SandboxWatch`]: observes a shell's sandbox from outside.
//! - [`resolve_shell`], [`SystemClock`], [`signal_name`], [`quoted`].
//!
//! Other crates have the protocol between host and shell (`agent-bash-exec`), terminals
//! (`agent-bash-pty`) and the processing of output (`agent-bash-sink`).
//!
//! On systems other than Linux there is no sandbox, trace, cgroup or `/proc`.

#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

mod ancestors;
mod askpass;
mod cgroup;
mod clock;
pub mod environment;
mod foreground;
mod git_config;
mod git_settings;
mod inherited;
mod interrupt;
mod leftovers;
mod listening;
mod lock_holder;
mod mise;
mod pinentry;
mod platform;
mod private_directory;
mod proc_scan;
mod process_group;
mod quote;
mod report_socket;
mod sandbox_watch;
mod secrets;
mod shell;
mod shown_command;
mod signal;
pub mod supervisor;
mod system_error;
mod temporary;
mod terminal_size;
mod transport;
mod unattended;
mod unresolvable_cwd;

pub use agent_bash_core as core;
pub use agent_bash_os::{ProcessHandle, ProcessIdentity, ProcessInfo};
pub use agent_bash_os::{read_arguments, read_environment};
pub use ancestors::{Ancestor, ancestors, calling_program, model_callers};
pub use askpass::{ASKPASS_VARIABLES, Asker, Askpass, AskpassPrompt};
pub use cgroup::{DelegatedCgroup, LimitedTree, NoCgroup, TreeLimits};
pub use clock::SystemClock;
pub use foreground::in_foreground;
pub use git_config::{GitConfigProgram, GitConfigValues};
pub use inherited::Inherited;
pub use interrupt::{interrupt_below, ticks_since_boot};
pub use leftovers::Leftovers;
pub use listening::{PortHolder, addresses_in_network_of, listening_addresses, port_holder};
pub use lock_holder::{command_of, lock_holder, waiting_program_in};
pub use platform::{
    is_automounter, is_known_directory, known_link, known_path, make_fifo, random_bytes,
    shrink_pipe, unnamed_file,
};
pub use proc_scan::{
    LoneShellCheck, directory_of, has_terminal_open, holds_open, inode_of_pipe, is_on_terminal,
    processes_of_session,
};
pub use process_group::{is_in_session_leaders_group, own_process_group};
pub use quote::quoted;
pub use report_socket::{ReceivedReport, peek_report, receive_report};
pub use sandbox_watch::SandboxWatch;
pub use shell::resolve_shell;
pub use shown_command::shown_command_line;
pub use signal::{hide_memory, ignored_signals, signal_name};
pub use system_error::{thread_refusal, try_needed_calls};
pub use temporary::{NoTemporaryDirectory, make_temporary, parent_for_plan};
pub use terminal_size::terminal_columns;
pub use transport::{Transport, TransportProcess};
pub use unresolvable_cwd::is_reachable_from_cwd;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
