//! Why a call ended before anything was started: one variant per stage that can refuse.
//!
//! The text around a refusal depends on the profile and is written by its tool.

use agent_bash_core::sandbox::SandboxLevel;
use agent_bash_core::{NotStarted, RequestError, Status};
use agent_bash_policy::{Check, Finding, Span};
use std::path::PathBuf;

/// A stage's refusal. Nothing of the script has run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The request is invalid.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A rule of the policy refused the command.
    #[error(transparent)]
    Rule(#[from] RuleRefusal),
    /// The host refused the command.
    #[error(transparent)]
    Denied(#[from] ApprovalDenied),
    /// The call asked for more than the sandbox allows, and the request was not approved.
    #[error("{0}")]
    Escalation(String),
    /// The call's sandbox cannot be provided.
    #[error(transparent)]
    NotSandboxed(#[from] NotSandboxed),
    /// The working directory is unusable.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The request asks for a feature that this tool does not offer.
    #[error("{0}")]
    NotOffered(&'static str),
    /// There is no shell, or it could not be started.
    #[error(transparent)]
    NotStarted(#[from] NotStarted),
    /// Cancelled before it was started.
    #[error("cancelled before it was started")]
    Cancelled,
}

/// The host denied the command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct ApprovalDenied {
    /// The host's reason.
    pub reason: String,
}

/// A call was not run because its sandbox cannot be provided; docs/sandbox.md fixes the texts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSandboxed {
    /// The system cannot enforce the sandbox.
    #[error(
        "This call was not run: the sandbox `{level}` needs {what}, which this system lacks. `agent-bash doctor` says more."
    )]
    Lacks {
        /// The requested level.
        level: SandboxLevel,
        /// The missing means.
        what: String,
    },
    /// The system cannot enforce the sandbox, and safe mode needs one.
    #[error(
        "This call was not run: safe mode runs commands in the sandbox `read_only`, but {0}. `agent-bash doctor` says more. What the text of a command alone can promise is safe mode `listed` (--safe-mode=listed, safe_mode.level)."
    )]
    SafeMode(String),
    /// The system can enforce the sandbox, but setting it up failed.
    #[error("This call was not run: {0}. `agent-bash doctor` says more.")]
    Failed(String),
    /// The settings contradict each other or the file system.
    #[error("This call was not run: {0}.")]
    NoPlan(String),
}

/// The working directory is unusable; docs/contract.md fixes the texts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// The directory does not exist.
    #[error("Working directory does not exist: {}", .0.display())]
    Missing(PathBuf),
    /// The path is not a directory.
    #[error("Working directory is not a directory: {}", .0.display())]
    NotADirectory(PathBuf),
    /// The directory could not be examined.
    #[error("Working directory is not accessible: {}: {reason}", path.display())]
    Unreadable {
        /// The directory's path.
        path: PathBuf,
        /// The system's error.
        reason: String,
    },
}

/// A rule of the policy that refused a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", self.detail())]
#[non_exhaustive]
pub struct RuleRefusal {
    /// Id of the rule.
    pub rule: String,
    /// The rule's sentence.
    pub message: String,
    /// The reason, for a refusal by safe mode; the alternative, for a refusal by a user's rule.
    pub reason: Option<String>,
    /// The tool to use instead, if the rule names one.
    pub suggested_tool: Option<String>,
    /// The explanation for the user.
    pub explanation: Box<Explanation>,
}

/// The explanation of a refusal for the user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// The suggested alternative.
    pub instead: Option<String>,
    /// The refused part of the command, in bytes. `None` if the command was changed before the
    /// check.
    pub span: Option<Span>,
    /// The refused paths, as in [`Finding::paths`].
    pub paths: Vec<PathBuf>,
    /// True if the command may run as a trial, in a call without a persistent shell or a terminal.
    pub can_be_tried: bool,
    /// True if the refusal offers the model a trial.
    pub offers_trial: bool,
    /// The code by which the user can allow the command: `agent_bash::exceptions`.
    pub code: Option<String>,
}

impl RuleRefusal {
    /// Returns the refusal with its span, which is in the text `parsed`, mapped to the command
    /// `original`. The span is dropped if the texts differ in more than white space at the start.
    #[must_use]
    pub fn with_span_in(mut self, original: &str, parsed: &str) -> Self {
        let indent = original.len() - original.trim_start().len();
        let moved = |span: Span| {
            let offset = [0, indent].into_iter().find(|offset| {
                let part = original.get(*offset..offset + span.end);
                part.is_some() && part == parsed.get(..span.end)
            });
            offset.map(|offset| Span {
                start: span.start + offset,
                end: span.end + offset,
            })
        };
        self.explanation.span = self.explanation.span.and_then(moved);
        self
    }

    /// Returns the reason and the offer of a trial, each on a separate line.
    fn detail(&self) -> String {
        let mut text = String::new();
        for line in self.reason.as_deref().into_iter().chain(self.offer()) {
            text.push('\n');
            text.push_str(line);
        }
        text
    }

    /// Returns a line that tells the user how to allow the command, if the refusal has a code. The
    /// text for the model is fixed and does not have this line.
    pub fn allow_hint(&self) -> Option<String> {
        self.explanation.code.as_deref().map(allow_line)
    }

    /// Returns the offer of a trial, if the refusal has one.
    pub fn offer(&self) -> Option<&'static str> {
        self.explanation.offers_trial.then_some(TRIAL_OFFER)
    }
}

impl From<Finding> for RuleRefusal {
    fn from(finding: Finding) -> Self {
        // Safe mode has the same message for all commands, so the suggestion is the reason. The
        // messages of the other built-in rules contain the alternative.
        let suggestion = Some(finding.suggestion).filter(|text| !text.is_empty());
        let (reason, instead) = match finding.check {
            Check::SafeMode => (suggestion, None),
            // A rule of the user has no group.
            Check::Safety if finding.group.is_none() => {
                let line = suggestion.as_ref().map(|text| format!("Instead: {text}"));
                (line, suggestion)
            }
            _ => (None, suggestion),
        };
        Self {
            reason,
            explanation: Box::new(Explanation {
                instead,
                span: Some(finding.span),
                paths: finding.paths,
                can_be_tried: false,
                offers_trial: false,
                code: None,
            }),
            rule: finding.rule,
            message: finding.message,
            suggested_tool: finding.suggested_tool,
        }
    }
}

/// Returns a line that tells the user how to allow a refused command.
pub fn allow_line(code: &str) -> String {
    format!("The user can allow it once, on a terminal: agent-bash allow {code}")
}

/// The offer of a trial in a refusal.
const TRIAL_OFFER: &str = r#"Or see what it would do: {"trial": true}"#;

/// The `rule` of a refusal by the host.
pub const APPROVAL_RULE: &str = "approval";

/// The `rule` of a refusal to leave the sandbox.
pub const ESCALATION_RULE: &str = "sandbox_escalation";

impl Refusal {
    /// Returns the status of the refused call.
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
            Self::Escalation(_) => Status::Blocked {
                rule: ESCALATION_RULE.to_owned(),
                suggested_tool: None,
            },
            Self::Cancelled => Status::Cancelled,
            Self::Request(_)
            | Self::Directory(_)
            | Self::NotOffered(_)
            | Self::NotSandboxed(_)
            | Self::NotStarted(_) => Status::NotStarted {
                reason: self.to_string(),
            },
        }
    }
}
