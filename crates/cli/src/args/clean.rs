//! `agent-bash clean`.

use super::values::{DEFAULT_SESSION, session_name};
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
What is still used stays: jobs that run, what they write, and what a running host keeps and
records. So does what an undo needs, until changes.keep is over, and a trial, until you decide.

  agent-bash clean            the outputs, jobs and records of one-shot commands
  agent-bash clean --all      those of every session below the state directory")]
pub(crate) struct CleanArgs {
    /// The on-disk session to clean.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_SESSION, value_parser = session_name)]
    pub(crate) state: String,

    /// Clean all sessions.
    #[arg(long, conflicts_with = "state")]
    pub(crate) all: bool,

    /// Clean another machine: a target as `run --on` takes it. Other versions of our program are
    /// removed there, too.
    #[arg(long, value_name = "TARGET")]
    pub(crate) on: Option<String>,
}
