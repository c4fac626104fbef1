//! The actions on change sets, and the refusal of an action that the state of a change set does not
//! allow.

use super::{Changes, ChangesBy, ChangesId, ChangesState, Undoable};

/// An action on a change set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangesAct {
    /// Applies the changes that a trial held back.
    Commit,
    /// Removes the changes that a trial held back.
    Discard,
    /// Reverts applied changes.
    Undo,
    /// Applies reverted changes again.
    Redo,
}

impl ChangesAct {
    /// Returns the verb: `undo`.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Discard => "discard",
            Self::Undo => "undo",
            Self::Redo => "redo",
        }
    }

    /// Returns the text of a refused action: `changes 7 cannot be undone: they were discarded`.
    pub fn refusal(self, id: ChangesId, why: &str) -> String {
        let participle = match self {
            Self::Commit => "committed",
            Self::Discard => "discarded",
            Self::Undo => "undone",
            Self::Redo => "redone",
        };
        format!("changes {id} cannot be {participle}: {why}")
    }

    /// Returns why the state of a change set does not allow the action, as the end of
    /// [`Self::refusal`].
    pub fn obstacle(self, state: ChangesState, by: ChangesBy) -> &'static str {
        use ChangesState::{Discarded, Done, Held, Listed, Running, Undone};
        match (state, by) {
            (Discarded, _) => "they were discarded",
            (Undone, _) => "they were undone",
            (Held, _) => "nothing of them was applied yet",
            (Running, ChangesBy::Overlay) => "their host has ended",
            (Done | Listed, ChangesBy::Overlay) if self == Self::Commit => {
                "they were committed before"
            }
            (_, ChangesBy::Overlay) if self == Self::Discard => {
                "they were committed; they can be undone"
            }
            (Listed, ChangesBy::Trace) => "only their names were recorded",
            (_, ChangesBy::Scan) => "they were scanned, not traced, so only names are known",
            (_, ChangesBy::Trace) if matches!(self, Self::Commit | Self::Discard) => {
                "they were made in place"
            }
            _ if self == Self::Redo => "nothing of them was undone",
            _ => "there is nothing to undo",
        }
    }
}

impl Changes {
    /// Returns the actions that the state of the change set allows. Conflicts may still prevent an
    /// action.
    pub fn possible_actions(&self) -> &'static [ChangesAct] {
        use ChangesAct::{Commit, Discard, Redo, Undo};
        match (self.state, self.by) {
            // There is nothing to apply, but the trial's directory can be removed.
            (ChangesState::Held, ChangesBy::Overlay) if self.counts.total() == 0 => &[Discard],
            (ChangesState::Held, ChangesBy::Overlay) => &[Commit, Discard],
            (ChangesState::Done | ChangesState::Interrupted, _)
                if self.undo != Undoable::No && self.counts.total() > 0 =>
            {
                if self.undone_in_part {
                    &[Undo, Redo]
                } else {
                    &[Undo]
                }
            }
            (ChangesState::Undone, _) => &[Redo],
            _ => &[],
        }
    }
}
