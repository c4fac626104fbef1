//! The prompt's state between keys, other than its text.

/// The argument that was inserted last.
#[derive(Debug)]
pub(super) struct Argument {
    /// The index of the history entry that the argument is from.
    pub(super) entry: usize,
    /// The byte at which the argument begins.
    pub(super) start: usize,
    /// The text in front of the cursor after the insertion.
    pub(super) before: String,
}

/// The path of a command, and the result of its lookup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LookedUpProgram {
    pub(super) path: String,
    /// True if the path is a program; `None` until that is known.
    pub(super) is_program: Option<bool>,
}

/// True for characters of a path that need no expansion or unquoting.
pub(super) fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || "-_.+".contains(c)
}
