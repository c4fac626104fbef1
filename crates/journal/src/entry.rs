//! [`JournalEntry`]: the record of one call.

use agent_bash_core::{Caller, Mode, ProfileName, SessionName, ToolResult};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The amount of data that the journal records.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum JournalLevel {
    /// Nothing is recorded.
    #[default]
    Off,
    /// Commands and how they ended, without output.
    Metadata,
    /// The call, and the beginning and the end of its output.
    Full,
}

impl fmt::Display for JournalLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Metadata => "metadata",
            Self::Full => "full",
        })
    }
}

/// A call that has ended, or was refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JournalEntry {
    /// The caller.
    pub by: Caller,
    /// True if the model does not see the command, because the user typed it after `!!`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub excluded_from_context: bool,
    /// The profile in force.
    pub profile: ProfileName,
    /// The script as the caller passed it, with secrets masked.
    pub command: String,
    /// The model's description of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The requested mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The name of the requested persistent shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionName>,
    /// The reason, if the call was refused and nothing ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objection: Option<RefusalEntry>,
    /// The request for more than the sandbox allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalation: Option<Escalation>,
    /// The result. Its text is empty unless the level is [`JournalLevel::Full`].
    pub result: ToolResult,
    /// The output with its escape sequences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<PrintedOutput>,
    /// Values to mask in the other fields, besides recognised secrets. These values are not
    /// recorded.
    #[serde(skip)]
    pub secrets: Vec<String>,
}

impl JournalEntry {
    /// Returns the prefix of a line that the user typed: `!`, or `!!` if the model does not see the
    /// command. Empty for a call of the model.
    pub fn bang(&self) -> &'static str {
        match self.by {
            Caller::User if self.excluded_from_context => "!!",
            Caller::User => "!",
            _ => "",
        }
    }

    /// Returns an entry with these fields; all others are empty.
    pub fn new(
        by: Caller,
        profile: ProfileName,
        command: impl Into<String>,
        result: ToolResult,
    ) -> Self {
        Self {
            by,
            excluded_from_context: false,
            profile,
            command: command.into(),
            description: None,
            mode: None,
            session: None,
            objection: None,
            escalation: None,
            result,
            printed: None,
            secrets: Vec::new(),
        }
    }
}

/// Why a call was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusalEntry {
    /// The reason as a sentence.
    pub message: String,
    /// The alternative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    /// The byte range `[start, end)` of the command that caused the refusal. Absent if masking a
    /// secret moved this range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<[usize; 2]>,
}

/// A call that asked for more than the sandbox allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Escalation {
    /// The agent's reason.
    pub reason: String,
    /// The user's decision; absent if the call was cancelled before the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<bool>,
    /// The user's comment on a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// The beginning and the end of an output with its escape sequences. Bytes that are not UTF-8 are
/// replaced by U+FFFD.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrintedOutput {
    /// The beginning, or the whole output if it is short.
    pub head: String,
    /// Number of omitted bytes between beginning and end.
    #[serde(default)]
    pub omitted_bytes: u64,
    /// The end.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
}
