//! What the prompt keeps between keys, beside its text.

/// What was inserted last.
#[derive(Debug)]
pub(super) struct Argument {
    /// The entry of the history that it is of.
    pub(super) at: usize,
    /// The byte that it begins at.
    pub(super) start: usize,
    /// What is in front of the cursor since then.
    pub(super) before: String,
}

/// The path of a command, and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) path: String,
    /// Whether it is there; `None` until that is known.
    pub(super) is_there: Option<bool>,
}

/// Characters of a command's name that nothing is to be done with before it can be looked for.
pub(super) fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || "-_.+".contains(c)
}
