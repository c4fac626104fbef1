//! The answer: allowed, blocked, or not readable, with what decided it.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::{Group, Span};

/// Which of the three questions was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// Would it do harm nobody meant.
    Safety,
    /// Is it on the list of what may run at all.
    SafeMode,
    /// Whether another tool is better suited.
    Interceptor,
}

/// What decided against a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The question that was asked.
    pub check: Check,
    /// The rule, by its id.
    pub rule: String,
    /// The rule's group, for a safety rule.
    pub group: Option<Group>,
    /// The sentence to show.
    pub message: String,
    /// How to say it so that it passes; may be empty.
    pub suggestion: String,
    /// Where in the script, in bytes.
    pub span: Span,
    /// The words that decided, as they were resolved.
    pub words: Vec<String>,
    /// For the interceptor: the tool to use instead.
    pub suggested_tool: Option<String>,
}

/// The answer to one question about a script.
///
/// Serialised as one flat object: `verdict`, `check`, `rule`, `group`, `message`, `instead` (the suggestion), `span`,
/// `suggested_tool`; what does not apply is `null`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing speaks against it.
    Allow,
    /// It must not run as it is.
    Block(Finding),
    /// It could not be read to its end, and nothing in what could be read speaks against it. Safe mode
    /// refuses such a script; where only the safety checks say so, bash will report the error itself.
    Unreadable(Finding),
}

impl Verdict {
    /// What decided, if anything did.
    pub fn finding(&self) -> Option<&Finding> {
        match self {
            Verdict::Allow => None,
            Verdict::Block(finding) | Verdict::Unreadable(finding) => Some(finding),
        }
    }

    /// Whether the script must not be started: blocked, or unreadable in safe mode.
    pub fn refuses(&self) -> bool {
        match self {
            Verdict::Allow => false,
            Verdict::Block(_) => true,
            Verdict::Unreadable(finding) => finding.check == Check::SafeMode,
        }
    }

    /// `allow`, `block` or `unreadable`.
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
