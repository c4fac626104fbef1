//! Plans an undo or redo and lists its conflicts. Changes nothing.

use crate::diff::listing::{self, Trees};
use crate::error::ChangesError;
use crate::plan::apply::ApplyDirectories;
use crate::plan::file_comparison::{bytes, file_attributes};
use crate::plan::{ApplyPlan, Attribution, PlannedOp, SlotRename};
use crate::sources::preimages;
use crate::sources::restored_files::LazyRestoredFiles;
use crate::store::Store;
use crate::store::meta::SetKind;
use crate::store::numbers::numbers;
use crate::store::set::{ChangeSet, SetState};
use agent_bash_core::changes::{
    ChangeCounts, ChangesAct, ChangesBy, ChangesId, ChangesState, FileChange, FileName,
};
use agent_bash_os::PrivateDir;
use rustix::io::Errno;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The preview of an undo or a redo.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preview {
    /// The number of files that would change.
    pub counts: ChangeCounts,
    /// All changes.
    pub files: Vec<FileChange>,
    /// Files that were changed since. They prevent the operation, unless a partial one is allowed.
    pub conflicts: Vec<FileName>,
    /// The changes of a partial operation: [`Self::files`] without conflicts.
    pub without_conflict: Vec<FileChange>,
}

impl Store {
    /// Returns the preview of [`Store::undo`] for all files, or, with `redo`, of [`Store::redo`].
    ///
    /// # Errors
    /// The change set does not exist, or has nothing to undo or redo.
    pub fn preview(
        &self,
        session: &str,
        id: ChangesId,
        redo: bool,
    ) -> Result<Preview, ChangesError> {
        let _lock = self.lock()?;
        let inversion = self.checked_inversion(session, id, &[], redo)?;
        let mut trees = Trees::open(&inversion.origin);
        let mut files = |plan: &ApplyPlan| -> Vec<FileChange> {
            let items = listing::items(plan, trees.as_mut());
            items.iter().map(listing::file).collect()
        };
        let all = files(&inversion.plan);
        let without_conflict = match &inversion.conflicts[..] {
            [] => all.clone(),
            conflicts => files(&without_conflicts(&inversion.plan, conflicts)),
        };
        let conflicts = inversion.conflicts.iter().map(|path| listing::name(path));
        Ok(Preview {
            counts: ChangeCounts::of(&all),
            files: all,
            conflicts: conflicts.collect(),
            without_conflict,
        })
    }

    /// Plans the inversion of a change set and lists its conflicts. Changes nothing.
    pub(crate) fn checked_inversion(
        &self,
        session: &str,
        id: ChangesId,
        paths: &[PathBuf],
        redo: bool,
    ) -> Result<Inversion<'_>, ChangesError> {
        let directory = self.session(session)?;
        let mut inversion = self.planned_inversion(session, id, paths, redo)?;
        inversion.complete_and_check(&LazyRestoredFiles::new(&directory))?;
        Ok(inversion)
    }

    /// Plans the inversion of a change set without a comparison with the tree: the conflicts are
    /// not known yet.
    pub(crate) fn planned_inversion(
        &self,
        session: &str,
        id: ChangesId,
        paths: &[PathBuf],
        redo: bool,
    ) -> Result<Inversion<'_>, ChangesError> {
        let requested = self.idle(session, id)?;
        let act = if redo {
            ChangesAct::Redo
        } else {
            ChangesAct::Undo
        };
        let origin = match requested.meta.kind {
            SetKind::Undo { origin, .. } => self.idle(session, ChangesId(origin))?,
            _ => self.idle(session, id)?,
        };
        // The undo of an undo is a redo.
        let is_redo = match requested.meta.kind {
            SetKind::Undo { redo: was_redo, .. } => redo == was_redo,
            _ => redo,
        };
        let directory = self.session(session)?;
        let pair = plan_pair(&directory, &origin)?;
        let is_traced = matches!(
            origin.meta.kind,
            SetKind::Trace | SetKind::Background { .. }
        );
        let needs_unpacking = is_traced && !is_redo;
        let mut plan = if is_redo { pair.reverted } else { pair.applied };
        let was_undone = !is_redo && origin.state == SetState::Undone;
        let recorded_plan = origin.journal()?.map(|it| it.plan).unwrap_or_default();
        let is_first_undo = !is_redo && !was_undone && requested.id == origin.id;
        if is_first_undo
            && preimages::stores_preimages(&origin)
            && plan.changes_only_times()
            && !recorded_plan.changes_only_times()
        {
            let why = "the preimages were not stored";
            return Err(ChangesError::State { id, act, why });
        }
        if plan.is_empty() || was_undone || !preimages::stores_preimages(&origin) {
            return Err(state_error(id, act, &requested));
        }
        select(&mut plan, id, paths)?;
        let applying = self.applying(&origin, &origin.slots())?;
        Ok(Inversion {
            origin,
            is_redo,
            needs_unpacking,
            plan,
            applying,
            conflicts: Vec::new(),
        })
    }
}

/// The plan for the undo or redo of a change set.
pub(crate) struct Inversion<'a> {
    /// The change set of the call, with the slots.
    pub(crate) origin: ChangeSet,
    pub(crate) is_redo: bool,
    /// True if the preimages are not unpacked into slots yet.
    pub(crate) needs_unpacking: bool,
    pub(crate) plan: ApplyPlan,
    pub(crate) applying: ApplyDirectories<'a>,
    /// Paths that were changed since.
    pub(crate) conflicts: Vec<Vec<u8>>,
}

impl Inversion<'_> {
    /// Completes the plan with the times of directories, and lists its conflicts with the tree.
    fn complete_and_check(
        &mut self,
        restored_files: &LazyRestoredFiles<'_>,
    ) -> Result<(), ChangesError> {
        self.applying.drop_stale(&mut self.plan);
        self.applying
            .add_directory_times(&mut self.plan)
            .map_err(ChangesError::errno("looking at", self.origin.root()))?;
        self.find_conflicts(restored_files)
    }

    /// Lists the conflicts of the plan with the tree, or with the assumed files.
    pub(crate) fn find_conflicts(
        &mut self,
        restored_files: &LazyRestoredFiles<'_>,
    ) -> Result<(), ChangesError> {
        self.conflicts = self.applying.conflicts(&self.plan)?;
        if !self.conflicts.is_empty() && self.needs_unpacking {
            self.applying.refresh_stats(&mut self.plan);
            self.conflicts = self.applying.conflicts(&self.plan)?;
        }
        if !self.conflicts.is_empty() && self.applying.accept(&mut self.plan, restored_files.get()?)
        {
            self.conflicts = self.applying.conflicts(&self.plan)?;
        }
        Ok(())
    }
}

/// The changes of a change set, divided by their current state. Both plans list the inverse
/// operations.
pub(crate) struct PlanPair {
    /// Undoes the changes that are in place now.
    pub(crate) applied: ApplyPlan,
    /// Redoes the changes that are undone now.
    pub(crate) reverted: ApplyPlan,
}

/// Divides the changes of `origin`: the last operation on each file shows if its change is in
/// place.
pub(crate) fn plan_pair(
    session: &PrivateDir,
    origin: &ChangeSet,
) -> Result<PlanPair, ChangesError> {
    let mut ops: BTreeMap<Vec<u8>, (bool, PlannedOp)> = BTreeMap::new();
    let mut attributions: BTreeMap<Vec<u8>, (bool, Attribution)> = BTreeMap::new();
    // The undos and redos of a change set have higher numbers.
    let numbers = numbers(session)?.into_iter();
    for number in numbers.filter(|number| *number >= origin.id.0) {
        // A change set that cannot be read is incomplete, because its host was killed while
        // creating it. Such a set changed nothing.
        let Ok(Some(set)) = ChangeSet::read(session, ChangesId(number)) else {
            continue;
        };
        if set.origin() != origin.id {
            continue;
        }
        let applied = !matches!(set.meta.kind, SetKind::Undo { redo: false, .. });
        let Some(journal) = set.applied_journal()? else {
            continue;
        };
        let inverse = journal.inverse.unwrap_or_default();
        for op in inverse.ops {
            ops.insert(op.slot.clone(), (applied, op));
        }
        for attribution in inverse.attributions {
            attributions.insert(attribution.path.clone(), (applied, attribution));
        }
    }
    let mut plans = [ApplyPlan::default(), ApplyPlan::default()];
    for (is_applied, op) in ops.into_values() {
        plans[usize::from(is_applied)].ops.push(op);
    }
    for (is_applied, it) in attributions.into_values() {
        plans[usize::from(is_applied)].attributions.push(it);
    }
    plans.iter_mut().for_each(ApplyPlan::sort);
    let [reverted, applied] = plans;
    Ok(PlanPair { applied, reverted })
}

/// Returns a plan without conflicting paths and the operations that depend on them.
pub(crate) fn without_conflicts(plan: &ApplyPlan, conflicts: &[Vec<u8>]) -> ApplyPlan {
    let mut plan = plan.clone();
    let paths = conflicts
        .iter()
        .map(|path| Path::new(OsStr::from_bytes(path)));
    let paths: HashSet<&Path> = paths.collect();
    let around: HashSet<&Path> = paths.iter().flat_map(|path| path.ancestors()).collect();
    let is_excluded = |op: &PlannedOp| match op.act {
        // If a directory is not created, its entries cannot be created. If a file stays, its
        // directory cannot be removed.
        SlotRename::Put => op.path().ancestors().any(|above| paths.contains(above)),
        SlotRename::Take => around.contains(op.path()),
        SlotRename::Swap => paths.contains(op.path()),
    };
    plan.ops.retain(|op| !is_excluded(op));
    plan.attributions.retain(|it| !paths.contains(it.path()));
    plan
}

/// Limits a plan to these paths, their entries, and the parent directories that have to be created.
/// Files in place of these directories are removed. Attributes of a file are restored for all of
/// its names.
fn select(plan: &mut ApplyPlan, id: ChangesId, paths: &[PathBuf]) -> Result<(), ChangesError> {
    if paths.is_empty() {
        return Ok(());
    }
    let all: Vec<PathBuf> = plan
        .ops
        .iter()
        .map(|op| op.path().to_owned())
        .chain(plan.attributions.iter().map(|it| it.path().to_owned()))
        .collect();
    for path in paths {
        if !all.iter().any(|known| known.starts_with(path)) {
            let path = path.clone();
            return Err(ChangesError::NotInSet { id, path });
        }
    }
    let is_selected = |path: &Path| paths.iter().any(|top| path.starts_with(top));
    let is_above_selected = |path: &Path| paths.iter().any(|top| top.starts_with(path));
    let puts = plan.ops.iter().filter(|op| op.act == SlotRename::Put);
    let directories = puts.filter(|op| op.in_slot.is_some_and(|stat| stat.is_dir()));
    let parents: HashSet<Vec<u8>> = directories
        .filter(|op| is_above_selected(op.path()))
        .map(|op| op.path.clone())
        .collect();
    plan.ops
        .retain(|op| is_selected(op.path()) || parents.contains(&op.path));
    // Names of one file have the same attributes.
    let selected = plan.attributions.iter().filter(|it| is_selected(it.path()));
    let inodes: HashSet<u64> = selected
        .filter_map(|it| Some(it.current?.ino).filter(|_| !it.changes_only_times()))
        .collect();
    plan.attributions.retain(|it| {
        let is_other_name = it.current.is_some_and(|stat| inodes.contains(&stat.ino));
        is_selected(it.path()) || is_other_name
    });
    Ok(())
}

impl ApplyDirectories<'_> {
    /// Adds the current times of directories in which files are only exchanged, so that they do not
    /// change.
    fn add_directory_times(&mut self, plan: &mut ApplyPlan) -> Result<(), Errno> {
        let parent = |op: &PlannedOp| op.path().parent().unwrap_or(Path::new("")).to_owned();
        let mut unchanged: HashSet<PathBuf> = plan.ops.iter().map(parent).collect();
        for op in plan.ops.iter().filter(|op| op.act != SlotRename::Swap) {
            unchanged.remove(&parent(op));
        }
        for known in &plan.attributions {
            unchanged.remove(known.path());
        }
        for path in unchanged {
            let Some(stat) = self.current_stat(&path)? else {
                continue;
            };
            let attributes = file_attributes(&mut self.root, &path, &stat)?;
            plan.attributions.push(Attribution {
                path: bytes(&path),
                current: Some(stat),
                before: Some(attributes.clone()),
                after: Some(attributes),
            });
        }
        plan.sort();
        Ok(())
    }

    /// Removes the times of files that were changed since from the plan.
    pub(crate) fn drop_stale(&mut self, plan: &mut ApplyPlan) {
        plan.attributions.retain(|it| {
            let Some(expected) = &it.current else {
                return true;
            };
            let now = self.current_stat(it.path()).ok().flatten();
            !it.changes_only_times() || now.is_some_and(|now| now.mtime == expected.mtime)
        });
    }
}

/// Returns the error for a state that does not allow the operation.
pub(crate) fn state_error(id: ChangesId, act: ChangesAct, set: &ChangeSet) -> ChangesError {
    let (state, by) = listing::state_and_source(set);
    let state = match by {
        ChangesBy::Trace if !preimages::stores_preimages(set) => ChangesState::Listed,
        _ => state,
    };
    let why = act.obstacle(state, by);
    ChangesError::State { id, act, why }
}
