//! What a host adds to a record: what is still known of changes and jobs.

use agent_bash_core::JobId;

/// What changed in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    /// Its name; with the former one, if it was renamed.
    pub name: String,
    /// A unified diff, if there is one.
    pub text: Option<String>,
    /// What else is to be said: it is binary, its mode changed.
    pub note: Option<String>,
}

/// A background job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobLine {
    /// Its number in the session.
    pub id: JobId,
    /// In a few words: `running`, `exit 0`.
    pub state: String,
}
