//! `agent-bash clean`.

use crate::args::values::{DEFAULT_SESSION, session_name};
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Data in use stays: running jobs with their outputs, and the artifacts and records of a running
program. Change sets stay for undo until changes.keep is over; a trial stays until you decide.

  agent-bash clean            clean the state of one-shot commands (`agent-bash run`)
  agent-bash clean --all      clean the state of all sessions")]
pub(crate) struct CleanArgs {
    /// The name of the state directory to clean.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_SESSION, value_parser = session_name)]
    pub(crate) state: String,

    /// Clean the state directories of all sessions.
    #[arg(long, conflicts_with = "state")]
    pub(crate) all: bool,

    /// Clean another machine: a target as in `run --on`. Also removes other versions of agent-bash
    /// that were uploaded there.
    #[arg(long, value_name = "TARGET")]
    pub(crate) on: Option<String>,
}
