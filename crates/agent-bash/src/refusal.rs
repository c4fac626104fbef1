//! Why a call ended before anything was started: one variant a stage that can refuse.
//!
//! The texts around a refusal differ between profiles and are written by [`crate::layout`].

use crate::approval::Denied;
use agent_bash_core::{NotStarted, RequestError, Status};
use agent_bash_policy::{Check, Finding};
use std::path::PathBuf;

/// A stage's refusal. Nothing of the script has run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// The request was not understood.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A rule of the policy refused the command.
    #[error(transparent)]
    Rule(#[from] RuleRefusal),
    /// The host refused the command.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// The working directory is none.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The request asks for something that this tool does not offer.
    #[error("{0}")]
    NotOffered(&'static str),
    /// No shell, or the shell could not be started.
    #[error(transparent)]
    NotStarted(#[from] NotStarted),
    /// The caller called it off before it was started.
    #[error("cancelled before it was started")]
    Cancelled,
}

/// The working directory is none; its texts are fixed by docs/contract.md.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DirectoryError {
    /// Nothing is there.
    #[error("Working directory does not exist: {}", .0.display())]
    Missing(PathBuf),
    /// Something else is there.
    #[error("Working directory is not a directory: {}", .0.display())]
    NotADirectory(PathBuf),
    /// The system would not say.
    #[error("Working directory is not accessible: {}: {reason}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
}

/// A rule of the policy that refused a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", self.detail())]
pub struct RuleRefusal {
    /// Id of the rule.
    pub rule: String,
    /// The rule's sentence.
    pub message: String,
    /// What of the command safe mode did not let pass, and what it does.
    pub reason: Option<String>,
    /// The tool to use instead, where the rule names one.
    pub suggested_tool: Option<String>,
}

impl RuleRefusal {
    /// The reason on a line of its own.
    fn detail(&self) -> String {
        match &self.reason {
            Some(reason) => format!("\n{reason}"),
            None => String::new(),
        }
    }
}

impl From<Finding> for RuleRefusal {
    fn from(finding: Finding) -> Self {
        // The sentence of safe mode is one for all; a rule's says itself what is wrong.
        let reason = (finding.check == Check::SafeMode && !finding.suggestion.is_empty())
            .then_some(finding.suggestion);
        Self {
            reason,
            rule: finding.rule,
            message: finding.message,
            suggested_tool: finding.suggested_tool,
        }
    }
}

/// The `rule` of a refusal by the host.
pub const APPROVAL_RULE: &str = "approval";

impl Refusal {
    /// How the call ended.
    pub fn status(&self) -> Status {
        match self {
            Self::Rule(rule) => Status::Blocked {
                rule: rule.rule.clone(),
                suggested_tool: rule.suggested_tool.clone(),
            },
            Self::Denied(_) => Status::Blocked {
                rule: APPROVAL_RULE.to_owned(),
                suggested_tool: None,
            },
            Self::Cancelled => Status::Cancelled,
            Self::Request(_) | Self::Directory(_) | Self::NotOffered(_) | Self::NotStarted(_) => {
                Status::NotStarted {
                    reason: self.to_string(),
                }
            }
        }
    }
}
