//! What can go wrong with sets.

use agent_bash_core::changes::{ChangesId, FileName};
use std::io;
use std::path::{Path, PathBuf};

/// Why nothing was done. Unless the text says otherwise, the tree is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangesError {
    /// A system call failed.
    #[error("{what} `{}`: {error}", path.display())]
    Io {
        /// What was being done, such as "opening".
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The store would be looked at as a part of what it keeps.
    #[error(
        "changes to `{}` would be kept in `{}`, which is within it; put the state directory elsewhere, or choose another root",
        root.display(), store.display()
    )]
    Within {
        /// The directory that is looked at.
        root: PathBuf,
        /// Where sets are kept.
        store: PathBuf,
    },
    /// The name of a session cannot be one of a directory.
    #[error(
        "`{0}` cannot name a session: letters, digits, `-`, `_` and `.` can, and it must not begin with a dot"
    )]
    Session(String),
    /// There is no such set.
    #[error(
        "there is no set of changes {id} in this session; it was never there, or has been removed since"
    )]
    Unknown {
        /// Its number.
        id: ChangesId,
    },
    /// It is in use.
    #[error(
        "changes {id} are still being made: what they are of runs; wait for its end, or end it"
    )]
    Running {
        /// Its number.
        id: ChangesId,
    },
    /// It is in a state in which that cannot be done with it.
    #[error("changes {id} cannot be {wanted}: {why}")]
    State {
        /// Its number.
        id: ChangesId,
        /// "committed", "undone" …
        wanted: &'static str,
        /// What it is, and what can be done.
        why: String,
    },
    /// Somebody else has changed these files; nothing at all was done.
    #[error("changes {id} cannot be applied: `{}` was changed by somebody else meanwhile{}", first(.conflicts), others(.conflicts))]
    Conflict {
        /// Its number.
        id: ChangesId,
        /// The files.
        conflicts: Vec<FileName>,
        /// How many files of the set could be done without them.
        free: u64,
    },
    /// What the set's root was is not there any more.
    #[error("`{}` is not the directory any more that it was; nothing was done", root.display())]
    Replaced {
        /// Its path.
        root: PathBuf,
    },
    /// A path that was asked for is none of the set's.
    #[error("changes {id} did nothing to `{}`; `changes show {id}` lists what they did", path.display())]
    NotInSet {
        /// The set's number.
        id: ChangesId,
        /// The path as given.
        path: PathBuf,
    },
    /// Somebody changed a file while changes were being applied, or an operation failed, and taking back what had been
    /// done until then failed as well.
    #[error(
        "changes {id} were applied in part only: {why}; `changes show {id}` names what was left"
    )]
    Partly {
        /// The set's number.
        id: ChangesId,
        /// The first failure.
        why: String,
    },
    /// There is no room even to say that a trial's changes are held.
    #[error(
        "nothing of the trial was applied, and its changes are discarded, as they could not be kept: {why}"
    )]
    NotHeld {
        /// What the system said.
        why: String,
    },
    /// What is kept is larger than it may be.
    #[error("more than {limit} MiB would have to be kept; nothing more is kept for this call")]
    TooMuch {
        /// The limit.
        limit: u64,
    },
    /// A directory is too large to be compared with what it was.
    #[error("`{}` has more files than can be looked through in time ({seen} were)", root.display())]
    TooManyFiles {
        /// The directory.
        root: PathBuf,
        /// How many files were looked at.
        seen: usize,
    },
    /// What is on disk makes no sense.
    #[error("`{}` is damaged: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
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
    /// The error of a system call.
    pub(crate) fn io(what: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |error| Self::Io { what, path, error }
    }

    /// The same of rustix.
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
