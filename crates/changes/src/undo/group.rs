//! Plans the undo or redo of several change sets and lists all conflicts. Changes nothing.
//!
//! The undo of a later call restores the files as an earlier call left them. So each plan is
//! checked against the tree as it will be after the plans before it.

use crate::diff::listing::{self, Trees, plan_of};
use crate::error::{ChangesError, GroupConflicts};
use crate::files::file_stat::Time;
use crate::plan::ApplyPlan;
use crate::plan::assumed_files::AssumedFiles;
use crate::sources::restored_files::{LazyRestoredFiles, original_files};
use crate::store::Store;
use crate::store::meta::SetKind;
use crate::store::numbers::numbers;
use crate::store::set::{ChangeSet, SetState};
use crate::store::turn_marks::Turns;
use crate::undo::inversion::{Inversion, without_conflicts};
use agent_bash_core::Timestamp;
use agent_bash_core::changes::{ChangesId, FileChange, FileName};
use agent_bash_os::PrivateDir;
use std::collections::BTreeMap;

/// Selects the change sets of calls for an undo or redo of several. Change sets of undos and redos
/// are never selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangesScope {
    /// This change set and all later ones.
    From(ChangesId),
    /// The calls that began at this time or later.
    After(Timestamp),
    /// The calls of the turn with this name. `None` stands for the last turn with changes that can
    /// be undone or redone.
    AgentTurn(Option<String>),
}

/// The preview of an undo or redo of several change sets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupPreview {
    /// The turn, if the scope is a turn.
    pub turn_name: Option<String>,
    /// The change sets in the order of execution.
    pub sets: Vec<MemberPreview>,
    /// Change sets that cannot be undone or redone, each with the reason.
    pub blocked: Vec<(ChangesId, String)>,
}

/// A change set of a [`GroupPreview`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberPreview {
    /// The change set.
    pub id: ChangesId,
    /// The recorded directory.
    pub root: String,
    /// The changes that would be made.
    pub files: Vec<FileChange>,
    /// The changes without conflicts.
    pub without_conflict: Vec<FileChange>,
    /// Files that were changed since.
    pub conflicts: Vec<FileName>,
    pub(crate) target: Target,
}

impl MemberPreview {
    /// True unless conflicts prevent all changes of the change set.
    pub fn is_possible(&self) -> bool {
        self.conflicts.is_empty() || !self.without_conflict.is_empty()
    }
}

impl GroupPreview {
    /// Returns the conflicts and blocked change sets; `None` if the operation is possible.
    pub fn obstacles(&self) -> Option<GroupConflicts> {
        let conflicts = self.sets.iter().filter(|set| !set.conflicts.is_empty());
        let conflicts: Vec<_> = conflicts
            .map(|set| (set.id, set.conflicts.clone()))
            .collect();
        let blocked = self.blocked.clone();
        let is_free = conflicts.is_empty() && blocked.is_empty();
        (!is_free).then_some(GroupConflicts { conflicts, blocked })
    }
}

/// One undo or redo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) id: ChangesId,
    pub(crate) redo: bool,
}

/// A stored change set without its open files.
struct StoredSet {
    id: ChangesId,
    kind: SetKind,
    state: SetState,
    begun: Time,
    is_partly_undone: bool,
    is_empty: bool,
}

impl Store {
    /// Returns the preview of [`Store::undo_group`], or, with `redo`, of [`Store::redo_group`].
    ///
    /// # Errors
    /// The scope has no change set that can be undone or redone.
    pub fn preview_group(
        &self,
        session: &str,
        scope: &ChangesScope,
        redo: bool,
    ) -> Result<GroupPreview, ChangesError> {
        let _lock = self.lock()?;
        self.plan_group(session, scope, redo)
    }

    /// Plans the undo or redo. The caller has the lock.
    pub(crate) fn plan_group(
        &self,
        session: &str,
        scope: &ChangesScope,
        redo: bool,
    ) -> Result<GroupPreview, ChangesError> {
        let directory = self.session(session)?;
        let (turn, targets) = self.targets(&directory, scope, redo)?;
        let mut preview = GroupPreview {
            turn_name: turn,
            ..GroupPreview::default()
        };
        let restored_files = LazyRestoredFiles::new(&directory);
        let mut assumed = AssumedFiles::default();
        let mut pending = targets;
        // Background processes of an early call may have changed files after later calls. So a set
        // with conflicts is planned again after all others.
        while !pending.is_empty() {
            let mut deferred: Vec<Target> = Vec::new();
            for target in &pending {
                match self.plan_member(session, *target, (&mut assumed, &restored_files), false) {
                    Ok(Some(member)) => preview.sets.push(member),
                    Ok(None) => deferred.push(*target),
                    Err(error) => preview.blocked.push((target.id, error.to_string())),
                }
            }
            if deferred.len() == pending.len() {
                // All remaining sets have conflicts, so the first is planned with its conflicts.
                let first = deferred.remove(0);
                let planned =
                    self.plan_member(session, first, (&mut assumed, &restored_files), true)?;
                preview.sets.extend(planned);
            }
            pending = deferred;
        }
        if preview.sets.is_empty() && preview.blocked.is_empty() {
            return Err(ChangesError::NothingInScope { redo });
        }
        Ok(preview)
    }

    /// Plans one undo or redo on the assumed files, and adds its result to the assumed files. With
    /// conflicts, returns `None` unless `accepts_conflicts`.
    fn plan_member(
        &self,
        session: &str,
        target: Target,
        (assumed, restored_files): (&mut AssumedFiles, &LazyRestoredFiles<'_>),
        accepts_conflicts: bool,
    ) -> Result<Option<MemberPreview>, ChangesError> {
        let mut inversion = self.planned_inversion(session, target.id, &[], target.redo)?;
        inversion.applying.assumed = std::mem::take(assumed);
        inversion.applying.drop_stale(&mut inversion.plan);
        let checked = inversion.find_conflicts(restored_files);
        *assumed = std::mem::take(&mut inversion.applying.assumed);
        checked?;
        let without_conflict = match &inversion.conflicts[..] {
            [] => inversion.plan.clone(),
            _ if !accepts_conflicts => return Ok(None),
            conflicts => without_conflicts(&inversion.plan, conflicts),
        };
        let originals = original_files(&inversion.origin, inversion.is_redo)?;
        assumed.assume(&inversion.origin.root(), &originals, &without_conflict);
        Ok(Some(member(target, &inversion, &without_conflict)))
    }

    /// Returns the turn, if the scope is one, and the undos or redos of the scope in order.
    fn targets(
        &self,
        directory: &PrivateDir,
        scope: &ChangesScope,
        redo: bool,
    ) -> Result<(Option<String>, Vec<Target>), ChangesError> {
        let turns = Turns::read(directory)?;
        if matches!(scope, ChangesScope::AgentTurn(_)) && turns.is_empty() {
            return Err(ChangesError::NoTurns);
        }
        let sets = self.stored_sets(directory)?;
        if let ChangesScope::From(id) = scope
            && sets.iter().all(|set| set.id != *id)
        {
            return Err(ChangesError::Unknown { id: *id });
        }
        let begun: BTreeMap<u64, Time> = sets.iter().map(|set| (set.id.0, set.begun)).collect();
        let turn_of = |set: &StoredSet| turns.turn_at(turn_time(set.kind, set.begun, &begun));
        let is_subject = |set: &&StoredSet| {
            !matches!(set.kind, SetKind::Undo { .. }) && set.can_be_inverted(redo)
        };
        let turn = match scope {
            ChangesScope::AgentTurn(Some(turn)) => Some(turn.clone()),
            ChangesScope::AgentTurn(None) if redo => {
                // The turn of the last undo of several change sets comes first, else the first
                // undone turn.
                let undone: Vec<&StoredSet> = sets.iter().filter(is_subject).collect();
                let ids: Vec<ChangesId> = undone.iter().map(|set| set.id).collect();
                let group = last_group(&sets, &ids).unwrap_or_default();
                let is_of_group = |set: &StoredSet| group.iter().any(|undo| undo.origin == set.id);
                let of_group = undone.iter().filter(|set| is_of_group(set));
                let mut candidates = of_group.chain(&undone);
                candidates.find_map(|set| turn_of(set)).map(str::to_owned)
            }
            ChangesScope::AgentTurn(None) => {
                let mut newest_first = sets.iter().rev().filter(is_subject);
                newest_first.find_map(turn_of).map(str::to_owned)
            }
            _ => None,
        };
        let is_in_scope = |set: &StoredSet| match scope {
            ChangesScope::From(id) => set.id >= *id,
            ChangesScope::After(time) => timestamp(set.begun) >= *time,
            ChangesScope::AgentTurn(_) => turn.is_some() && turn_of(set) == turn.as_deref(),
        };
        let subjects = sets
            .iter()
            .filter(is_subject)
            .filter(|set| is_in_scope(set));
        let mut ids: Vec<ChangesId> = subjects.map(|set| set.id).collect();
        if !redo {
            ids.reverse();
        } else if let Some(undos) = last_group(&sets, &ids) {
            let targets = undos.into_iter().map(|undo| Target {
                id: undo.id,
                redo: false,
            });
            return Ok((turn, targets.collect()));
        }
        let targets = ids.into_iter().map(|id| Target { id, redo });
        Ok((turn, targets.collect()))
    }

    fn stored_sets(&self, directory: &PrivateDir) -> Result<Vec<StoredSet>, ChangesError> {
        let mut sets = Vec::new();
        for number in numbers(directory)? {
            if let Ok(Some(set)) = self.look_up(directory, ChangesId(number)) {
                sets.push(self.stored(&set));
            }
        }
        Ok(sets)
    }

    fn stored(&self, set: &ChangeSet) -> StoredSet {
        let is_background = matches!(set.meta.kind, SetKind::Background { .. });
        // A running call may change files until it ends.
        let may_change = set.state == SetState::Running && !is_background;
        StoredSet {
            id: set.id,
            kind: set.meta.kind,
            state: set.state,
            begun: set.begun(),
            is_partly_undone: set.is_partly_undone,
            is_empty: !may_change && plan_of(self, set).is_ok_and(|plan| plan.is_empty()),
        }
    }
}

impl StoredSet {
    /// True if the set has changes that are in place, or, with `redo`, undone changes.
    fn can_be_inverted(&self, redo: bool) -> bool {
        let is_in_place = match (self.kind, self.state) {
            (_, SetState::Done | SetState::Interrupted) => true,
            (SetKind::Trial, _) => false,
            (_, state) => state == SetState::Running,
        };
        let is_undone = self.state == SetState::Undone || self.is_partly_undone;
        !self.is_empty && if redo { is_undone } else { is_in_place }
    }
}

/// The last undo or redo of a change set.
#[derive(Debug, Clone, Copy)]
struct LastInversion {
    id: ChangesId,
    origin: ChangesId,
    redo: bool,
    group: Option<u64>,
}

/// Returns the undos of the last group that undid one of the change sets `ids`, newest first.
/// `None` if the change sets were undone one by one.
fn last_group(sets: &[StoredSet], ids: &[ChangesId]) -> Option<Vec<LastInversion>> {
    let mut last: BTreeMap<u64, LastInversion> = BTreeMap::new();
    for set in sets.iter().filter(|set| set.state == SetState::Done) {
        if let SetKind::Undo {
            origin,
            redo,
            group,
            ..
        } = set.kind
        {
            let inversion = LastInversion {
                id: set.id,
                origin: ChangesId(origin),
                redo,
                group,
            };
            last.insert(origin, inversion);
        }
    }
    let mut undos: Vec<LastInversion> = last.into_values().filter(|it| !it.redo).collect();
    let of_ids = undos.iter().filter(|undo| ids.contains(&undo.origin));
    let group = of_ids.filter_map(|undo| undo.group).max()?;
    undos.retain(|undo| undo.group == Some(group));
    undos.sort_unstable_by_key(|undo| std::cmp::Reverse(undo.id));
    Some(undos)
}

/// Returns the time that decides the turn: background changes belong to the turn of their call.
pub(crate) fn turn_time(kind: SetKind, begun_at: Time, begun: &BTreeMap<u64, Time>) -> Time {
    match kind {
        SetKind::Background {
            after: Some(call), ..
        } => begun.get(&call).copied().unwrap_or(begun_at),
        _ => begun_at,
    }
}

/// Converts a file time to a timestamp.
pub(crate) fn timestamp((seconds, nanoseconds): Time) -> Timestamp {
    Timestamp(seconds.unsigned_abs() * 1000 + u64::from(nanoseconds / 1_000_000))
}

fn member(
    target: Target,
    inversion: &Inversion<'_>,
    without_conflict: &ApplyPlan,
) -> MemberPreview {
    let mut trees = Trees::open(&inversion.origin);
    let mut files = |plan: &ApplyPlan| -> Vec<FileChange> {
        let items = listing::items(plan, trees.as_mut());
        items.iter().map(listing::file).collect()
    };
    let conflicts = inversion.conflicts.iter().map(|path| listing::name(path));
    MemberPreview {
        id: inversion.origin.id,
        root: inversion.origin.root().to_string_lossy().into_owned(),
        files: files(&inversion.plan),
        without_conflict: files(without_conflict),
        conflicts: conflicts.collect(),
        target,
    }
}
