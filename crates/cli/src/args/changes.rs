//! `agent-bash changes`.

use super::values::session_name;
use agent_bash::core::changes::ChangesId;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Paths are taken from here if this is within the tree that was changed, and else from its top.
Exit code 1: another process changed the files, or the change set does not exist; nothing was done.

Without --state, the command reads the state of `agent-bash run` (`cli`) or of the agent
conversation that was last recorded in this project (`agent-bash shell`), whichever has the newer
change set. The conversation is named on stderr. If both have the number, commit, discard, undo and
redo refuse to act on the conversation: name the state.

  agent-bash run --trial 'rm -rf src'        what would it do?
  agent-bash changes diff 7                  see it
  agent-bash changes commit 7                do it
  agent-bash changes undo 7 src/main.rs      take some of it back")]
pub(crate) struct ChangesArgs {
    #[command(subcommand)]
    pub(crate) action: ChangesAction,

    /// The state directory to look in; see below for the default.
    #[arg(long, global = true, value_name = "NAME", value_parser = session_name)]
    pub(crate) state: Option<String>,

    /// Print JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

impl ChangesAction {
    /// Returns the change set if the action changes files.
    pub(crate) fn acts_on(&self) -> Option<ChangesId> {
        match self {
            Self::Commit { id }
            | Self::Discard { id }
            | Self::Undo { id, .. }
            | Self::Redo { id } => Some(*id),
            Self::List | Self::Show { .. } | Self::Diff { .. } => None,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChangesAction {
    /// List the sets of changes that are kept, oldest first.
    List,
    /// Print which files a set changed, or would.
    Show {
        /// The change set's number, or its link (`changes://7`).
        id: ChangesId,
        /// Print only the files' names, each with a NUL after it.
        #[arg(short = 'z', conflicts_with = "json")]
        names: bool,
    },
    /// Print what a set changed in files, or would, as a unified diff.
    Diff {
        /// The change set's number, or its link.
        id: ChangesId,
        /// Only these files, and what is in these directories.
        paths: Vec<PathBuf>,
    },
    /// Commit a held trial: all changes, or none if another process changed one of the files.
    Commit {
        /// The change set's number, or its link.
        id: ChangesId,
    },
    /// Remove the changes that a trial held back.
    Discard {
        /// The change set's number, or its link.
        id: ChangesId,
    },
    /// Take back what a set changed.
    Undo {
        /// The change set's number, or its link.
        id: ChangesId,
        /// Only these files, and what is in these directories.
        paths: Vec<PathBuf>,
        /// Skip files that were changed since, and undo the rest.
        #[arg(long)]
        partial: bool,
    },
    /// Make the changes again that were taken back.
    Redo {
        /// The change set's number, or its link.
        id: ChangesId,
    },
}
