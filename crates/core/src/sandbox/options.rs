//! Enumerations of the sandbox settings.

use serde::{Deserialize, Serialize};

/// The policy on a system that cannot enforce an optional promise of the sandbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LackingPolicy {
    /// Calls run, and their results name the promises that are not enforced.
    #[default]
    Accept,
    /// Calls are refused.
    Refuse,
}

/// The temporary directory that may be written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TmpDirectory {
    /// A separate directory for each call.
    #[default]
    #[serde(rename = "own")]
    Private,
    /// `/tmp`, which processes outside the sandbox read and write, too.
    Shared,
}

/// The policy for a call that asks for more than the settings allow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Escalation {
    /// The request is refused.
    #[default]
    Never,
    /// The host's approver decides.
    Ask,
}
