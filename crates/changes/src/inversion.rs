//! Plans an undo or redo and lists its conflicts. Changes nothing.

use crate::alike::{bytes, look};
use crate::apply::ApplyDirectories;
use crate::error::ChangesError;
use crate::listing::{self, Trees};
use crate::meta::SetKind;
use crate::numbers::numbers;
use crate::plan::{ApplyPlan, Attribution, PlannedOp, SlotRename};
use crate::preimages;
use crate::put_back::LazyPutBack;
use crate::set::{ChangeSet, SetState};
use crate::store::Store;
use agent_bash_core::changes::{ChangeCounts, ChangesId, FileChange, FileName};
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
    /// Files that were changed since. They prevent the operation, unless it may be done in part.
    pub conflicts: Vec<FileName>,
    /// The changes that are possible in part: all of [`Self::files`] without conflicts.
    pub free: Vec<FileChange>,
}

impl Store {
    /// Returns the preview of [`Store::undo`] of all changes, or, with `again`, of [`Store::redo`].
    ///
    /// # Errors
    /// The change set does not exist, or has nothing to undo or redo.
    pub fn preview(
        &self,
        session: &str,
        id: ChangesId,
        again: bool,
    ) -> Result<Preview, ChangesError> {
        let _lock = self.lock()?;
        let turn = self.inverting(session, id, &[], again)?;
        let mut trees = Trees::open(&turn.origin);
        let mut files = |plan: &ApplyPlan| -> Vec<FileChange> {
            let items = listing::items(plan, trees.as_mut());
            items.iter().map(listing::file).collect()
        };
        let all = files(&turn.plan);
        let free = match &turn.conflicts[..] {
            [] => all.clone(),
            conflicts => files(&rest(&turn.plan, conflicts)),
        };
        let conflicts = turn.conflicts.iter().map(|path| listing::name(path));
        Ok(Preview {
            counts: ChangeCounts::of(&all),
            files: all,
            conflicts: conflicts.collect(),
            free,
        })
    }

    /// Plans the inversion of a change set and lists its conflicts. Changes nothing.
    pub(crate) fn inverting(
        &self,
        session: &str,
        id: ChangesId,
        paths: &[PathBuf],
        again: bool,
    ) -> Result<Inversion<'_>, ChangesError> {
        let directory = self.session(session)?;
        let mut inversion = self.planned_inversion(session, id, paths, again)?;
        inversion.check(&LazyPutBack::new(&directory))?;
        Ok(inversion)
    }

    /// Plans the inversion of a change set without looking at the tree.
    pub(crate) fn planned_inversion(
        &self,
        session: &str,
        id: ChangesId,
        paths: &[PathBuf],
        again: bool,
    ) -> Result<Inversion<'_>, ChangesError> {
        let asked = self.idle(session, id)?;
        let wanted = if again { "redone" } else { "undone" };
        let origin = match asked.meta.kind {
            SetKind::Undo { origin, .. } => self.idle(session, ChangesId(origin))?,
            _ => self.idle(session, id)?,
        };
        // The undo of an undo is a redo.
        let forwards = match asked.meta.kind {
            SetKind::Undo {
                again: was_again, ..
            } => again == was_again,
            _ => again,
        };
        let directory = self.session(session)?;
        let sides = plan_pair(&directory, &origin)?;
        let is_traced = matches!(
            origin.meta.kind,
            SetKind::Trace | SetKind::Background { .. }
        );
        let packed = is_traced && !forwards;
        let mut plan = if forwards { sides.back } else { sides.made };
        let was_undone = !forwards && origin.state == SetState::Undone;
        let done = origin.journal()?.map(|it| it.plan).unwrap_or_default();
        let is_its_undo = !forwards && !was_undone && asked.id == origin.id;
        if is_its_undo && preimages::keeps(&origin) && plan.is_soft() && !done.is_soft() {
            let why = "the preimages were not stored".to_owned();
            return Err(ChangesError::State { id, wanted, why });
        }
        if plan.is_empty() || was_undone || !preimages::keeps(&origin) {
            return Err(state(id, wanted, &asked));
        }
        select(&mut plan, id, paths)?;
        let applying = self.applying(&origin, &origin.slots())?;
        Ok(Inversion {
            origin,
            forwards,
            packed,
            plan,
            applying,
            conflicts: Vec::new(),
        })
    }
}

/// A change set to be inverted.
pub(crate) struct Inversion<'a> {
    /// The change set with the slots.
    pub(crate) origin: ChangeSet,
    /// True for a redo.
    pub(crate) forwards: bool,
    /// True if the preimages are not unpacked into slots yet.
    pub(crate) packed: bool,
    pub(crate) plan: ApplyPlan,
    pub(crate) applying: ApplyDirectories<'a>,
    /// Paths that were changed since.
    pub(crate) conflicts: Vec<Vec<u8>>,
}

impl Inversion<'_> {
    /// Compares the plan with the tree, and completes it.
    fn check(&mut self, put_back: &LazyPutBack<'_>) -> Result<(), ChangesError> {
        self.applying.drop_stale(&mut self.plan);
        self.applying
            .keep_times(&mut self.plan)
            .map_err(ChangesError::errno("looking at", self.origin.root()))?;
        self.find_conflicts(put_back)
    }

    /// Lists the conflicts of the plan with the tree, or with the assumed files.
    pub(crate) fn find_conflicts(
        &mut self,
        put_back: &LazyPutBack<'_>,
    ) -> Result<(), ChangesError> {
        self.conflicts = self.applying.conflicts(&self.plan)?;
        if !self.conflicts.is_empty() && self.applying.accept(&mut self.plan, put_back.get()?) {
            self.conflicts = self.applying.conflicts(&self.plan)?;
        }
        Ok(())
    }
}

/// Plans an undo or redo and lists its conflicts. Changes nothing.
pub(crate) struct PlanPair {
    /// The applied changes.
    pub(crate) made: ApplyPlan,
    /// The undone changes.
    pub(crate) back: ApplyPlan,
}

/// Computes both parts from the last operation on each file.
pub(crate) fn plan_pair(
    session: &PrivateDir,
    origin: &ChangeSet,
) -> Result<PlanPair, ChangesError> {
    let mut ops: BTreeMap<Vec<u8>, (bool, PlannedOp)> = BTreeMap::new();
    let mut looks: BTreeMap<Vec<u8>, (bool, Attribution)> = BTreeMap::new();
    // The undos and redos of a change set have higher numbers.
    let numbers = numbers(session)?.into_iter();
    for number in numbers.filter(|number| *number >= origin.id.0) {
        // A change set of a host that was killed before the set was complete changed nothing.
        let Ok(Some(set)) = ChangeSet::read(session, ChangesId(number)) else {
            continue;
        };
        if set.origin() != origin.id {
            continue;
        }
        let made = !matches!(set.meta.kind, SetKind::Undo { again: false, .. });
        let Some(journal) = set.done()? else {
            continue;
        };
        let back = journal.back.unwrap_or_default();
        for op in back.ops {
            ops.insert(op.slot.clone(), (made, op));
        }
        for look in back.attributions {
            looks.insert(look.path.clone(), (made, look));
        }
    }
    let (mut made, mut back) = (ApplyPlan::default(), ApplyPlan::default());
    for (is_made, op) in ops.into_values() {
        let plan = if is_made { &mut made } else { &mut back };
        plan.ops.push(op);
    }
    for (is_made, it) in looks.into_values() {
        let plan = if is_made { &mut made } else { &mut back };
        plan.attributions.push(it);
    }
    made.sort();
    back.sort();
    Ok(PlanPair { made, back })
}

/// Returns a plan without conflicting paths and the operations that depend on them.
pub(crate) fn rest(plan: &ApplyPlan, conflicts: &[Vec<u8>]) -> ApplyPlan {
    let mut plan = plan.clone();
    let paths: Vec<&Path> = conflicts
        .iter()
        .map(|path| Path::new(OsStr::from_bytes(path)))
        .collect();
    let stays = |op: &PlannedOp| {
        let path = op.path();
        paths.iter().any(|conflict| match op.act {
            // An entry of a directory that is not put cannot be put either. A directory around a
            // remaining file cannot be taken.
            SlotRename::Put => path.starts_with(conflict),
            SlotRename::Take => conflict.starts_with(path),
            SlotRename::Swap => path == *conflict,
        })
    };
    plan.ops.retain(|op| !stays(op));
    plan.attributions.retain(|it| !paths.contains(&it.path()));
    plan
}

/// Limits a plan to these paths, their entries, and the directories that they need.
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
    let meant = |path: &Path| paths.iter().any(|top| path.starts_with(top));
    let above = |path: &Path| paths.iter().any(|top| top.starts_with(path));
    plan.ops
        .retain(|op| meant(op.path()) || (op.act == SlotRename::Put && above(op.path())));
    plan.attributions.retain(|it| meant(it.path()));
    Ok(())
}

impl ApplyDirectories<'_> {
    /// Restores the times of directories in which files are only exchanged.
    fn keep_times(&mut self, plan: &mut ApplyPlan) -> Result<(), Errno> {
        let parent = |op: &PlannedOp| op.path().parent().unwrap_or(Path::new("")).to_owned();
        let mut kept: HashSet<PathBuf> = plan.ops.iter().map(parent).collect();
        for op in plan.ops.iter().filter(|op| op.act != SlotRename::Swap) {
            kept.remove(&parent(op));
        }
        for known in &plan.attributions {
            kept.remove(known.path());
        }
        for path in kept {
            let Some(seen) = self.look_at(&path)? else {
                continue;
            };
            let same = look(&mut self.root, &path, &seen)?;
            plan.attributions.push(Attribution {
                path: bytes(&path),
                current: Some(seen),
                before: Some(same.clone()),
                after: Some(same),
            });
        }
        plan.sort();
        Ok(())
    }

    /// Drops the times of files that were changed since.
    pub(crate) fn drop_stale(&mut self, plan: &mut ApplyPlan) {
        plan.attributions.retain(|it| {
            let Some(here) = &it.current else { return true };
            let now = self.look_at(it.path()).ok().flatten();
            !it.is_soft() || now.is_some_and(|now| now.mtime == here.mtime)
        });
    }
}

/// Returns the error for a state that does not allow the operation.
pub(crate) fn state(id: ChangesId, wanted: &'static str, set: &ChangeSet) -> ChangesError {
    let why = match (set.meta.kind, set.state) {
        (_, SetState::Discarded) => "they were discarded",
        (_, SetState::Undone) => "they were undone",
        (SetKind::Trial, SetState::Held) => "nothing of them was applied yet",
        (SetKind::Trial, SetState::Running) => "their host has ended",
        (SetKind::Trial, SetState::Done) if wanted == "committed" => "they were committed before",
        (SetKind::Trial, _) if wanted == "discarded" => "they were committed; they can be undone",
        (SetKind::Trace | SetKind::Background { .. }, _) if !preimages::keeps(set) => {
            "only their names were recorded"
        }
        (SetKind::Scan, _) => "they were scanned, not traced, so only names are known",
        (SetKind::Trace | SetKind::Background { .. }, _)
            if wanted != "undone" && wanted != "redone" =>
        {
            "they were made in place"
        }
        _ if wanted == "redone" => "nothing of them was undone",
        _ => "there is nothing to undo",
    };
    let why = why.to_owned();
    ChangesError::State { id, wanted, why }
}
