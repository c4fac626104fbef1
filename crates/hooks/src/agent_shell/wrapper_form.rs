//! The form of the script in which an agent wraps the model's text. The templates are shell text
//! with placeholders.

use super::template::FileForm;
use agent_bash_syntax::ast::Link;

/// The wrapper of an agent, as recorded from one version of the agent.
#[derive(Debug)]
pub(crate) struct Wrapper {
    pub(crate) agent: &'static str,
    /// The placeholders for files in the templates, and the names of these files.
    pub(crate) files: &'static [FileForm],
    /// A text that each script with this wrapper contains.
    pub(crate) marker: &'static str,
    /// The operator between the parts.
    pub(crate) link: Link,
    pub(crate) parts: &'static [WrapperPart],
}

/// A part of a wrapper. Each of the alternative `forms` is a template.
#[derive(Debug)]
pub(crate) struct WrapperPart {
    pub(crate) forms: &'static [&'static str],
    pub(crate) is_optional: bool,
}

/// Returns a part that each wrapper of the agent has.
pub(crate) const fn required(forms: &'static [&'static str]) -> WrapperPart {
    WrapperPart {
        forms,
        is_optional: false,
    }
}

/// Returns a part that a wrapper may lack.
pub(crate) const fn optional(forms: &'static [&'static str]) -> WrapperPart {
    WrapperPart {
        forms,
        is_optional: true,
    }
}
