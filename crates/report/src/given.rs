//! What a host adds to a record: what is still known of changes and jobs.

use agent_bash_core::changes::FileChange;
use agent_bash_core::{JobId, Timestamp};

/// What changed in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diff {
    /// Which one, and what was done to it.
    pub file: FileChange,
    /// A unified diff, if there is one.
    pub text: Option<String>,
    /// What else is to be said: it is binary, its mode changed.
    pub note: Option<String>,
}

impl Diff {
    /// A file of which no more is known.
    pub fn of(file: FileChange) -> Self {
        Self {
            file,
            text: None,
            note: None,
        }
    }
}

/// Something that was done with the changes of a call after it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deed {
    /// When.
    pub at: Timestamp,
    /// In a few words: `committed`, `undone but for src/a.rs`.
    pub what: String,
}

impl Deed {
    /// That was done at this time.
    pub fn new(at: Timestamp, what: impl Into<String>) -> Self {
        let what = what.into();
        Self { at, what }
    }
}

/// A background job.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobLine {
    /// Its number in the session.
    pub id: JobId,
    /// In a few words: `running`, `exited with code 0`.
    pub state: String,
    /// Whether it has not ended.
    pub is_running: bool,
    /// Whether it ended otherwise than with exit code 0.
    pub failed: bool,
    /// The file that has its output.
    pub output: Option<String>,
}

impl JobLine {
    /// A job in this state, of which no more is known.
    pub fn new(id: JobId, state: impl Into<String>) -> Self {
        Self {
            id,
            state: state.into(),
            is_running: false,
            failed: false,
            output: None,
        }
    }
}
