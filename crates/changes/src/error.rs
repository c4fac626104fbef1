//! Errors of change sets.

use agent_bash_core::changes::{ChangesAct, ChangesId, FileName};
use std::io;
use std::path::{Path, PathBuf};

/// Why an operation failed. Unless the text says otherwise, the tree is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangesError {
    /// A system call failed.
    #[error("{what} `{}`: {error}", path.display())]
    Io {
        /// The operation, such as "opening".
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The store and the directory to record contain each other.
    #[error(
        "changes to `{}` would be stored in `{}`, but one of these directories contains the other; choose another state directory or another root",
        root.display(), store.display()
    )]
    StoreInsideRoot {
        /// The directory to record.
        root: PathBuf,
        /// The directory of the store.
        store: PathBuf,
    },
    /// The name is not usable as a directory name.
    #[error(
        "`{0}` cannot name a session: letters, digits, `-`, `_` and `.` can, and it must not begin with a dot"
    )]
    SessionName(String),
    /// The change set does not exist.
    #[error(
        "changes {id} do not exist in this state directory; they never did, or were removed since"
    )]
    Unknown {
        /// The number of the change set.
        id: ChangesId,
    },
    /// The change set is in use.
    #[error("changes {id} belong to a command that is still running; wait for it or end it")]
    Running {
        /// The number of the change set.
        id: ChangesId,
    },
    /// The state of the change set does not allow the operation.
    #[error("{}", act.refusal(*id, why))]
    State {
        /// The number of the change set.
        id: ChangesId,
        /// The operation.
        act: ChangesAct,
        /// The state, and what can be done.
        why: &'static str,
    },
    /// Another process changed these files. Nothing was changed.
    #[error("changes {id} cannot be applied: `{}` was changed by another process meanwhile{}", first(.conflicts), others(.conflicts))]
    Conflict {
        /// The number of the change set.
        id: ChangesId,
        /// The conflicting files.
        conflicts: Vec<FileName>,
        /// The number of files without a conflict.
        without_conflict: u64,
    },
    /// Several change sets cannot be undone or redone as one. Nothing was changed.
    #[error("nothing was {}: {}", inverted(*redo), obstacle(.obstacles))]
    Group {
        /// True for a redo.
        redo: bool,
        /// The conflicts and the blocked change sets.
        obstacles: Box<GroupConflicts>,
    },
    /// One of several undos or redos failed. The earlier ones were reverted.
    #[error("the undo or redo of changes {id} failed: {why}{}", remaining_text(.remaining))]
    GroupFailed {
        /// The change set that failed.
        id: ChangesId,
        /// The failure.
        why: String,
        /// Change sets whose undo or redo could not be reverted.
        remaining: Vec<ChangesId>,
    },
    /// The scope has no change set to undo or redo.
    #[error("nothing was {}: there are no such changes", inverted(*redo))]
    NothingInScope {
        /// True for a redo.
        redo: bool,
    },
    /// No turn was recorded.
    #[error(
        "no turns are recorded; the hook of `agent-bash hook --install` records the prompts of an agent's user"
    )]
    NoTurns,
    /// The text cannot name a turn.
    #[error("`{}` cannot name a turn: 1 to 100 printable ASCII characters without spaces can, but not `last`", .0.escape_debug())]
    TurnName(String),
    /// The root of the change set was replaced.
    #[error("`{}` was replaced by another directory; nothing was done", root.display())]
    Replaced {
        /// The path of the root.
        root: PathBuf,
    },
    /// Part of the root is on another device, where a trial cannot hold changes back.
    #[error(
        "`{}` is on another device than `{}`, such as a subvolume, where a trial cannot hold changes back",
        path.display(), root.display()
    )]
    OtherDevice {
        /// The root.
        root: PathBuf,
        /// The directory below it.
        path: PathBuf,
    },
    /// The change set does not contain this path.
    #[error("changes {id} did nothing to `{}`; `changes show {id}` lists what they did", path.display())]
    NotInSet {
        /// The number of the change set.
        id: ChangesId,
        /// The requested path.
        path: PathBuf,
    },
    /// Another process changed a file during the operation, or the operation failed, and the
    /// rollback failed as well.
    #[error(
        "changes {id} were applied in part only: {why}; `changes show {id}` names what was left"
    )]
    Partly {
        /// The number of the change set.
        id: ChangesId,
        /// The first failure.
        why: String,
    },
    /// The disk is full, so that the state of the trial could not be written.
    #[error(
        "nothing of the trial was applied, and its changes are discarded, because they could not be stored: {why}"
    )]
    NotHeld {
        /// The error of the system.
        why: String,
    },
    /// The preimages exceed the limit.
    #[error("the preimages of this call exceed {limit} MiB; no more are stored for it")]
    PreimageLimit {
        /// The limit in MiB.
        limit: u64,
    },
    /// The directory has too many files for a scan.
    #[error("`{}` has more files than a scan can read in time ({scanned} read)", root.display())]
    TooManyFiles {
        /// The directory.
        root: PathBuf,
        /// The number of scanned files.
        scanned: usize,
    },
    /// A stored file is invalid.
    #[error("`{}` is damaged: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why the file is invalid.
        why: &'static str,
    },
}

/// Why several change sets were not undone or redone. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupConflicts {
    /// The files that were changed since, by change set.
    pub conflicts: Vec<(ChangesId, Vec<FileName>)>,
    /// Change sets that cannot be undone or redone, each with the reason.
    pub blocked: Vec<(ChangesId, String)>,
}

fn inverted(redo: bool) -> &'static str {
    if redo { "redone" } else { "undone" }
}

fn obstacle(obstacles: &GroupConflicts) -> String {
    let others = |count: usize| match count {
        0 | 1 => String::new(),
        more => format!(" (and {} more)", more - 1),
    };
    let total = obstacles.conflicts.iter().map(|(_, files)| files.len());
    let total = total.sum::<usize>() + obstacles.blocked.len();
    let text = match (obstacles.conflicts.first(), obstacles.blocked.first()) {
        (Some((id, files)), _) => {
            let file = first(files);
            format!("`{file}` of changes {id} was changed by another process meanwhile")
        }
        (None, Some((_, why))) => why.clone(),
        (None, None) => String::new(),
    };
    format!("{text}{}", others(total))
}

fn remaining_text(remaining: &[ChangesId]) -> String {
    if remaining.is_empty() {
        return "; the files are as they were before".to_owned();
    }
    let ids: Vec<String> = remaining.iter().map(ChangesId::to_string).collect();
    let ids = ids.join(", ");
    format!("; changes {ids} before it stay undone or redone; `changes list` shows which")
}

fn first(conflicts: &[FileName]) -> String {
    let name = conflicts.first().map(|name| name.path.as_str());
    agent_bash_core::visible::one_line(name.unwrap_or_default()).into_owned()
}

fn others(conflicts: &[FileName]) -> String {
    match conflicts.len() {
        0 | 1 => String::new(),
        more => format!(", and so were {} others", more - 1),
    }
}

impl ChangesError {
    /// Returns a function that converts an I/O error.
    pub(crate) fn io(what: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |error| Self::Io { what, path, error }
    }

    /// Returns a function that converts an error of rustix.
    pub(crate) fn errno(
        what: &'static str,
        path: impl AsRef<Path>,
    ) -> impl FnOnce(rustix::io::Errno) -> Self {
        let path = path.as_ref().to_owned();
        move |error| Self::Io {
            what,
            path,
            error: error.into(),
        }
    }
}
