//! The commands, one file each. Each returns the exit code of the process.

pub(crate) mod allow;
pub(crate) mod artifact;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod clean;
pub(crate) mod cp;
mod default_state;
pub(crate) mod doctor;
mod encryption;
pub(crate) mod env;
mod find_record;
pub(crate) mod generated;
pub(crate) mod hook;
pub(crate) mod jobs;
mod later_events;
pub(crate) mod log;
pub(crate) mod mcp;
mod on_terminal;
pub(crate) mod remote_command;
pub(crate) mod remote_output;
pub(crate) mod report;
pub(crate) mod rpc;
pub(crate) mod run;
pub(crate) mod sandbox;
mod sandbox_probe;
pub(crate) mod sandbox_run;
pub(crate) mod schema;
mod script;
pub(crate) mod serve_session;
mod session;
pub(crate) mod settings;
pub(crate) mod setup;
pub(crate) mod shell;
pub(crate) mod shell_link;
mod target;
pub(crate) mod tui;

/// The exit code if the requested job, output or record does not exist.
const NOT_FOUND_EXIT_CODE: u8 = 1;
