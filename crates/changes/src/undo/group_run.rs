//! Undoes or redoes several change sets, all or none of them.
//!
//! The list of change sets is written to the register first. If the program is killed, the next
//! process that opens the store continues where it stopped.

use crate::error::ChangesError;
use crate::store::Store;
use crate::store::meta::SetKind;
use crate::store::numbers::numbers;
use crate::store::set::{ChangeSet, SetState};
use crate::store::unfinished::{INODE_SEPARATOR, REGISTER_DIR};
use crate::undo::group::{ChangesScope, GroupPreview, Target};
use crate::undo::transaction::InversionKind;
use agent_bash_core::changes::{Changes, ChangesId, FileName};
use agent_bash_os::PrivateDir;
use serde::{Deserialize, Serialize};
use std::io::read_to_string;

/// In the name of a group's register entry, stands in place of the inode.
const GROUP_ENTRY: &str = "group";

/// The result of an undo or redo of several change sets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupDone {
    /// The plan, in the order of execution.
    pub plan: GroupPreview,
    /// The change sets of the undos or redos, in the order of execution.
    pub changes: Vec<Changes>,
    /// Files that an undo did not restore, because they have no preimage.
    pub not_restorable: Vec<FileName>,
}

/// An undo or redo under way, in the register.
#[derive(Debug, Serialize, Deserialize)]
struct PendingGroup {
    session: String,
    /// The number of the group, which its change sets have as well.
    number: u64,
    /// The change sets, each with `true` for a redo, in the order of execution.
    targets: Vec<(u64, bool)>,
    partial: bool,
    /// True after one of the operations failed: the earlier ones are being reverted.
    rolling_back: bool,
}

impl Store {
    /// Undoes the change sets of a scope, the last one first. With `partial`, change sets that
    /// cannot be undone and files that were changed since are skipped.
    ///
    /// # Errors
    /// [`ChangesError::Group`] names what prevents the undo; nothing was changed then.
    /// [`ChangesError::GroupFailed`]: an undo failed; the undos before it were redone.
    pub fn undo_group(
        &self,
        session: &str,
        scope: &ChangesScope,
        partial: bool,
    ) -> Result<GroupDone, ChangesError> {
        self.invert_group(session, scope, partial, false)
    }

    /// Redoes the changes that the last [`Store::undo_group`] undid in this scope. If there was no
    /// such undo, redoes all undone changes of the scope, the oldest first.
    ///
    /// # Errors
    /// See [`Store::undo_group`].
    pub fn redo_group(
        &self,
        session: &str,
        scope: &ChangesScope,
    ) -> Result<GroupDone, ChangesError> {
        self.invert_group(session, scope, false, true)
    }

    fn invert_group(
        &self,
        session: &str,
        scope: &ChangesScope,
        partial: bool,
        redo: bool,
    ) -> Result<GroupDone, ChangesError> {
        let _lock = self.lock()?;
        let plan = self.plan_group(session, scope, redo)?;
        let is_partly_possible = plan.sets.iter().any(|set| !set.without_conflict.is_empty());
        let obstacles = plan.obstacles();
        if let Some(obstacles) = obstacles.filter(|_| !(partial && is_partly_possible)) {
            return Err(ChangesError::Group {
                redo,
                obstacles: Box::new(obstacles),
            });
        }
        let sets = plan.sets.iter();
        let sets: Vec<Target> = sets
            .filter(|set| set.is_possible())
            .map(|set| set.target)
            .collect();
        let mut not_restorable = Vec::new();
        for set in plan.sets.iter().filter(|_| !redo) {
            not_restorable.extend(self.not_restorable(session, set.id)?);
        }
        let directory = self.session(session)?;
        let mut pending = PendingGroup {
            session: session.to_owned(),
            number: next_number(&directory)?,
            targets: sets.iter().map(|it| (it.id.0, it.redo)).collect(),
            partial,
            rolling_back: false,
        };
        self.register_group(&pending)?;
        let changes = self.run_group(&directory, &mut pending)?;
        Ok(GroupDone {
            plan,
            changes,
            not_restorable,
        })
    }

    /// Undoes or redoes the change sets of a group that are still to be done. If one fails, reverts
    /// the earlier ones.
    fn run_group(
        &self,
        directory: &PrivateDir,
        pending: &mut PendingGroup,
    ) -> Result<Vec<Changes>, ChangesError> {
        let kind = |redo| InversionKind {
            redo,
            group: Some(pending.number),
        };
        let done: Vec<u64> = members(directory, pending.number)?
            .iter()
            .map(|member| member.target)
            .collect();
        let mut changes = Vec::new();
        let mut failed = None;
        let targets = pending.targets.iter().filter(|_| !pending.rolling_back);
        for (id, redo) in targets.filter(|(id, _)| !done.contains(id)) {
            let (id, session) = (ChangesId(*id), &pending.session);
            match self.invert(session, id, &[], pending.partial, kind(*redo)) {
                Ok(result) => changes.push(result),
                Err(error) => {
                    failed = Some((id, error));
                    break;
                }
            }
        }
        if failed.is_none() && !pending.rolling_back {
            self.unregister_group(&pending.session);
            return Ok(changes);
        }
        pending.rolling_back = true;
        self.register_group(pending)?;
        let remaining = self.roll_back_group(directory, pending);
        self.unregister_group(&pending.session);
        let (id, why) = match failed {
            Some((id, error)) => (id, error.to_string()),
            None => (ChangesId(0), String::new()),
        };
        Err(ChangesError::GroupFailed { id, why, remaining })
    }

    /// Reverts the finished members of a group. Returns the members that cannot be reverted.
    fn roll_back_group(&self, directory: &PrivateDir, pending: &PendingGroup) -> Vec<ChangesId> {
        let kind = InversionKind {
            redo: false,
            group: None,
        };
        let mut remaining = Vec::new();
        let finished = members(directory, pending.number).unwrap_or_default();
        for member in finished.iter().rev().filter(|member| !member.is_reverted) {
            let (id, session) = (member.id, &pending.session);
            if self.invert(session, id, &[], false, kind).is_err() {
                remaining.push(member.origin);
            }
        }
        remaining
    }

    /// Continues the group of a register entry. Does nothing for the entry of a single change set.
    pub(crate) fn recover_group(&self, name: &str) {
        let Some((session, _)) = name.rsplit_once(INODE_SEPARATOR).filter(|_| is_group(name))
        else {
            return;
        };
        let register = PrivateDir::open(&self.path, &[REGISTER_DIR]);
        let text = register.and_then(|register| read_to_string(register.read(name)?));
        let pending = text.ok().and_then(|text| serde_json::from_str(&text).ok());
        let directory = self.existing_session(session).ok().flatten();
        if let (Some(mut pending), Some(directory)) = (pending, directory) {
            // The caller of the killed program would have got the error.
            let _ = self.run_group(&directory, &mut pending);
        }
        self.unregister_group(session);
    }

    fn register_group(&self, pending: &PendingGroup) -> Result<(), ChangesError> {
        let path = self.path.join(REGISTER_DIR);
        let failed = || ChangesError::io("registering in", &path);
        let register = PrivateDir::create(&self.path, &[REGISTER_DIR]).map_err(failed())?;
        let json = serde_json::to_vec(pending).map_err(|error| failed()(error.into()))?;
        register
            .replace(&entry(&pending.session), &json)
            .map_err(failed())
    }

    fn unregister_group(&self, session: &str) {
        let register = PrivateDir::open(&self.path, &[REGISTER_DIR]);
        // If the entry stays, the next recovery finds all members finished.
        let _ = register.and_then(|register| register.remove(&entry(session)));
    }
}

/// True if this entry of the register describes a group.
pub(crate) fn is_group(name: &str) -> bool {
    matches!(name.rsplit_once(INODE_SEPARATOR), Some((_, GROUP_ENTRY)))
}

fn entry(session: &str) -> String {
    format!("{session}{INODE_SEPARATOR}{GROUP_ENTRY}")
}

/// A finished undo or redo of a group.
struct Member {
    id: ChangesId,
    /// The change set that this one undid or redid.
    target: u64,
    origin: ChangesId,
    /// True if the member was reverted.
    is_reverted: bool,
}

/// Returns the finished members of a group, in the order of execution.
fn members(directory: &PrivateDir, number: u64) -> Result<Vec<Member>, ChangesError> {
    let mut found: Vec<Member> = Vec::new();
    each_undo(directory, |set, target, group| {
        if set.state != SetState::Done {
            return;
        }
        for member in &mut found {
            member.is_reverted |= target == member.id.0;
        }
        if group == Some(number) {
            found.push(Member {
                id: set.id,
                target,
                origin: set.origin(),
                is_reverted: false,
            });
        }
    })?;
    Ok(found)
}

/// Returns a number that no stored group has.
fn next_number(directory: &PrivateDir) -> Result<u64, ChangesError> {
    let mut last = 0;
    each_undo(directory, |_, _, group| last = last.max(group.unwrap_or(0)))?;
    Ok(last + 1)
}

/// Calls `each` for all stored undos and redos in order: with the change set, the change set that
/// it undid or redid, and its group.
fn each_undo(
    directory: &PrivateDir,
    mut each: impl FnMut(&ChangeSet, u64, Option<u64>),
) -> Result<(), ChangesError> {
    for number in numbers(directory)? {
        if let Ok(Some(set)) = ChangeSet::read(directory, ChangesId(number))
            && let SetKind::Undo { target, group, .. } = set.meta.kind
        {
            each(&set, target, group);
        }
    }
    Ok(())
}
