//! Committing, discarding, undoing, redoing: what is done with a set after its call.

use crate::apply::{Applying, Failed};
use crate::attributes;
use crate::contents::LARGEST;
use crate::error::ChangesError;
use crate::file_stat::FileStat;
use crate::held_plan::{HeldPlan, compared, drop_contents};
use crate::inversion::{Inversion, PlanPair, plan_pair, rest, state};
use crate::journal::Journal;
use crate::listing::{self, Trees};
use crate::meta::SetKind;
use crate::numbers::numbers;
use crate::plan::{Act, Plan};
use crate::preimages;
use crate::recorder::INDEX;
use crate::rooted_dir::RootedDir;
use crate::set::{ChangeSet, GONE, SetState, UPPER, WORK};
use crate::slots;
use crate::steps::Step;
use crate::store::Store;
use crate::traced;
use crate::upper::Scan;
use agent_bash_core::changes::{Changes, ChangesId, ChangesLevel};
use agent_bash_os::{PrivateDir, remove_tree};
use rustix::fs::{FlockOperation, Mode, flock, mkdirat, syncfs};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Held while something is done to a tree, or put in order, or removed.
const LOCK: &str = "lock";

/// What a trial did, and what others have changed meanwhile.
type HeldWithConflicts = Result<(HeldPlan, Vec<Vec<u8>>), ChangesError>;

impl Store {
    /// The call of a trial has ended, and all its processes have: its changes are held, and these are they, as they are now. One that
    /// has changed no file is not held: nothing is to be decided about it.
    ///
    /// # Errors
    /// They cannot be read; they are held nevertheless. Or [`ChangesError::NotHeld`]: they are discarded.
    pub fn hold(&self, mut set: ChangeSet) -> Result<Changes, ChangesError> {
        let taken = listing::photograph(&set, self.care);
        if taken.as_ref().is_ok_and(|(photo, _)| photo.is_of_nothing()) {
            discard(&mut set)?;
            return listing::summary(&set, &Plan::default());
        }
        held(set, taken)
    }

    /// The same of a trial that is committed next: also where only times have changed.
    ///
    /// # Errors
    /// As for [`Store::hold`].
    pub fn hold_to_commit(&self, set: ChangeSet) -> Result<Changes, ChangesError> {
        let taken = listing::photograph(&set, self.care);
        held(set, taken)
    }

    /// The call of a trial has ended, and nobody wants its changes.
    ///
    /// # Errors
    /// They cannot be removed; the next open of the store does so.
    pub fn drop_trial(&self, mut set: ChangeSet) -> Result<Changes, ChangesError> {
        let photo = listing::photograph(&set, self.care).map(|(photo, _)| photo);
        if let Ok(photo) = &photo
            && !photo.is_of_nothing()
        {
            // Else it is not known any more what there was.
            let _ = photo.keep(&set);
        }
        discard(&mut set)?;
        let photo = photo?;
        let changes = listing::summary(&set, &photo.plan)?;
        let files = listing::photographed(&photo.plan, &photo);
        Ok(changes.with_files(files.iter().map(listing::file)))
    }

    /// The call of a trace has ended, and the recorder has: these are its changes. They stay made. The set of a call that
    /// changed nothing is there until another call takes it over.
    ///
    /// # Errors
    /// What was recorded cannot be read, or not be compared with what is there.
    pub fn finish(&self, set: ChangeSet) -> Result<Changes, ChangesError> {
        self.ended(set, SetState::Done)
    }

    /// The same where the recorder may not have seen all of it, or there was none.
    ///
    /// # Errors
    /// As for [`Store::finish`].
    pub fn break_off(&self, set: ChangeSet) -> Result<Changes, ChangesError> {
        self.ended(set, SetState::Interrupted)
    }

    fn ended(&self, mut set: ChangeSet, untouched: SetState) -> Result<Changes, ChangesError> {
        traced::conclude(&mut set, self.care, SetState::Done, untouched)?;
        let changes = self.describe(&set)?;
        let is_certain = set.state == SetState::Done || !set.dir.has(INDEX);
        if is_certain && changes.counts.total() == 0 {
            self.recycle(set);
        } else {
            set.keep_command();
        }
        Ok(changes)
    }

    /// Makes the changes of a held trial: all of them, or, if somebody else has changed one of the files, none.
    ///
    /// # Errors
    /// [`ChangesError::Conflict`] names the files. After any error the tree is as it was, except after
    /// [`ChangesError::Partly`].
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
        let done = self.carry_out(&set, &mut applying, found.plan);
        if done.is_ok() {
            // The journal says so, too.
            let _ = set.set_state(SetState::Done);
            // What was there before is in the slots.
            let _ = drop_contents(&set.dir);
            if set.meta.slot_directory().is_some() {
                // Copies of it are in the tree.
                let _ = remove_tree(&set.upper());
            }
        } else if matches!(done, Err(ChangesError::Io { .. })) {
            // Taking back has changed inodes' times, which is not to be a conflict when it is tried again. What others
            // change from here on is one; what they have changed until here is seen now.
            let mark = set.mark;
            set.mark()?;
            if !applying.is_as_before(&plan) {
                set.mark = mark;
                set.set_state(SetState::Held)?;
            }
        }
        done?;
        self.describe(&set)
    }

    /// Removes the changes of a held trial.
    ///
    /// # Errors
    /// It is not held.
    pub fn discard(&self, session: &str, id: ChangesId) -> Result<Changes, ChangesError> {
        let _lock = self.lock()?;
        let mut set = self.idle(session, id)?;
        if set.meta.kind != SetKind::Trial || set.state != SetState::Held {
            return Err(state(id, "discarded", &set));
        }
        discard(&mut set)?;
        self.describe(&set)
    }

    /// Takes back what a set did: of `paths` (below the root, with what is in them), or all if there are none. With
    /// `partial`, what somebody has changed since is left out. Returns the set that this is, which can be undone, too.
    ///
    /// # Errors
    /// [`ChangesError::Conflict`] names what was changed since; nothing was done then.
    pub fn undo(
        &self,
        session: &str,
        id: ChangesId,
        paths: &[PathBuf],
        partial: bool,
    ) -> Result<Changes, ChangesError> {
        self.invert(session, id, paths, partial, false)
    }

    /// Does again what was taken back of a set.
    ///
    /// # Errors
    /// As for [`Store::undo`].
    pub fn redo(&self, session: &str, id: ChangesId) -> Result<Changes, ChangesError> {
        self.invert(session, id, &[], false, true)
    }

    fn invert(
        &self,
        session: &str,
        id: ChangesId,
        paths: &[PathBuf],
        partial: bool,
        again: bool,
    ) -> Result<Changes, ChangesError> {
        let _lock = self.lock()?;
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
            plan.left = conflicts;
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
        };
        let mut set = self.begin(session, &origin.root(), kind, ChangesLevel::Undo)?;
        if let Some(beside) = origin.meta.slot_directory() {
            set.meta.put_beside(Some(beside));
            set.meta.write(&set.dir)?;
        }
        match self.carry_out(&set, &mut applying, plan) {
            Ok(()) => {
                // The journal says so, too. In this order: of a set that still runs, whoever opens the store next sees to both.
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

    /// Writes the journal into the set, and does what the plan says, in which nobody has seen a conflict.
    fn carry_out(
        &self,
        set: &ChangeSet,
        applying: &mut Applying<'_>,
        plan: Plan,
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
        let left = journal.back.map(|back| back.left).unwrap_or_default();
        let error = match failed {
            Failed::Changed(path) => conflict(set, set.id, &journal.plan, &[path]),
            Failed::System(path, error) => {
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

    /// Makes the slots of new directories, and takes the overlay's marks off what is put.
    fn prepare(
        &self,
        set: &ChangeSet,
        slots: &mut RootedDir,
        found: &mut Scan,
    ) -> Result<(), ChangesError> {
        let failed = |slot: &Path| ChangesError::errno("preparing", set.dir().join(slot));
        for slot in &found.made {
            let (dir, name) = slots.parent(slot).map_err(failed(slot))?;
            mkdirat(dir, name, Mode::RWXU).map_err(failed(slot))?;
        }
        for op in found.plan.ops.iter_mut().filter(|op| op.act != Act::Take) {
            let slot = Path::new(OsStr::from_bytes(&op.slot));
            let (dir, name) = slots.parent(slot).map_err(failed(slot))?;
            if self.care.stripped {
                attributes::strip(dir.as_fd(), name).map_err(failed(slot))?;
            }
            op.there = FileStat::at(dir, name).map_err(failed(slot))?;
        }
        Ok(())
    }

    /// A tree to change, and the directory with the files of a set.
    pub(crate) fn applying(
        &self,
        set: &ChangeSet,
        slots: &Path,
    ) -> Result<Applying<'_>, ChangesError> {
        Ok(Applying {
            root: RootedDir::open_same(&set.root(), set.meta.identity)?,
            slots: RootedDir::open(slots)?,
            is_far: set.meta.slot_directory().is_some(),
            steps: &*self.steps,
            care: self.care,
        })
    }

    /// Waits until nobody else changes a tree or removes sets.
    pub(crate) fn lock(&self) -> Result<File, ChangesError> {
        let (file, path) = self.lock_file()?;
        flock(&file, FlockOperation::LockExclusive)
            .map_err(ChangesError::errno("locking", path))?;
        Ok(file)
    }

    pub(crate) fn lock_file(&self) -> Result<(File, PathBuf), ChangesError> {
        let path = self.path.join(LOCK);
        let dir =
            PrivateDir::create_at(&self.path).map_err(ChangesError::io("opening", &self.path))?;
        let file = dir
            .open_or_create(LOCK)
            .map_err(ChangesError::io("opening", &path))?;
        Ok((file, path))
    }

    /// A set whose call does not run.
    pub(crate) fn idle(&self, session: &str, id: ChangesId) -> Result<ChangeSet, ChangesError> {
        let session = self.session(session)?;
        let unknown = || ChangesError::Unknown { id };
        let mut set = self.look_up(&session, id)?.ok_or_else(unknown)?;
        if set.unfinished()?.is_some() {
            // It could not be finished when the store was opened. It can now, or is told why not.
            self.recover_one(&session, set)?;
            set = self.look_up(&session, id)?.ok_or_else(unknown)?;
        }
        if set.state == SetState::Running && !set.is_idle() {
            return Err(ChangesError::Running { id });
        }
        Ok(set)
    }

    /// What a set is, for a result.
    pub(crate) fn describe(&self, set: &ChangeSet) -> Result<Changes, ChangesError> {
        listing::describe(self, set)
    }
}

/// Holds what a trial did, and says what that is.
fn held(mut set: ChangeSet, taken: HeldWithConflicts) -> Result<Changes, ChangesError> {
    if let Ok((photo, _)) = &taken {
        // Where there is no room, it is compared whenever it is looked at, or a diff says what is not known.
        let _ = photo.keep(&set);
        let _ = photo.keep_contents(&set, LARGEST);
    }
    if let Err(error) = set.end(SetState::Held) {
        // If something of it stays, whoever opens the store next removes it: nobody has it any more.
        let _ = discard(&mut set);
        let why = error.to_string();
        return Err(ChangesError::NotHeld { why });
    }
    let (photo, conflicts) = taken?;
    let mut plan = photo.plan.clone();
    plan.left = conflicts;
    let files = listing::photographed(&plan, &photo);
    let changes = listing::summary(&set, &plan)?;
    Ok(changes.with_files(files.iter().map(listing::file)))
}

/// Removes what a trial has written. The work directory goes first, for [`Set::read`] takes a trial without one for
/// discarded: where a quota is used up, a file system that copies on write lets files be removed, but not written to.
pub(crate) fn discard(set: &mut ChangeSet) -> Result<(), ChangesError> {
    let said = set.set_state(SetState::Discarded);
    for name in [WORK, UPPER, GONE] {
        let path = set.dir.path().join(name);
        remove_tree(&path).map_err(ChangesError::io("removing", path))?;
    }
    drop_contents(&set.dir).map_err(ChangesError::io("removing", set.dir()))?;
    if said.is_err() {
        // There may be room now.
        let _ = set.set_state(SetState::Discarded);
    }
    Ok(())
}

/// The first number that no slot of a set has.
fn unused(dir: &PrivateDir) -> Result<u64, ChangesError> {
    let gone = PrivateDir::open(dir.path(), &[GONE])
        .map_err(ChangesError::io("opening", dir.path().join(GONE)))?;
    Ok(numbers(&gone)?.last().map_or(0, |last| last + 1))
}

/// Says of a set whether all, some or none of its changes are made still.
pub(crate) fn settle(session: &PrivateDir, mut origin: ChangeSet) -> Result<(), ChangesError> {
    let PlanPair { made, back } = plan_pair(session, &origin)?;
    // Times that somebody else's changes stood in the way of are not given back; the files are.
    let is_undone = made.is_empty() || made.is_soft() && !back.is_empty();
    let state = match (is_undone, origin.state) {
        (true, _) => SetState::Undone,
        (false, SetState::Interrupted) => SetState::Interrupted,
        (false, _) => SetState::Done,
    };
    let in_part = !is_undone && !back.is_soft();
    if (origin.state, origin.in_part) == (state, in_part) {
        return Ok(());
    }
    origin.in_part = in_part;
    origin.set_state(state)
}

impl Applying<'_> {
    /// Links that were made into slots have changed the times of the inodes of files that are in the tree as well.
    fn look_again(&mut self, plan: &mut Plan) {
        let slots: HashSet<u64> = plan
            .ops
            .iter()
            .filter_map(|op| op.there.map(|it| it.ino))
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
            again(&path, &mut op.here);
        }
        for it in &mut plan.attributions {
            let path = it.path().to_owned();
            again(&path, &mut it.here);
        }
    }
}

/// That a plan, whose files are in that set, cannot be carried out. The files that are free of it are counted as they are
/// wherever a set is shown, not as operations: that many an undo in part changes.
fn conflict(set: &ChangeSet, id: ChangesId, plan: &Plan, paths: &[Vec<u8>]) -> ChangesError {
    let rest = rest(plan, paths);
    let free = listing::items(&rest, Trees::open(set).as_mut()).len();
    ChangesError::Conflict {
        id,
        conflicts: paths.iter().map(|path| listing::name(path)).collect(),
        free: free as u64,
    }
}
