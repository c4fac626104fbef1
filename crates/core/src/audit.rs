//! The interface for audit logs.

use crate::sandbox::SandboxRequest;
use crate::{ProfileName, Status, Timestamp};
use serde::{Deserialize, Serialize};
use std::io;

/// Records calls. Implemented by `agent_bash_sink::AuditFile`.
pub trait AuditLog: Send + Sync + std::fmt::Debug {
    /// Records a finished call.
    ///
    /// # Errors
    /// It could not be recorded. The call's result says so.
    fn record(&self, entry: &AuditEntry) -> io::Result<()>;
}

/// The record of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When it was started or refused.
    pub time: Timestamp,
    /// The profile in force.
    pub profile: ProfileName,
    /// On whose behalf.
    pub by: Caller,
    /// SHA-256 of the command as given, in hexadecimal.
    pub command_sha256: String,
    /// Its length in bytes.
    pub command_bytes: u64,
    /// The command itself, if the log is configured to have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The verdict of the checks.
    pub verdict: AuditVerdict,
    /// The rule that blocked it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The box that it asked for instead of the settings', with the reason it gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxRequest>,
    /// How it ended.
    pub status: Status,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
}

/// Who a command runs for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Caller {
    /// A call of the tool.
    Model,
    /// Typed by the user; no checks apply.
    User,
}

/// The verdict of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuditVerdict {
    /// Allowed.
    Allowed,
    /// Blocked.
    Blocked,
    /// Not checked: the request was refused earlier, or no check applies.
    NotAsked,
}
