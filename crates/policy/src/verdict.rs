//! Verdicts: allowed, blocked, or unreadable, with the finding that led to the verdict.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use std::path::PathBuf;

use crate::Span;
use crate::group::Group;

/// The checks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// The check for unintended harm.
    #[default]
    Safety,
    /// The check by safe mode's list.
    SafeMode,
    /// The check for a better tool.
    Interceptor,
}

/// A finding of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finding {
    /// The check.
    pub check: Check,
    /// The id of the rule.
    pub rule: String,
    /// The rule's group, for a safety rule.
    pub group: Option<Group>,
    /// The message.
    pub message: String,
    /// The alternative; may be empty.
    pub suggestion: String,
    /// The offending part of the script, in bytes.
    pub span: Span,
    /// The offending words, resolved.
    pub words: Vec<String>,
    /// The paths that a refused script touches: absolute, not normalised. Empty if a path is
    /// unknown, or if the script affects more than files.
    pub paths: Vec<PathBuf>,
    /// The tool to use instead, for the interceptor.
    pub suggested_tool: Option<String>,
}

/// The result of a check.
///
/// Serialised as one flat object: `verdict`, `check`, `rule`, `group`, `message`, `instead` (the
/// suggestion), `span`, `suggested_tool`; fields that do not apply are `null`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// No objection.
    Allow,
    /// The script must not run.
    Block(Finding),
    /// The script could not be parsed completely, and the parsed part has no finding. Safe mode
    /// refuses such a script. If only the safety check reports it, bash prints the error itself.
    Unreadable(Finding),
}

impl Verdict {
    /// Returns the finding, if any.
    pub fn finding(&self) -> Option<&Finding> {
        match self {
            Verdict::Allow => None,
            Verdict::Block(finding) | Verdict::Unreadable(finding) => Some(finding),
        }
    }

    /// True if the script must not be started: blocked, or unreadable in safe mode.
    pub fn refuses(&self) -> bool {
        match self {
            Verdict::Allow => false,
            Verdict::Block(_) => true,
            Verdict::Unreadable(finding) => finding.check == Check::SafeMode,
        }
    }

    /// Returns `allow`, `block` or `unreadable`.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Block(_) => "block",
            Verdict::Unreadable(_) => "unreadable",
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let finding = self.finding();
        let mut out = serializer.serialize_struct("Verdict", 8)?;
        out.serialize_field("verdict", self.name())?;
        out.serialize_field("check", &finding.map(|finding| finding.check))?;
        out.serialize_field("rule", &finding.map(|finding| &finding.rule))?;
        out.serialize_field("group", &finding.and_then(|finding| finding.group))?;
        out.serialize_field("message", &finding.map(|finding| &finding.message))?;
        let instead = finding.map(|finding| &finding.suggestion);
        out.serialize_field("instead", &instead.filter(|text| !text.is_empty()))?;
        out.serialize_field("span", &finding.map(|finding| finding.span))?;
        out.serialize_field(
            "suggested_tool",
            &finding.and_then(|finding| finding.suggested_tool.as_ref()),
        )?;
        out.end()
    }
}
