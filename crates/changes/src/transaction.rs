//! Commits, discards, undoes and redoes change sets.

use crate::apply::{ApplyDirectories, ApplyFailure};
use crate::assumed::AssumedFiles;
use crate::attributes;
use crate::contents::MAX_FILE_BYTES;
use crate::error::ChangesError;
use crate::file_stat::FileStat;
use crate::held_plan::{HeldPlan, compared, drop_contents};
use crate::inversion::{Inversion, PlanPair, plan_pair, rest, state};
use crate::journal::Journal;
use crate::listing::{self, Trees};
use crate::meta::SetKind;
use crate::numbers::numbers;
use crate::plan::{ApplyPlan, SlotRename};
use crate::preimages;
use crate::recorder::INDEX_FILE;
use crate::rooted_dir::RootedDir;
use crate::set::{ChangeSet, SLOTS_DIR, SetState, UPPER_DIR, WORK_DIR};
use crate::slots;
use crate::steps::Step;
use crate::store::Store;
use crate::traced;
use crate::upper::UpperScan;
use agent_bash_core::changes::{Changes, ChangesId, ChangesLevel};
use agent_bash_os::{PrivateDir, remove_tree};
use rustix::fs::{FlockOperation, Mode, flock, mkdirat, syncfs};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The lock for changing a tree, recovering, and pruning.
const LOCK_FILE: &str = "lock";

/// The held plan of a trial, and the paths that other processes changed.
type HeldWithConflicts = Result<(HeldPlan, Vec<Vec<u8>>), ChangesError>;

impl Store {
    /// Holds the changes of an ended trial, and returns them as they are now. A trial that changed
    /// no file is not held, since there is nothing to decide.
    ///
    /// # Errors
    /// The changes cannot be read; they are held nevertheless. Or [`ChangesError::NotHeld`]: they
    /// were discarded.
    pub fn hold(&self, mut set: ChangeSet) -> Result<Changes, ChangesError> {
        let taken = listing::photograph(&set, self.care);
        if taken.as_ref().is_ok_and(|(photo, _)| photo.is_of_nothing()) {
            discard(&mut set)?;
            return listing::summary(&set, &ApplyPlan::default());
        }
        held(set, taken)
    }

    /// Holds a trial that is committed next, even if only times changed.
    ///
    /// # Errors
    /// See [`Store::hold`].
    pub fn hold_to_commit(&self, set: ChangeSet) -> Result<Changes, ChangesError> {
        let taken = listing::photograph(&set, self.care);
        held(set, taken)
    }

    /// Discards the changes of an ended trial.
    ///
    /// # Errors
    /// The changes cannot be removed. The next open of the store removes them.
    pub fn drop_trial(&self, mut set: ChangeSet) -> Result<Changes, ChangesError> {
        let photo = listing::photograph(&set, self.care).map(|(photo, _)| photo);
        if let Ok(photo) = &photo
            && !photo.is_of_nothing()
        {
            // The plan is written first, because it would be lost otherwise.
            let _ = photo.keep(&set);
        }
        discard(&mut set)?;
        let photo = photo?;
        let changes = listing::summary(&set, &photo.plan)?;
        let files = listing::photographed(&photo.plan, &photo);
        Ok(changes.with_files(files.iter().map(listing::file)))
    }

    /// Closes a trace whose call and recorder have ended, and returns its changes. The change set
    /// of a call that changed nothing exists until a later call reuses it.
    ///
    /// # Errors
    /// The records cannot be read, or cannot be compared with the tree.
    pub fn finish(&self, set: ChangeSet) -> Result<Changes, ChangesError> {
        self.ended(set, SetState::Done)
    }

    /// Closes a trace whose records may be incomplete or missing.
    ///
    /// # Errors
    /// See [`Store::finish`].
    pub fn break_off(&self, set: ChangeSet) -> Result<Changes, ChangesError> {
        self.ended(set, SetState::Interrupted)
    }

    fn ended(&self, mut set: ChangeSet, untouched: SetState) -> Result<Changes, ChangesError> {
        traced::conclude(&mut set, self.care, SetState::Done, untouched)?;
        let changes = self.describe(&set)?;
        let is_certain = set.state == SetState::Done || !set.dir.has(INDEX_FILE);
        if is_certain && changes.counts.total() == 0 {
            self.recycle(set);
        } else {
            set.unregister();
            set.keep_command();
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
            return Err(state(id, "committed", &set));
        }
        let mut upper = RootedDir::open(set.dir())?;
        let photo = HeldPlan::read(&set)?;
        let mut found = compared(&set, unused(&set.dir)?, self.care, photo.as_ref())?;
        if !found.conflicts.is_empty() {
            return Err(conflict(&set, id, &found.plan, &found.conflicts));
        }
        self.prepare(&set, &mut upper, &mut found)?;
        set.stage(&mut upper, &mut found.plan)?;
        let mut applying = self.applying(&set, &set.slots())?;
        let conflicts = applying.conflicts(&found.plan)?;
        if !conflicts.is_empty() {
            return Err(conflict(&set, id, &found.plan, &conflicts));
        }
        let plan = found.plan.clone();
        set.register()?;
        let done = self.carry_out(&set, &mut applying, found.plan);
        if done.is_ok() {
            // The journal says the same.
            let _ = set.set_state(SetState::Done);
            // The former files are in the slots.
            let _ = drop_contents(&set.dir);
            if set.meta.slot_directory().is_some() {
                // The tree has copies.
                let _ = remove_tree(&set.upper());
            }
        } else if matches!(done, Err(ChangesError::Io { .. })) {
            // The rollback changed times of inodes, which must not be a conflict at the next
            // attempt. Later changes of other processes are conflicts; earlier ones are detected
            // now.
            let mark = set.mark;
            set.mark()?;
            if !applying.is_as_before(&plan) {
                set.mark = mark;
                set.set_state(SetState::Held)?;
            }
        }
        if set.unfinished()?.is_none() {
            set.unregister();
        }
        done?;
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
            return Err(state(id, "discarded", &set));
        }
        discard(&mut set)?;
        self.describe(&set)
    }

    /// Undoes a change set: the changes at `paths` (below the root, with their entries), or all if
    /// `paths` is empty. With `partial`, files that were changed since are skipped. Returns the new
    /// change set of the undo, which can be undone as well.
    ///
    /// # Errors
    /// [`ChangesError::Conflict`] names the files that were changed since. Nothing was changed
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
            again: false,
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
            again: true,
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
        InversionKind { again, group }: InversionKind,
    ) -> Result<Changes, ChangesError> {
        let directory = self.session(session)?;
        let Inversion {
            origin,
            forwards,
            packed,
            mut plan,
            mut applying,
            conflicts,
        } = self.inverting(session, id, paths, again)?;
        if !conflicts.is_empty() {
            let rest = rest(&plan, &conflicts);
            if !partial || rest.is_soft() {
                return Err(conflict(&origin, id, &plan, &conflicts));
            }
            plan = rest;
            plan.skipped = conflicts;
        }
        if origin.meta.slot_directory().is_some() {
            slots::make(&origin.meta)?;
            applying.slots = RootedDir::open(&origin.slots())?;
        }
        if packed {
            preimages::unpack(&origin, &mut plan)?;
            applying.look_again(&mut plan);
        }
        let kind = SetKind::Undo {
            of: id.0,
            origin: origin.id.0,
            again: forwards,
            group,
        };
        let mut set = self.begin(session, &origin.root(), kind, ChangesLevel::Undo)?;
        if let Some(beside) = origin.meta.slot_directory() {
            set.meta.put_beside(Some(beside));
            set.meta.write(&set.dir)?;
        }
        match self.carry_out(&set, &mut applying, plan) {
            Ok(()) => {
                // The journal says the same.
                let _ = settle(&directory, origin);
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
        if self.care.synced {
            syncfs(set.dir.as_fd()).map_err(ChangesError::errno("syncing", set.dir()))?;
            applying.sync()?;
        }
        let mut journal = Journal::begin(&set.dir, plan, &*self.steps, self.care)?;
        let Err(failed) = applying.run(&mut journal) else {
            return Ok(());
        };
        let left = journal.back.map(|back| back.skipped).unwrap_or_default();
        let error = match failed {
            ApplyFailure::Changed(path) => conflict(set, set.id, &journal.plan, &[path]),
            ApplyFailure::System(path, error) => {
                let path = set.root().join(OsStr::from_bytes(&path));
                ChangesError::io("changing", path)(error)
            }
        };
        if left.is_empty() {
            return Err(error);
        }
        let (id, why) = (set.id, error.to_string());
        Err(ChangesError::Partly { id, why })
    }

    /// Creates the slots of new directories, and removes overlayfs attributes from files to be put.
    fn prepare(
        &self,
        set: &ChangeSet,
        slots: &mut RootedDir,
        found: &mut UpperScan,
    ) -> Result<(), ChangesError> {
        let failed = |slot: &Path| ChangesError::errno("preparing", set.dir().join(slot));
        for slot in &found.made {
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
            if self.care.stripped {
                attributes::strip(dir.as_fd(), name).map_err(failed(slot))?;
            }
            op.in_slot = FileStat::at(dir, name).map_err(failed(slot))?;
        }
        Ok(())
    }

    /// Returns the tree to change and the slot directory of a change set.
    pub(crate) fn applying(
        &self,
        set: &ChangeSet,
        slots: &Path,
    ) -> Result<ApplyDirectories<'_>, ChangesError> {
        Ok(ApplyDirectories {
            root: RootedDir::open_same(&set.root(), set.meta.identity)?,
            slots: RootedDir::open(slots)?,
            is_far: set.meta.slot_directory().is_some(),
            assumed: AssumedFiles::default(),
            steps: &*self.steps,
            care: self.care,
        })
    }

    /// Waits for the lock, so that no other process changes a tree or removes change sets.
    pub(crate) fn lock(&self) -> Result<File, ChangesError> {
        let (file, path) = self.lock_file()?;
        flock(&file, FlockOperation::LockExclusive)
            .map_err(ChangesError::errno("locking", path))?;
        Ok(file)
    }

    pub(crate) fn lock_file(&self) -> Result<(File, PathBuf), ChangesError> {
        let path = self.path.join(LOCK_FILE);
        let dir =
            PrivateDir::create_at(&self.path).map_err(ChangesError::io("opening", &self.path))?;
        let file = dir
            .open_or_create(LOCK_FILE)
            .map_err(ChangesError::io("opening", &path))?;
        Ok((file, path))
    }

    /// Returns a change set whose call does not run.
    pub(crate) fn idle(&self, session: &str, id: ChangesId) -> Result<ChangeSet, ChangesError> {
        let session = self.session(session)?;
        let unknown = || ChangesError::Unknown { id };
        let mut set = self.look_up(&session, id)?.ok_or_else(unknown)?;
        if set.unfinished()?.is_some() {
            // The recovery could not complete it. It can be completed now, or the error says why
            // not.
            self.recover_one(&session, set)?;
            set = self.look_up(&session, id)?.ok_or_else(unknown)?;
        }
        if set.state == SetState::Running && !set.is_idle() {
            return Err(ChangesError::Running { id });
        }
        Ok(set)
    }

    /// Returns the change set for a result.
    pub(crate) fn describe(&self, set: &ChangeSet) -> Result<Changes, ChangesError> {
        listing::describe(self, set)
    }
}

/// An undo or a redo.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InversionKind {
    /// True for a redo.
    pub(crate) again: bool,
    /// The number of the undo of several change sets that it is a part of.
    pub(crate) group: Option<u64>,
}

/// Holds a trial and returns its changes.
fn held(mut set: ChangeSet, taken: HeldWithConflicts) -> Result<Changes, ChangesError> {
    if let Ok((photo, _)) = &taken {
        // If the disk is full, the trial is compared at each view, or a diff says what is unknown.
        let _ = photo.keep(&set);
        let _ = photo.keep_contents(&set, MAX_FILE_BYTES);
    }
    if let Err(error) = set.end(SetState::Held) {
        // The next process that opens the store removes remaining files, since no process holds the
        // lock.
        let _ = discard(&mut set);
        let why = error.to_string();
        return Err(ChangesError::NotHeld { why });
    }
    let (photo, conflicts) = taken?;
    let mut plan = photo.plan.clone();
    plan.skipped = conflicts;
    let files = listing::photographed(&plan, &photo);
    let changes = listing::summary(&set, &plan)?;
    Ok(changes.with_files(files.iter().map(listing::file)))
}

/// Removes the files of a trial. The work directory is removed first, because [`ChangeSet::read`]
/// treats a trial without one as discarded. With an exhausted quota, a copy-on-write file system
/// allows removals but no writes.
pub(crate) fn discard(set: &mut ChangeSet) -> Result<(), ChangesError> {
    set.set_size(0);
    let said = set.set_state(SetState::Discarded);
    for name in [WORK_DIR, UPPER_DIR, SLOTS_DIR] {
        let path = set.dir.path().join(name);
        remove_tree(&path).map_err(ChangesError::io("removing", path))?;
    }
    drop_contents(&set.dir).map_err(ChangesError::io("removing", set.dir()))?;
    if said.is_err() {
        // The disk may have room now.
        let _ = set.set_state(SetState::Discarded);
    }
    Ok(())
}

/// Returns the first unused slot number.
fn unused(dir: &PrivateDir) -> Result<u64, ChangesError> {
    let gone = PrivateDir::open(dir.path(), &[SLOTS_DIR])
        .map_err(ChangesError::io("opening", dir.path().join(SLOTS_DIR)))?;
    Ok(numbers(&gone)?.last().map_or(0, |last| last + 1))
}

/// Records whether all, some or none of a change set's changes are undone.
pub(crate) fn settle(session: &PrivateDir, mut origin: ChangeSet) -> Result<(), ChangesError> {
    let PlanPair { made, back } = plan_pair(session, &origin)?;
    // Times that were in conflict are not restored; the files are.
    let is_undone = made.is_empty() || made.is_soft() && !back.is_empty();
    let state = match (is_undone, origin.state) {
        (true, _) => SetState::Undone,
        (false, SetState::Interrupted) => SetState::Interrupted,
        (false, _) => SetState::Done,
    };
    let in_part = !is_undone && !back.is_soft();
    // Also without another state, since the write tells a sweep that the set is in use.
    origin.in_part = in_part;
    origin.set_state(state)
}

impl ApplyDirectories<'_> {
    /// Updates a plan: links that became slots changed the times of inodes in the tree.
    fn look_again(&mut self, plan: &mut ApplyPlan) {
        let slots: HashSet<u64> = plan
            .ops
            .iter()
            .filter_map(|op| op.in_slot.map(|it| it.ino))
            .collect();
        let mut again = |path: &Path, here: &mut Option<FileStat>| {
            if let Some(was) = here
                && slots.contains(&was.ino)
                && let Ok(Some(now)) = self.look_at(path)
                && was.is_same_content(&now)
            {
                *was = now;
            }
        };
        for op in &mut plan.ops {
            let path = op.path().to_owned();
            again(&path, &mut op.current);
        }
        for it in &mut plan.attributions {
            let path = it.path().to_owned();
            again(&path, &mut it.current);
        }
    }
}

/// Returns the error for a plan with conflicts. Files without a conflict are counted as everywhere
/// in lists, not as operations, since an undo in part changes that many.
fn conflict(set: &ChangeSet, id: ChangesId, plan: &ApplyPlan, paths: &[Vec<u8>]) -> ChangesError {
    let rest = rest(plan, paths);
    let free = listing::items(&rest, Trees::open(set).as_mut()).len();
    ChangesError::Conflict {
        id,
        conflicts: paths.iter().map(|path| listing::name(path)).collect(),
        free: free as u64,
    }
}
