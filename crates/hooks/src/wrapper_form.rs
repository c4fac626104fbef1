//! The form of the script in which an agent wraps the model's text. The templates are shell text
//! with placeholders.

use agent_bash_syntax::ast::Link;

/// A placeholder for the path of a file that the agent has created.
#[derive(Debug)]
pub(crate) struct FileForm {
    /// The word in the template.
    pub(crate) placeholder: &'static str,
    /// The beginning of the directory's name.
    pub(crate) directory: &'static str,
    /// The beginning of the file's name.
    pub(crate) prefix: &'static str,
    /// The end of the file's name.
    pub(crate) suffix: &'static str,
    /// True if the wrapper writes the file.
    pub(crate) is_written: bool,
}

impl FileForm {
    /// True if the agent creates files with paths of this form.
    pub(crate) fn matches(&self, path: &str) -> bool {
        let Some(path) = path.strip_prefix('/') else {
            return false;
        };
        let is_plain = path
            .split('/')
            .all(|component| !matches!(component, "" | "." | ".."));
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let directory = directory.rsplit('/').next().unwrap_or_default();
        is_plain
            && directory.starts_with(self.directory)
            && name.len() >= self.prefix.len() + self.suffix.len()
            && name.starts_with(self.prefix)
            && name.ends_with(self.suffix)
    }
}

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
