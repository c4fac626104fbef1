//! The commands, one file each. Each returns the exit code of the process.

pub(crate) mod artifact;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod clean;
pub(crate) mod cp;
pub(crate) mod doctor;
pub(crate) mod env;
pub(crate) mod following;
pub(crate) mod generated;
pub(crate) mod hook;
pub(crate) mod jobs;
pub(crate) mod log;
pub(crate) mod mcp;
mod on_terminal;
mod recorded;
pub(crate) mod report;
pub(crate) mod rpc;
pub(crate) mod run;
pub(crate) mod sandbox;
pub(crate) mod schema;
mod script;
pub(crate) mod serving;
mod session;
pub(crate) mod settings;
mod target;
pub(crate) mod there;
pub(crate) mod tui;
