//! The seam to whoever keeps a record of what was run.

use crate::{ProfileName, Status, Timestamp};
use serde::{Deserialize, Serialize};
use std::io;

/// Keeps a record of calls. Implemented by `agent_bash_sink::AuditFile`.
pub trait AuditLog: Send + Sync + std::fmt::Debug {
    /// Adds a call that is over.
    ///
    /// # Errors
    /// It was not kept. The call's result says so.
    fn record(&self, entry: &AuditEntry) -> io::Result<()>;
}

/// One call, as it is recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When it was started, or refused.
    pub time: Timestamp,
    /// The profile in force.
    pub profile: ProfileName,
    /// On whose behalf.
    pub by: Caller,
    /// SHA-256 of the command as it was given, in hexadecimal digits.
    pub command_sha256: String,
    /// Its length in bytes.
    pub command_bytes: u64,
    /// The command, where the log is to have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What the checks said.
    pub verdict: AuditVerdict,
    /// The rule that blocked it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// How it ended.
    pub status: Status,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
}

/// On whose behalf a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Caller {
    /// A call of the tool.
    Model,
    /// Typed by the user, so that no check applies.
    User,
}

/// What the checks said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuditVerdict {
    /// It may run.
    Allowed,
    /// It may not.
    Blocked,
    /// They were not asked: the request was refused before, or no check applies.
    NotAsked,
}
