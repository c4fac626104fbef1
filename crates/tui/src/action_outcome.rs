//! The card's text after a look at a change set or an action on it.

use agent_bash::core::changes::{Changes, ChangesId, FileName, changed_too_text, counted};
use agent_bash::{ChangeSets, ChangesRefused};

/// Number of conflicting files that a card names.
const MAX_NAMED_FILES: usize = 3;

/// A refusal's hint: the key that undoes only the files without a conflict.
pub(crate) const UNDO_OTHERS_HINT: &str = "→ `u` again asks whether to undo only those";

/// The outcome of looking at a change set, or of acting on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ActionOutcome {
    /// The present state of the change sets that still exist.
    pub(crate) sets: Vec<Changes>,
    pub(crate) lines: Vec<String>,
    /// True if nothing was done.
    pub(crate) refused: bool,
    /// True if a commit was refused because files were changed since; running the command again may
    /// help.
    pub(crate) is_stale: bool,
    /// Refused actions, if others succeeded.
    pub(crate) not_done: Vec<String>,
}

impl ActionOutcome {
    /// An outcome with the lines of `text`, and what is left of the change sets `ids`. Blocks.
    pub(crate) fn of(sets: &ChangeSets, ids: &[ChangesId], text: &str) -> Self {
        Self {
            sets: ids.iter().filter_map(|id| sets.show(*id).ok()).collect(),
            lines: text.lines().map(str::to_owned).collect(),
            ..Self::default()
        }
    }

    /// An outcome as by [`Self::of`], of an action that was refused. Blocks.
    pub(crate) fn refused(sets: &ChangeSets, ids: &[ChangesId], text: &str) -> Self {
        Self {
            refused: true,
            ..Self::of(sets, ids, text)
        }
    }
}

/// Returns lines that name the first few of `others` and, where known, the command that changed
/// each file. `others` are the conflicting files after the first.
pub(crate) fn conflict_lines(others: &[FileName], changed_by: &[Option<String>]) -> Vec<String> {
    let names = others.iter().take(MAX_NAMED_FILES).enumerate();
    let line = |(at, name): (usize, &FileName)| {
        changed_too_text(name, changed_by.get(at).and_then(Option::as_deref))
    };
    let more = others.len().saturating_sub(MAX_NAMED_FILES) as u64;
    let more = (more > 0).then(|| format!("and {} more", counted(more)));
    names.map(line).chain(more).collect()
}

/// The text of a refusal for the user.
pub(crate) fn refusal_text(error: &ChangesRefused) -> String {
    match error {
        ChangesRefused::Conflict(conflict) => conflict.user_text(),
        other => other.to_string(),
    }
}
