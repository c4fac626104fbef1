//! What is said of a set on its card, after a look at it or something that was done with it.

use agent_bash::ChangesRefused;
use agent_bash::core::changes::{Changes, FileName, changed_too_text, counted};

/// Files of a set that somebody else has changed, which are named on a card.
const NAMED: usize = 3;

/// Which key leads to what a refusal says can be done.
pub(crate) const ASK_AGAIN: &str = "→ `u` again asks whether to undo only those";

/// What came of a look at a set, or of something that was done with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ActionOutcome {
    /// The sets as they are now, if they are still there.
    pub(crate) sets: Vec<Changes>,
    pub(crate) lines: Vec<String>,
    /// Nothing was done.
    pub(crate) refused: bool,
    /// It was not committed, as files were changed since: to try its command again may help.
    pub(crate) is_stale: bool,
    /// What was not done beside what was.
    pub(crate) not_done: Vec<String>,
}

/// Of others than the first that are in the way, the first few; and what has changed them, as far as it is known.
pub(crate) fn named(others: &[FileName], by: &[Option<String>]) -> Vec<String> {
    let names = others.iter().take(NAMED).enumerate();
    let line = |(at, name): (usize, &FileName)| {
        changed_too_text(name, by.get(at).and_then(Option::as_deref))
    };
    let more = others.len().saturating_sub(NAMED) as u64;
    let more = (more > 0).then(|| format!("and {} more", counted(more)));
    names.map(line).chain(more).collect()
}

/// A refusal, for the person who asked.
pub(crate) fn refusal(error: &ChangesRefused) -> String {
    match error {
        ChangesRefused::Conflict(conflict) => conflict.for_people(),
        other => other.to_string(),
    }
}
