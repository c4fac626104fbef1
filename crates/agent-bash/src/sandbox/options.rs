//! Options of the sandbox settings.

use serde::{Deserialize, Serialize};

/// The policy if an optional promise cannot be enforced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LackingPolicy {
    /// Calls run, and the result says what is missing.
    #[default]
    Accept,
    /// Calls are refused.
    Refuse,
}

/// The temporary directory that may be written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TmpDirectory {
    /// A directory of the call's own.
    #[default]
    #[serde(rename = "own")]
    Private,
    /// `/tmp`, which other processes read and write too.
    Shared,
}

/// The policy for a call that asks for more than the settings allow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Escalation {
    /// The request is refused.
    #[default]
    Never,
    /// The host's [`Approver`](crate::Approver) decides.
    Ask,
}
