//! [`Entry`]: what is kept of a call.

use agent_bash_core::{Caller, Mode, ProfileName, SessionName, ToolResult};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How much is kept.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum JournalLevel {
    /// Nothing.
    #[default]
    Off,
    /// Commands and how they ended, but not what they printed.
    Metadata,
    /// What they printed, too: the beginning and the end of it.
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
pub struct Entry {
    /// Who asked for it.
    pub by: Caller,
    /// No model gets to see it: typed behind `!!`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub excluded_from_context: bool,
    /// The profile in force.
    pub profile: ProfileName,
    /// The script as given.
    pub command: String,
    /// What the model says that it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The mode that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The persistent shell that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionName>,
    /// What was objected to; nothing ran then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objection: Option<Objection>,
    /// It asked to leave the sandbox, or for more than that allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalation: Option<Escalation>,
    /// What came of it. Its text is empty unless the level is [`JournalLevel::Full`].
    pub result: ToolResult,
    /// What it printed, raw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<Printed>,
    /// Values that are hidden besides what looks like a secret. They are not recorded.
    #[serde(skip)]
    pub secrets: Vec<String>,
}

impl Entry {
    /// What stands before a line of the user's own, as it was typed: `!`, or `!!` if no model gets to see it.
    pub fn bang(&self) -> &'static str {
        match self.by {
            Caller::User if self.excluded_from_context => "!!",
            Caller::User => "!",
            _ => "",
        }
    }

    /// A call of which only this is known.
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
pub struct Objection {
    /// The sentence.
    pub message: String,
    /// What to do instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    /// The part of the command that led to it, in bytes: `[start, end)`. It is where it was when the command was read:
    /// nothing, if hiding a secret has moved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<[usize; 2]>,
}

/// A call that asked for more than the sandbox allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Escalation {
    /// Why, as the agent says.
    pub reason: String,
    /// The answer; nothing if nobody gave one, as the call was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<bool>,
    /// What was said to a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
}

/// The beginning and the end of an output, with its escape sequences. What is not UTF-8 is replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Printed {
    /// The beginning; all of it, if nothing is left out.
    pub head: String,
    /// Bytes left out between the two.
    #[serde(default)]
    pub left_out: u64,
    /// The end.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
}
