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
    /// The log could not be written. The call's result then has a notice.
    fn record(&self, entry: &AuditEntry) -> io::Result<()>;
}

/// The audit log's entry of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// The time at which the call was started or refused.
    pub time: Timestamp,
    /// The profile in force.
    pub profile: ProfileName,
    /// The caller.
    pub by: Caller,
    /// SHA-256 of the original command, in hexadecimal.
    pub command_sha256: String,
    /// Length of the command in bytes.
    pub command_bytes: u64,
    /// The command itself, if the log is configured to contain commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The verdict of the checks.
    pub verdict: AuditVerdict,
    /// The rule that blocked the call, or the rule that the user overrode for this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The sandbox that the request asked for, with its reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxRequest>,
    /// How the call ended.
    pub status: Status,
    /// Duration in milliseconds.
    pub duration_ms: f64,
}

/// The caller of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Caller {
    /// A call of the tool.
    Model,
    /// A command that the user typed; no checks apply.
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
