//! Undoes and redoes several change sets together: the change sets since a number or a time, or the
//! change sets of one turn.

use super::group_refused::GroupRefused;
use super::sets::{ChangeSets, ChangesRefused, LabelledFiles};
use agent_bash_changes::{
    ChangesScope, GroupConflicts, GroupDone, GroupPreview, LAST_TURN, MemberPreview, TurnSign,
};
use agent_bash_core::changes::{Changes, ChangesId, FileName, counted};
use agent_bash_core::{Timestamp, parse_duration};
use std::collections::BTreeSet;
use std::str::FromStr;
use std::time::Duration;

/// Maximum number of skipped change sets that a text names.
const MAX_LINES: usize = 20;

/// The first change set to undo or redo: its number (`41` or `changes://41`), or a time before now
/// (`10m`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// This change set and all later change sets.
    From(ChangesId),
    /// The change sets of the calls that began within this time before now.
    Within(Duration),
}

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(id) = text.parse() {
            return Ok(Self::From(id));
        }
        parse_duration(text).map(Self::Within).map_err(|_| {
            format!(
                "the number of a change set, such as `41`, or a time, such as `10m`; got `{text}`"
            )
        })
    }
}

impl Since {
    /// Returns the scope of these changes.
    pub fn scope(self, now: Timestamp) -> ChangesScope {
        match self {
            Self::From(id) => ChangesScope::From(id),
            Self::Within(time) => {
                let age_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                ChangesScope::After(Timestamp(now.0.saturating_sub(age_ms)))
            }
        }
    }
}

/// Returns the scope of the turn with this name. The name `last` stands for the last turn.
pub fn scope_of_turn(turn: &str) -> ChangesScope {
    ChangesScope::AgentTurn((turn != LAST_TURN).then(|| turn.to_owned()))
}

/// A finished undo or redo of several change sets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangesGroupDone {
    /// The turn, if the scope is a turn.
    pub turn_name: Option<String>,
    /// The change sets that were undone or redone, in this order.
    pub sets: Vec<ChangesId>,
    /// The change sets of the undos or redos, in this order.
    pub changes: Vec<Changes>,
    /// A line about the result, and a line for each file and change set that was skipped.
    pub text: String,
}

impl ChangeSets {
    /// Begins a turn, unless `sign` shows that the last turn continues. Returns the turn's name. A
    /// turn is the calls between two prompts of the agent's user.
    ///
    /// # Errors
    /// There is no state directory; the name is not usable, or cannot be stored.
    pub fn begin_turn(&self, sign: TurnSign<'_>) -> Result<String, ChangesRefused> {
        self.with_store(None, |store, session| store.begin_turn(session, sign))
    }

    /// Begins a turn that continues the last turn of the conversation `session`. Does nothing if
    /// that conversation has no turn, or if its last turn continues here already.
    ///
    /// # Errors
    /// As [`Self::begin_turn`]; the other turns cannot be read.
    pub fn follow_turn(&self, session: &str) -> Result<(), ChangesRefused> {
        self.with_store(None, |store, own_session| {
            let Some(turn) = store.last_turn(session)? else {
                return Ok(());
            };
            let prompt = format!("{session}.{turn}");
            store.begin_turn(own_session, TurnSign::Prompt(Some(&prompt)))?;
            Ok(())
        })
    }

    /// Returns the preview of an undo of several change sets; if `redo`, of a redo.
    ///
    /// # Errors
    /// See [`Self::show`]; the scope has nothing to undo or redo.
    pub fn preview_group(
        &self,
        scope: &ChangesScope,
        redo: bool,
    ) -> Result<GroupPreview, ChangesRefused> {
        self.with_store(None, |store, session| {
            store.preview_group(session, scope, redo)
        })
    }

    /// Undoes several change sets, the last one first. If one of them cannot be undone, nothing is
    /// changed. With `partial`, skips change sets that cannot be undone, and files that were
    /// changed since.
    ///
    /// # Errors
    /// [`ChangesRefused::Group`] names what prevents the undo. The scope has nothing to undo. The
    /// undo of one change set failed, and the undos before it were reverted.
    pub fn undo_group(
        &self,
        scope: &ChangesScope,
        partial: bool,
    ) -> Result<ChangesGroupDone, ChangesRefused> {
        let done = self.with_store(None, |store, session| {
            store.undo_group(session, scope, partial)
        })?;
        Ok(self.group_done(done, false))
    }

    /// Redoes the changes that the last [`Self::undo_group`] undid in this scope. Without such an
    /// undo, redoes all undone changes of the scope.
    ///
    /// # Errors
    /// See [`Self::undo_group`].
    pub fn redo_group(&self, scope: &ChangesScope) -> Result<ChangesGroupDone, ChangesRefused> {
        let done = self.with_store(None, |store, session| store.redo_group(session, scope))?;
        Ok(self.group_done(done, true))
    }

    /// Returns the refusal of an undo or redo because of these obstacles. The refusal names the
    /// known commands that changed the files.
    pub fn group_refused(&self, redo: bool, obstacles: GroupConflicts) -> GroupRefused {
        let conflicts = obstacles.conflicts.iter();
        let by = conflicts.map(|(id, files)| self.changed_by(*id, files));
        GroupRefused {
            again: redo,
            by: by.collect(),
            obstacles,
        }
    }

    /// Describes a finished undo or redo.
    fn group_done(&self, done: GroupDone, redo: bool) -> ChangesGroupDone {
        let GroupDone {
            plan,
            changes,
            not_restorable,
            ..
        } = done;
        let (possible, skipped_sets): (Vec<_>, Vec<_>) =
            plan.sets.iter().partition(|set| set.is_possible());
        let sets: Vec<ChangesId> = possible.iter().map(|set| set.id).collect();
        let files = distinct_files(&possible);
        let ids: Vec<String> = sets.iter().map(ChangesId::to_string).collect();
        let turn = plan.turn_name.as_ref();
        let turn = turn.map_or_else(String::new, |turn| format!("turn {turn}, "));
        let word = if redo { "Done again" } else { "Undone" };
        let (files, ids) = (counted(files), ids.join(", "));
        let mut text = format!("[{word}: {turn}{files} of changes {ids}.]");
        let conflicts = changes.iter().map(|set| &set.conflicts);
        let of_skipped_sets = skipped_sets.iter().map(|set| &set.conflicts);
        let skipped: Vec<FileName> = conflicts
            .chain(of_skipped_sets)
            .flatten()
            .cloned()
            .collect();
        text += &LabelledFiles("left as it is, as it was changed since", &skipped).to_string();
        let lost = "left as it is, as its former content was not kept";
        text += &LabelledFiles(lost, &not_restorable).to_string();
        for (_, why) in plan.blocked.iter().take(MAX_LINES) {
            text.push_str("\nskipped: ");
            text.push_str(why);
        }
        text.extend(changes.iter().map(|set| {
            if redo {
                self.protected_line(set.id, set)
            } else {
                self.protected_line_of_undo(set)
            }
        }));
        ChangesGroupDone {
            turn_name: plan.turn_name,
            sets,
            changes,
            text,
        }
    }
}

/// Returns the number of files that the undo or redo of these change sets changes.
fn distinct_files(sets: &[&MemberPreview]) -> u64 {
    let files = sets.iter().flat_map(|set| {
        let without_conflicts = set.without_conflict.iter();
        without_conflicts.map(move |file| (&set.root, &file.name.path))
    });
    files.collect::<BTreeSet<_>>().len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_is_a_change_set_or_a_time() {
        let now = Timestamp(1_000_000);
        for (text, scope) in [
            ("41", ChangesScope::From(ChangesId(41))),
            ("changes://41", ChangesScope::From(ChangesId(41))),
            ("10m", ChangesScope::After(Timestamp(400_000))),
            ("1.5s", ChangesScope::After(Timestamp(998_500))),
            ("900h", ChangesScope::After(Timestamp(0))),
        ] {
            assert_eq!(text.parse::<Since>().unwrap().scope(now), scope, "{text}");
        }
        for text in ["", "x", "-1", "yesterday", "10 apples"] {
            assert!(text.parse::<Since>().is_err(), "{text}");
        }
    }
}
