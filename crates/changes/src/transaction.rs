//! Committing, discarding, undoing, redoing: what is done with a set after its call.

use crate::apply::{Applying, Failed};
use crate::attributes;
use crate::beneath::Tree;
use crate::error::ChangesError;
use crate::journal::{Journal, Status};
use crate::listing;
use crate::meta::Kind;
use crate::modes::Modes;
use crate::plan::{Act, Attribution, Op, Plan};
use crate::recorder::Index;
use crate::remove;
use crate::seen::Seen;
use crate::set::{GONE, Set, State, UPPER, WORK};
use crate::steps::{Care, Step, Undisturbed};
use crate::store::{Store, numbers};
use crate::traced;
use crate::upper::{Scan, bytes, look, scan};
use agent_bash_core::changes::{Changes, ChangesId, ChangesLevel, FileName};
use agent_bash_os::PrivateDir;
use rustix::fs::{FlockOperation, Mode, flock, mkdirat, syncfs};
use rustix::io::Errno;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Held while something is done to a tree, or put in order, or removed.
const LOCK: &str = "lock";

impl Store {
    /// The call of a trial has ended, and all its processes have: its changes are held, and these are they.
    ///
    /// # Errors
    /// They cannot be read. They are held nevertheless.
    pub fn hold(&self, mut set: Set) -> Result<Changes, ChangesError> {
        set.end(State::Held)?;
        self.describe(&set)
    }

    /// The call of a trial has ended, and nobody wants its changes.
    ///
    /// # Errors
    /// They cannot be removed; the next open of the store does so.
    pub fn drop_trial(&self, mut set: Set) -> Result<Changes, ChangesError> {
        let changes = self.describe(&set);
        discard(&mut set)?;
        let mut changes = changes?;
        changes.state = agent_bash_core::changes::ChangesState::Discarded;
        changes.undo = agent_bash_core::changes::Undoable::No;
        Ok(changes)
    }

    /// The call of a trace has ended, and the recorder has: these are its changes. They stay made.
    ///
    /// # Errors
    /// What was recorded cannot be read, or not be compared with what is there.
    pub fn finish(&self, mut set: Set) -> Result<Changes, ChangesError> {
        self.conclude(&mut set, State::Done)?;
        self.describe(&set)
    }

    /// Writes down what a trace did.
    pub(crate) fn conclude(&self, set: &mut Set, state: State) -> Result<(), ChangesError> {
        let index = Index::read(&set.dir)?;
        let effects = traced::effects(set, &index)?;
        let failed = || ChangesError::io("writing the journal of", set.dir());
        // Nothing is to be done, so that nothing has to be on disk first.
        let care = Care {
            synced: false,
            ..self.care
        };
        let mut journal = Journal::begin(&set.dir, effects.plan, &Undisturbed, care)?;
        journal.note(effects.back).map_err(failed())?;
        let state = if index.complete {
            state
        } else {
            State::Interrupted
        };
        set.end(state)
    }

    /// Makes the changes of a held trial: all of them, or, if somebody else has changed one of the files, none.
    ///
    /// # Errors
    /// [`ChangesError::Conflict`] names the files. After any error the tree is as it was, except after
    /// [`ChangesError::Partly`].
    pub fn commit(&self, session: &str, id: ChangesId) -> Result<Changes, ChangesError> {
        let _lock = self.lock()?;
        let mut set = self.idle(session, id)?;
        if set.meta.kind != Kind::Trial || set.state != State::Held {
            return Err(state(id, "committed", &set));
        }
        near(&set, "committed")?;
        let mut applying = self.applying(&set, &set.dir)?;
        let mut found = scan(
            &mut applying.root,
            &mut applying.slots,
            set.mark,
            unused(&set.dir)?,
            self.care,
            Modes::read(&set.dir).map_err(ChangesError::io("reading", set.dir()))?,
        )?;
        let all = found.plan.ops.len() + found.plan.attributions.len();
        if !found.conflicts.is_empty() {
            return Err(conflict(id, &found.conflicts, all));
        }
        self.prepare(&set, &mut applying.slots, &mut found)?;
        let plan = found.plan.clone();
        let done = self.carry_out(&set, &mut applying, found.plan);
        if done.is_ok() {
            // The journal says so, too.
            let _ = set.set_state(State::Done);
        } else if matches!(done, Err(ChangesError::Io { .. })) {
            // Taking back has changed inodes' times, which is not to be a conflict when it is tried again. What others
            // change from here on is one; what they have changed until here is seen now.
            let mark = set.mark;
            set.mark()?;
            if !applying.is_as_before(&plan) {
                set.mark = mark;
                set.set_state(State::Held)?;
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
        if set.meta.kind != Kind::Trial || set.state != State::Held {
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
        self.turn(session, id, paths, partial, false)
    }

    /// Does again what was taken back of a set.
    ///
    /// # Errors
    /// As for [`Store::undo`].
    pub fn redo(&self, session: &str, id: ChangesId) -> Result<Changes, ChangesError> {
        self.turn(session, id, &[], false, true)
    }

    fn turn(
        &self,
        session: &str,
        id: ChangesId,
        paths: &[PathBuf],
        partial: bool,
        again: bool,
    ) -> Result<Changes, ChangesError> {
        let _lock = self.lock()?;
        let asked = self.idle(session, id)?;
        let wanted = if again { "redone" } else { "undone" };
        let directory = self.session(session)?;
        let origin = match asked.meta.kind {
            Kind::Undo { origin, .. } => self.idle(session, ChangesId(origin))?,
            _ => self.idle(session, id)?,
        };
        // Taking back what an undo did is doing it again.
        let forwards = match asked.meta.kind {
            Kind::Undo {
                again: was_again, ..
            } => again == was_again,
            _ => again,
        };
        near(&origin, wanted)?;
        let (mut plan, packed) = turns(&directory, &origin, forwards)?;
        if plan.is_empty() || !traced::keeps(&origin) {
            return Err(state(id, wanted, &asked));
        }
        select(&mut plan, id, paths)?;
        let mut applying = self.applying(&origin, &origin.dir)?;
        applying.drop_stale(&mut plan);
        applying
            .keep_times(&mut plan)
            .map_err(ChangesError::errno("looking at", origin.root()))?;
        let conflicts = applying.conflicts(&plan)?;
        if !conflicts.is_empty() {
            let all = plan.ops.len() + plan.attributions.iter().filter(|it| !it.is_soft()).count();
            if !partial {
                return Err(conflict(id, &conflicts, all));
            }
            leave(&mut plan, &conflicts);
            plan.left = conflicts;
            if plan.ops.is_empty() {
                return Err(conflict(id, &plan.left, plan.left.len()));
            }
        }
        if packed {
            traced::unpack(&origin, &mut plan)?;
            applying.look_again(&mut plan);
        }
        let kind = Kind::Undo {
            of: id.0,
            origin: origin.id.0,
            again: forwards,
        };
        let mut set = self.begin(session, &origin.root(), kind, ChangesLevel::Undo)?;
        match self.carry_out(&set, &mut applying, plan) {
            Ok(()) => {
                // The journal says so, too.
                let _ = set.set_state(State::Done);
                let _ = settle(&directory, origin);
                self.describe(&set)
            }
            Err(error) => {
                let _ = set.set_state(State::Discarded);
                Err(error)
            }
        }
    }

    /// Writes the journal into the set, and does what the plan says.
    fn carry_out(
        &self,
        set: &Set,
        applying: &mut Applying<'_>,
        plan: Plan,
    ) -> Result<(), ChangesError> {
        let all = plan.ops.len();
        let conflicts = applying.conflicts(&plan)?;
        if !conflicts.is_empty() {
            return Err(conflict(set.id, &conflicts, all));
        }
        self.steps
            .at(Step::Checked)
            .map_err(ChangesError::io("applying", set.dir()))?;
        if self.care.synced {
            syncfs(set.dir.as_fd()).map_err(ChangesError::errno("syncing", set.dir()))?;
        }
        let mut journal = Journal::begin(&set.dir, plan, &*self.steps, self.care)?;
        let Err(failed) = applying.run(&mut journal) else {
            return Ok(());
        };
        let left = journal.back.map(|back| back.left).unwrap_or_default();
        let error = match failed {
            Failed::Changed(path) => conflict(set.id, &[path], all),
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
    fn prepare(&self, set: &Set, slots: &mut Tree, found: &mut Scan) -> Result<(), ChangesError> {
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
            op.there = Seen::at(dir, name).map_err(failed(slot))?;
        }
        Ok(())
    }

    /// A tree to change, and the directory with the files of a set.
    pub(crate) fn applying(
        &self,
        set: &Set,
        files: &PrivateDir,
    ) -> Result<Applying<'_>, ChangesError> {
        Ok(Applying {
            root: Tree::open_same(&set.root(), set.meta.identity)?,
            slots: Tree::open(files.path())?,
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
    pub(crate) fn idle(&self, session: &str, id: ChangesId) -> Result<Set, ChangesError> {
        let set = Set::read(&self.session(session)?, id)?.ok_or(ChangesError::Unknown { id })?;
        if set.state == State::Running && !set.is_idle() {
            return Err(ChangesError::Running { id });
        }
        Ok(set)
    }

    /// What a set is, for a result.
    fn describe(&self, set: &Set) -> Result<Changes, ChangesError> {
        listing::describe(self, set)
    }
}

/// Removes what a trial has written.
pub(crate) fn discard(set: &mut Set) -> Result<(), ChangesError> {
    set.set_state(State::Discarded)?;
    for name in [UPPER, WORK, GONE] {
        let path = set.dir.path().join(name);
        remove::tree(&path).map_err(ChangesError::io("removing", path))?;
    }
    Ok(())
}

/// The first number that no slot of a set has.
fn unused(dir: &PrivateDir) -> Result<u64, ChangesError> {
    let gone = PrivateDir::open(dir.path(), &[GONE])
        .map_err(ChangesError::io("opening", dir.path().join(GONE)))?;
    Ok(numbers(&gone)?.last().map_or(0, |last| last + 1))
}

/// What turns a set's changes the other way: those that are made, or, `forwards`, those that were taken back. And
/// whether their files are still as a trace kept them.
fn turns(session: &PrivateDir, origin: &Set, forwards: bool) -> Result<(Plan, bool), ChangesError> {
    let mut ops: BTreeMap<Vec<u8>, (bool, Op)> = BTreeMap::new();
    let mut looks: BTreeMap<Vec<u8>, (bool, Attribution)> = BTreeMap::new();
    for number in numbers(session)? {
        let Some(set) = Set::read(session, ChangesId(number))? else {
            continue;
        };
        if set.origin() != origin.id {
            continue;
        }
        let made = !matches!(set.meta.kind, Kind::Undo { again: false, .. });
        let Some(journal) = set.journal()? else {
            continue;
        };
        if journal.status != Status::Done {
            continue;
        }
        let back = journal.back.unwrap_or_default();
        for op in back.ops {
            ops.insert(op.slot.clone(), (made, op));
        }
        for look in back.attributions {
            looks.insert(look.path.clone(), (made, look));
        }
    }
    let mut plan = Plan::default();
    plan.ops.extend(
        ops.into_values()
            .filter(|(made, _)| *made != forwards)
            .map(|(_, op)| op),
    );
    plan.attributions.extend(
        looks
            .into_values()
            .filter(|(made, _)| *made != forwards)
            .map(|(_, it)| it),
    );
    plan.sort();
    Ok((plan, origin.meta.kind == Kind::Trace && !forwards))
}

/// Says of a set whether any of its changes are made still.
pub(crate) fn settle(session: &PrivateDir, mut origin: Set) -> Result<(), ChangesError> {
    let (plan, _) = turns(session, &origin, false)?;
    let state = if plan.is_empty() {
        State::Undone
    } else {
        State::Done
    };
    if origin.state == state || origin.state == State::Interrupted && state == State::Done {
        return Ok(());
    }
    origin.set_state(state)
}

/// Leaves only what is at these paths or below them, and the directories that this needs.
fn select(plan: &mut Plan, id: ChangesId, paths: &[PathBuf]) -> Result<(), ChangesError> {
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
        .retain(|op| meant(op.path()) || (op.act == Act::Put && above(op.path())));
    plan.attributions.retain(|it| meant(it.path()));
    Ok(())
}

/// Leaves out what conflicts, and what cannot be done without it.
fn leave(plan: &mut Plan, conflicts: &[Vec<u8>]) {
    let paths: Vec<&Path> = conflicts
        .iter()
        .map(|path| Path::new(OsStr::from_bytes(path)))
        .collect();
    let stays = |op: &Op| {
        let path = op.path();
        paths.iter().any(|conflict| match op.act {
            // What is in a directory that is not put cannot be either; a directory is not taken from around a file.
            Act::Put => path.starts_with(conflict),
            Act::Take => conflict.starts_with(path),
            Act::Swap => path == *conflict,
        })
    };
    plan.ops.retain(|op| !stays(op));
    plan.attributions.retain(|it| !paths.contains(&it.path()));
}

impl Applying<'_> {
    /// Links that were made into slots have changed the times of the inodes of files that are in the tree as well.
    fn look_again(&mut self, plan: &mut Plan) {
        let slots: HashSet<u64> = plan
            .ops
            .iter()
            .filter_map(|op| op.there.map(|it| it.ino))
            .collect();
        let mut again = |path: &Path, here: &mut Option<Seen>| {
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

    /// Where files only change places with others, nothing of their directory is to change.
    fn keep_times(&mut self, plan: &mut Plan) -> Result<(), Errno> {
        let parent = |op: &Op| op.path().parent().unwrap_or(Path::new("")).to_owned();
        let mut kept: HashSet<PathBuf> = plan.ops.iter().map(parent).collect();
        for op in plan.ops.iter().filter(|op| op.act != Act::Swap) {
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
                here: Some(seen),
                before: Some(same.clone()),
                after: Some(same),
            });
        }
        plan.sort();
        Ok(())
    }

    /// Leaves out times of what somebody else has changed since.
    fn drop_stale(&mut self, plan: &mut Plan) {
        plan.attributions.retain(|it| {
            let Some(here) = &it.here else { return true };
            let now = if it.path.is_empty() {
                self.root.seen().ok()
            } else {
                self.root.at(it.path()).ok().flatten()
            };
            !it.is_soft() || now.is_some_and(|now| now.mtime == here.mtime)
        });
    }
}

fn conflict(id: ChangesId, paths: &[Vec<u8>], all: usize) -> ChangesError {
    let name = |path: &Vec<u8>| FileName::new(OsStr::from_bytes(path));
    ChangesError::Conflict {
        id,
        conflicts: paths.iter().map(name).collect(),
        free: all.saturating_sub(paths.len()) as u64,
    }
}

/// Files change places by renames, which lead to no other mount.
fn near(set: &Set, wanted: &'static str) -> Result<(), ChangesError> {
    if set.meta.near {
        return Ok(());
    }
    let (id, root, store) = (set.id, set.root(), set.dir());
    let why = format!(
        "`{}` is on another mount than `{}`, where they are kept; set AGENT_BASH_STATE_DIR to a directory beside it",
        root.display(),
        store.display()
    );
    Err(ChangesError::State { id, wanted, why })
}

fn state(id: ChangesId, wanted: &'static str, set: &Set) -> ChangesError {
    let why = match (set.meta.kind, set.state) {
        (_, State::Discarded) => "they were discarded",
        (_, State::Undone) => "they were undone",
        (Kind::Trial, State::Held) => "nothing of them was applied yet",
        (Kind::Trial, State::Running) => "their host is gone",
        (Kind::Trial, State::Done) if wanted == "committed" => "they were committed before",
        (Kind::Trial, _) if wanted == "discarded" => "they were committed; they can be undone",
        (Kind::Trace, _) if !traced::keeps(set) => "only their names were kept",
        (Kind::Trace, _) if wanted != "undone" && wanted != "redone" => "they were made in place",
        _ if wanted == "redone" => "nothing of them was undone",
        _ => "there is nothing to be taken back",
    };
    let why = why.to_owned();
    ChangesError::State { id, wanted, why }
}
