//! Commits, discards, undoes and redoes change sets.

use crate::diff::listing::{self, Trees};
use crate::error::ChangesError;
use crate::files::attributes;
use crate::files::file_stat::FileStat;
use crate::files::rooted_dir::RootedDir;
use crate::files::system::syncfs;
use crate::plan::apply::{ApplyDirectories, ApplyFailure};
use crate::plan::assumed_files::AssumedFiles;
use crate::plan::journal::Journal;
use crate::plan::steps::Step;
use crate::plan::{ApplyPlan, SlotRename};
use crate::sources::held_plan::{HeldPlan, add_conflicts, compare_with_tree, drop_contents};
use crate::sources::preimages;
use crate::sources::recorder::INDEX_FILE;
use crate::sources::restored_files::{LazyRestoredFiles, unchanged_files};
use crate::sources::traced;
use crate::sources::upper::UpperScan;
use crate::store::Store;
use crate::store::meta::SetKind;
use crate::store::numbers::numbers;
use crate::store::set::{ChangeSet, SLOTS_DIR, SetState};
use crate::store::slots;
use crate::undo::hold::discard;
use crate::undo::inversion::{Inversion, PlanPair, plan_pair, state_error, without_conflicts};
use agent_bash_core::changes::{Changes, ChangesAct, ChangesId, ChangesLevel};
use agent_bash_os::{PrivateDir, lock_file_within, remove_tree};
use rustix::fs::{Mode, mkdirat};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The lock for changing a tree, recovering, and pruning.
const LOCK_FILE: &str = "lock";

impl Store {
    /// Closes a trace whose call and recorder have ended, and returns its changes. The change set
    /// of a call that changed nothing exists until a later call reuses it, unless an undo of an
    /// earlier change set needs it.
    ///
    /// # Errors
    /// The records cannot be read, or cannot be compared with the tree.
    pub fn finish(&self, set: ChangeSet) -> Result<Changes, ChangesError> {
        self.end_trace(set, SetState::Done)
    }

    /// Closes a trace whose records may be incomplete or missing.
    ///
    /// # Errors
    /// See [`Store::finish`].
    pub fn break_off(&self, set: ChangeSet) -> Result<Changes, ChangesError> {
        self.end_trace(set, SetState::Interrupted)
    }

    fn end_trace(
        &self,
        mut set: ChangeSet,
        if_untouched: SetState,
    ) -> Result<Changes, ChangesError> {
        traced::conclude(&mut set, self.precautions, SetState::Done, if_untouched)?;
        let changes = self.describe(&set)?;
        let is_certain = set.state == SetState::Done || !set.dir.has(INDEX_FILE);
        let is_empty = is_certain && changes.counts.total() == 0;
        if is_empty && unchanged_files(&set)?.is_empty() {
            self.recycle(set);
        } else {
            set.unregister();
            set.store_command();
        }
        Ok(changes)
    }

    /// Commits a held trial: all changes, or none if another process changed one of the files.
    ///
    /// # Errors
    /// [`ChangesError::Conflict`] names the files. After any error the tree is unchanged, except
    /// after [`ChangesError::Partly`].
    pub fn commit(&self, session: &str, id: ChangesId) -> Result<Changes, ChangesError> {
        let _lock = self.lock()?;
        let mut set = self.idle(session, id)?;
        if set.meta.kind != SetKind::Trial || set.state != SetState::Held {
            return Err(state_error(id, ChangesAct::Commit, &set));
        }
        let mut upper = RootedDir::open(set.dir())?;
        let planned = HeldPlan::read(&set)?;
        let mut found = compare_with_tree(
            &set,
            first_unused_slot(&set.dir)?,
            self.precautions,
            planned.as_ref(),
        )?;
        if !found.conflicts.is_empty() {
            return Err(conflict_error(&set, id, &found.plan, &found.conflicts));
        }
        self.prepare(&set, &mut upper, &mut found)?;
        set.stage(&mut upper, &mut found.plan)?;
        let mut applying = self.applying(&set, &set.slots())?;
        let conflicts = applying.conflicts(&found.plan)?;
        if !conflicts.is_empty() {
            return Err(conflict_error(&set, id, &found.plan, &conflicts));
        }
        let plan = found.plan.clone();
        set.register()?;
        let applied = self.carry_out(&set, &mut applying, found.plan);
        if applied.is_ok() {
            // If the write fails, the journal shows the state.
            let _ = set.set_state(SetState::Done);
            // The former files are in the slots.
            let _ = drop_contents(&set.dir);
            if set.meta.slot_directory().is_some() {
                // The tree has copies.
                let _ = remove_tree(&set.upper());
            }
        } else {
            // The rollback changed times of inodes. A new mark prevents that these times are a
            // conflict at the next attempt. Changes of other processes before the new mark remain
            // conflicts, also if this process is killed here.
            let mark = set.mark;
            let is_marked = add_conflicts(&set, applying.not_as_before(&plan)).is_ok()
                && set.mark().is_ok()
                && add_conflicts(&set, applying.not_as_before(&plan)).is_ok();
            if !is_marked {
                set.mark = mark;
                let _ = set.set_state(SetState::Held);
            }
        }
        if set.unfinished_journal()?.is_none() {
            set.unregister();
        }
        applied?;
        self.describe(&set)
    }

    /// Discards a held trial.
    ///
    /// # Errors
    /// The trial is not held.
    pub fn discard(&self, session: &str, id: ChangesId) -> Result<Changes, ChangesError> {
        let _lock = self.lock()?;
        let mut set = self.idle(session, id)?;
        if set.meta.kind != SetKind::Trial || set.state != SetState::Held {
            return Err(state_error(id, ChangesAct::Discard, &set));
        }
        discard(&mut set)?;
        self.describe(&set)
    }

    /// Undoes the changes of a change set at and below `paths`, which are relative to the root; all
    /// changes if `paths` is empty. With `partial`, files that were changed since are skipped.
    /// Returns the new change set of the undo, which can be undone as well.
    ///
    /// # Errors
    /// [`ChangesError::Conflict`] names the files that were changed since. The tree is unchanged
    /// then.
    pub fn undo(
        &self,
        session: &str,
        id: ChangesId,
        paths: &[PathBuf],
        partial: bool,
    ) -> Result<Changes, ChangesError> {
        let _lock = self.lock()?;
        let kind = InversionKind {
            redo: false,
            group: None,
        };
        self.invert(session, id, paths, partial, kind)
    }

    /// Redoes the undone changes of a change set.
    ///
    /// # Errors
    /// See [`Store::undo`].
    pub fn redo(&self, session: &str, id: ChangesId) -> Result<Changes, ChangesError> {
        let _lock = self.lock()?;
        let kind = InversionKind {
            redo: true,
            group: None,
        };
        self.invert(session, id, &[], false, kind)
    }

    /// Undoes or redoes a change set. The caller has the lock.
    pub(crate) fn invert(
        &self,
        session: &str,
        id: ChangesId,
        paths: &[PathBuf],
        partial: bool,
        InversionKind { redo, group }: InversionKind,
    ) -> Result<Changes, ChangesError> {
        let directory = self.session(session)?;
        let Inversion {
            origin,
            is_redo,
            needs_unpacking,
            mut plan,
            mut applying,
            conflicts,
        } = self.checked_inversion(session, id, paths, redo)?;
        if !conflicts.is_empty() {
            let free_plan = without_conflicts(&plan, &conflicts);
            if !partial || free_plan.changes_only_times() {
                return Err(conflict_error(&origin, id, &plan, &conflicts));
            }
            plan = free_plan;
            plan.skipped = conflicts;
        }
        if origin.meta.slot_directory().is_some() {
            slots::make(&origin.meta)?;
            applying.slots = RootedDir::open(&origin.slots())?;
        }
        if needs_unpacking {
            preimages::unpack(&origin, &mut plan, &LazyRestoredFiles::new(&directory))?;
            applying.refresh_stats(&mut plan);
        }
        let kind = SetKind::Undo {
            target: id.0,
            origin: origin.id.0,
            redo: is_redo,
            group,
        };
        let mut set = self.begin(session, &origin.root(), kind, ChangesLevel::Undo)?;
        if let Some(slots) = origin.meta.slot_directory() {
            set.meta.set_slot_directory(Some(slots));
            set.meta.write(&set.dir)?;
        }
        match self.carry_out(&set, &mut applying, plan) {
            Ok(()) => {
                // If the writes fail, the journal shows the states.
                let _ = update_undone_state(&directory, origin);
                let _ = self.steps.at(Step::Settled);
                let _ = set.set_state(SetState::Done);
                self.describe(&set)
            }
            Err(error) => {
                let _ = set.set_state(SetState::Discarded);
                Err(error)
            }
        }
    }

    /// Writes the journal and applies the plan, which has no known conflicts.
    fn carry_out(
        &self,
        set: &ChangeSet,
        applying: &mut ApplyDirectories<'_>,
        plan: ApplyPlan,
    ) -> Result<(), ChangesError> {
        self.steps
            .at(Step::Checked)
            .map_err(ChangesError::io("applying", set.dir()))?;
        if self.precautions.synced {
            syncfs(set.dir.as_fd()).map_err(ChangesError::errno("syncing", set.dir()))?;
            applying.sync()?;
        }
        let mut journal = Journal::begin(&set.dir, plan, &*self.steps, self.precautions)?;
        let Err(failed) = applying.run(&mut journal) else {
            return Ok(());
        };
        let not_reverted = journal
            .inverse
            .map(|inverse| inverse.skipped)
            .unwrap_or_default();
        let error = match failed {
            ApplyFailure::Changed(path) => conflict_error(set, set.id, &journal.plan, &[path]),
            ApplyFailure::System(path, error) => {
                let path = set.root().join(OsStr::from_bytes(&path));
                ChangesError::io("changing", path)(error)
            }
        };
        if not_reverted.is_empty() {
            return Err(error);
        }
        let (id, why) = (set.id, error.to_string());
        Err(ChangesError::Partly { id, why })
    }

    /// Creates the slots of new directories, and removes overlayfs attributes from files that will
    /// be moved into the tree.
    fn prepare(
        &self,
        set: &ChangeSet,
        slots: &mut RootedDir,
        found: &mut UpperScan,
    ) -> Result<(), ChangesError> {
        let failed = |slot: &Path| ChangesError::errno("preparing", set.dir().join(slot));
        for slot in &found.new_slots {
            let (dir, name) = slots.parent(slot).map_err(failed(slot))?;
            mkdirat(dir, name, Mode::RWXU).map_err(failed(slot))?;
        }
        for op in found
            .plan
            .ops
            .iter_mut()
            .filter(|op| op.act != SlotRename::Take)
        {
            let slot = Path::new(OsStr::from_bytes(&op.slot));
            let (dir, name) = slots.parent(slot).map_err(failed(slot))?;
            if self.precautions.stripped {
                attributes::strip(dir.as_fd(), name).map_err(failed(slot))?;
            }
            op.in_slot = FileStat::at(dir, name).map_err(failed(slot))?;
        }
        Ok(())
    }

    /// Opens the tree to change and the slot directory of a change set.
    pub(crate) fn applying(
        &self,
        set: &ChangeSet,
        slots: &Path,
    ) -> Result<ApplyDirectories<'_>, ChangesError> {
        Ok(ApplyDirectories {
            root: RootedDir::open_same(&set.root(), set.meta.identity)?,
            slots: RootedDir::open(slots)?,
            has_separate_journal: set.meta.slot_directory().is_some(),
            assumed: AssumedFiles::default(),
            steps: &*self.steps,
            precautions: self.precautions,
        })
    }

    /// Waits for the lock, so that no other process changes a tree or removes change sets.
    pub(crate) fn lock(&self) -> Result<File, ChangesError> {
        lock_file_within(&self.directory()?, LOCK_FILE, self.max_lock_wait)
            .map_err(ChangesError::io("locking", &self.path))
    }

    fn directory(&self) -> Result<PrivateDir, ChangesError> {
        PrivateDir::create_at(&self.path).map_err(ChangesError::io("opening", &self.path))
    }

    pub(crate) fn lock_file(&self) -> Result<(File, PathBuf), ChangesError> {
        let path = self.path.join(LOCK_FILE);
        let file = self
            .directory()?
            .open_or_create(LOCK_FILE)
            .map_err(ChangesError::io("opening", &path))?;
        Ok((file, path))
    }

    /// Returns a change set; an error if its call still runs.
    pub(crate) fn idle(&self, session: &str, id: ChangesId) -> Result<ChangeSet, ChangesError> {
        let session = self.session(session)?;
        let unknown = || ChangesError::Unknown { id };
        let mut set = self.look_up(&session, id)?.ok_or_else(unknown)?;
        if set.unfinished_journal()?.is_some() {
            // The recovery could not complete the operation. Either it can be completed now, or the
            // error says why not.
            self.recover_one(&session, set)?;
            set = self.look_up(&session, id)?.ok_or_else(unknown)?;
        }
        if set.state == SetState::Running && !set.is_idle() {
            return Err(ChangesError::Running { id });
        }
        Ok(set)
    }

    pub(crate) fn describe(&self, set: &ChangeSet) -> Result<Changes, ChangesError> {
        listing::describe(self, set)
    }
}

/// An undo or a redo.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InversionKind {
    pub(crate) redo: bool,
    /// The number of the group, if several change sets are undone or redone as one.
    pub(crate) group: Option<u64>,
}

/// Returns the first unused slot number.
fn first_unused_slot(dir: &PrivateDir) -> Result<u64, ChangesError> {
    let slots = PrivateDir::open(dir.path(), &[SLOTS_DIR])
        .map_err(ChangesError::io("opening", dir.path().join(SLOTS_DIR)))?;
    Ok(numbers(&slots)?.last().map_or(0, |last| last + 1))
}

/// Writes if all, some or none of a change set's changes are undone.
pub(crate) fn update_undone_state(
    session: &PrivateDir,
    mut origin: ChangeSet,
) -> Result<(), ChangesError> {
    let PlanPair { applied, reverted } = plan_pair(session, &origin)?;
    // Times that were in conflict are not restored; the files are.
    let is_undone = applied.is_empty() || applied.changes_only_times() && !reverted.is_empty();
    let state = match (is_undone, origin.state) {
        (true, _) => SetState::Undone,
        (false, SetState::Interrupted) => SetState::Interrupted,
        (false, _) => SetState::Done,
    };
    let is_partly_undone = !is_undone && !reverted.changes_only_times();
    // An unchanged state is written as well, since the time of the write shows a sweep that the set
    // is in use.
    origin.is_partly_undone = is_partly_undone;
    origin.set_state(state)
}

impl ApplyDirectories<'_> {
    /// Updates the expected files of a plan: a slot that is a link to a file of the tree has
    /// changed the times of its inode. The slot may be of an earlier attempt that was killed.
    pub(crate) fn refresh_stats(&mut self, plan: &mut ApplyPlan) {
        let of_ops = plan.ops.iter().filter_map(|op| op.current);
        let of_attributions = plan.attributions.iter().filter_map(|it| it.current);
        let in_tree: HashSet<u64> = of_ops.chain(of_attributions).map(|it| it.ino).collect();
        let mut slots = HashSet::new();
        for op in &plan.ops {
            if let Some(planned) = op.in_slot.filter(|it| in_tree.contains(&it.ino))
                && let Ok(Some(in_slot)) = self.slots.stat(op.slot())
                && planned.is_same_content(&in_slot)
            {
                slots.insert(in_slot.ino);
            }
        }
        let mut refresh = |path: &Path, expected: &mut Option<FileStat>| {
            if let Some(expected) = expected
                && slots.contains(&expected.ino)
                && let Ok(Some(now)) = self.current_stat(path)
                && expected.is_same_content(&now)
            {
                *expected = now;
            }
        };
        for op in &mut plan.ops {
            let path = op.path().to_owned();
            refresh(&path, &mut op.current);
        }
        for attribution in &mut plan.attributions {
            let path = attribution.path().to_owned();
            refresh(&path, &mut attribution.current);
        }
    }
}

/// Returns the error for a plan with conflicts. The number of files without a conflict is counted
/// as in lists, where several operations may be one change.
fn conflict_error(
    set: &ChangeSet,
    id: ChangesId,
    plan: &ApplyPlan,
    paths: &[Vec<u8>],
) -> ChangesError {
    let free_plan = without_conflicts(plan, paths);
    let without_conflict = listing::items(&free_plan, Trees::open(set).as_mut()).len();
    ChangesError::Conflict {
        id,
        conflicts: paths.iter().map(|path| listing::name(path)).collect(),
        without_conflict: without_conflict as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operation_names_the_lock_that_another_process_does_not_release() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        store.max_lock_wait = std::time::Duration::ZERO;
        let undo = || store.undo("test", ChangesId(1), &[], false).unwrap_err();
        assert!(matches!(undo(), ChangesError::Unknown { .. }));
        let path = store.path.join(LOCK_FILE);
        // A process that opened the file for reading only can hold the lock, too.
        let held = File::open(&path).unwrap();
        held.lock().unwrap();
        let text = undo().to_string();
        assert!(text.contains(&path.display().to_string()), "{text}");
    }
}
