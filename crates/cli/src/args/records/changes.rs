//! `agent-bash changes`.

use crate::args::values::session_name;
use agent_bash::change_sets::{ChangesScope, LAST_TURN};
use agent_bash::core::Timestamp;
use agent_bash::core::changes::ChangesId;
use agent_bash::{Since, scope_of_turn};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Relative paths start at the working directory if it is inside the changed tree, else at the top of
that tree. Exit code 1: nothing was done, because another process changed the files or the change
set does not exist.

Without --state, the command reads the state of `agent-bash run` (`cli`) or of the agent
conversation that was last recorded in this project (`agent-bash shell`), whichever has the newer
change set. The conversation is named on stderr. If both have a change set with that number, commit,
discard, undo and redo do nothing: choose one with --state.

  agent-bash run --trial 'rm -rf src'        what would it do?
  agent-bash changes diff 7                  show its changes
  agent-bash changes commit 7                make them
  agent-bash changes undo 7 src/main.rs      undo the change of one file
  agent-bash changes undo --since 41         undo changes 41 and all later ones
  agent-bash changes undo --turn             undo what the agent did since the last prompt")]
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
    /// Returns the change set of an action that changes files; `None` for an action that only
    /// reads.
    pub(crate) fn modified_set(&self) -> Option<ChangesId> {
        match self {
            Self::Commit { id } | Self::Discard { id } => Some(*id),
            Self::Undo { id, several, .. } | Self::Redo { id, several } => {
                id.or(match several.since {
                    Some(Since::From(id)) => Some(id),
                    _ => None,
                })
            }
            Self::List | Self::Show { .. } | Self::Diff { .. } => None,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChangesAction {
    /// List the stored change sets, oldest first.
    List,
    /// Print which files a change set changed, or would change.
    Show {
        /// The change set's number, or its link (`changes://7`).
        id: ChangesId,
        /// Print only the files' names, each with a NUL after it.
        #[arg(short = 'z', conflicts_with = "json")]
        names: bool,
    },
    /// Print a change set as a unified diff.
    Diff {
        /// The change set's number, or its link.
        id: ChangesId,
        /// Only these files, and the files below these directories.
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
    /// Undo a change set.
    Undo {
        /// The change set's number, or its link.
        #[arg(required_unless_present_any = ["since", "turn_name"])]
        id: Option<ChangesId>,
        /// Only these files, and the files below these directories.
        paths: Vec<PathBuf>,
        /// Skip files that were changed since, and undo the rest.
        #[arg(long)]
        partial: bool,
        #[command(flatten)]
        several: SeveralArgs,
    },
    /// Redo a change set that was undone.
    Redo {
        /// The change set's number, or its link.
        #[arg(required_unless_present_any = ["since", "turn_name"])]
        id: Option<ChangesId>,
        #[command(flatten)]
        several: SeveralArgs,
    },
}

/// Several change sets: all are undone or redone, or none.
#[derive(Debug, Args)]
pub(crate) struct SeveralArgs {
    /// All change sets from this one on, or of a period until now (such as `10m`).
    #[arg(long, value_name = "ID|TIME", conflicts_with_all = ["id", "turn_name"])]
    pub(crate) since: Option<Since>,

    /// All change sets of one turn of an agent: the last turn, or a turn that `changes list` names.
    #[arg(
        long = "turn",
        value_name = "TURN",
        num_args = 0..=1,
        default_missing_value = LAST_TURN,
        conflicts_with = "id"
    )]
    pub(crate) turn_name: Option<String>,
}

impl SeveralArgs {
    /// Returns the selected change sets; `None` if the command names a single one.
    pub(crate) fn scope(&self, now: Timestamp) -> Option<ChangesScope> {
        let since = self.since.map(|since| since.scope(now));
        since.or_else(|| self.turn_name.as_deref().map(scope_of_turn))
    }
}
