//! The requests that [`super::dispatch`] does not answer itself, one file for each kind.

pub(super) mod changes;
pub(super) mod checks;
mod file_requests;
pub(super) mod files;
mod prompt_requests;
pub(super) mod remote;
pub(super) mod run_program;
mod terminal_requests;
