//! What turns a set's changes the other way: what is to be done for it, and what is in the way. Nothing is done here.

use crate::alike::{bytes, look};
use crate::apply::Applying;
use crate::error::ChangesError;
use crate::listing::{self, Trees};
use crate::meta::SetKind;
use crate::numbers::numbers;
use crate::plan::{Act, Attribution, Op, Plan};
use crate::preimages;
use crate::put_back::PutBack;
use crate::set::{ChangeSet, SetState};
use crate::store::Store;
use agent_bash_core::changes::{ChangeCounts, ChangesId, FileChange, FileName};
use agent_bash_os::PrivateDir;
use rustix::io::Errno;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What an undo or a redo would do now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preview {
    /// How many files it would change.
    pub counts: ChangeCounts,
    /// All of them: what would be done to each.
    pub files: Vec<FileChange>,
    /// What somebody has changed since; because of these nothing would be done, unless it may be done in part.
    pub conflicts: Vec<FileName>,
    /// What would be done in part: all of [`Self::files`] if nothing conflicts.
    pub free: Vec<FileChange>,
}

impl Store {
    /// What [`Store::undo`] of all that a set did would do now, or, with `again`, [`Store::redo`]. Nothing is done.
    ///
    /// # Errors
    /// There is no such set, or nothing of it to be undone or redone.
    pub fn preview(
        &self,
        session: &str,
        id: ChangesId,
        again: bool,
    ) -> Result<Preview, ChangesError> {
        let _lock = self.lock()?;
        let turn = self.inverting(session, id, &[], again)?;
        let mut trees = Trees::open(&turn.origin);
        let mut files = |plan: &Plan| -> Vec<FileChange> {
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

    /// What is to be done to turn a set the other way, and what is in the way of it. Nothing is done.
    pub(crate) fn inverting(
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
        // Taking back what an undo did is doing it again.
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
            let why = "what was there before was not kept".to_owned();
            return Err(ChangesError::State { id, wanted, why });
        }
        if plan.is_empty() || was_undone || !preimages::keeps(&origin) {
            return Err(state(id, wanted, &asked));
        }
        select(&mut plan, id, paths)?;
        let mut applying = self.applying(&origin, &origin.slots())?;
        applying.drop_stale(&mut plan);
        applying
            .keep_times(&mut plan)
            .map_err(ChangesError::errno("looking at", origin.root()))?;
        let mut conflicts = applying.conflicts(&plan)?;
        if !conflicts.is_empty() && applying.accept(&mut plan, &PutBack::read(&directory)?) {
            conflicts = applying.conflicts(&plan)?;
        }
        Ok(Inversion {
            origin,
            forwards,
            packed,
            plan,
            applying,
            conflicts,
        })
    }
}

/// A set that is to be turned the other way.
pub(crate) struct Inversion<'a> {
    /// The set whose files change places.
    pub(crate) origin: ChangeSet,
    /// Whether its changes are made again, not taken back.
    pub(crate) forwards: bool,
    /// Whether its files are still as a trace kept them.
    pub(crate) packed: bool,
    pub(crate) plan: Plan,
    pub(crate) applying: Applying<'a>,
    /// What somebody has changed since.
    pub(crate) conflicts: Vec<Vec<u8>>,
}

/// What turns a set's changes the other way.
pub(crate) struct PlanPair {
    /// Those that are made.
    pub(crate) made: Plan,
    /// Those that were taken back.
    pub(crate) back: Plan,
}

/// By what was done last with each of its files.
pub(crate) fn plan_pair(
    session: &PrivateDir,
    origin: &ChangeSet,
) -> Result<PlanPair, ChangesError> {
    let mut ops: BTreeMap<Vec<u8>, (bool, Op)> = BTreeMap::new();
    let mut looks: BTreeMap<Vec<u8>, (bool, Attribution)> = BTreeMap::new();
    for number in numbers(session)? {
        // One that was never made wholly, as its host was killed, has done nothing.
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
    let (mut made, mut back) = (Plan::default(), Plan::default());
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

/// A plan without what conflicts, and what cannot be done without that.
pub(crate) fn rest(plan: &Plan, conflicts: &[Vec<u8>]) -> Plan {
    let mut plan = plan.clone();
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
    plan
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

impl Applying<'_> {
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
                self.root.stat_root().ok()
            } else {
                self.root.stat(it.path()).ok().flatten()
            };
            !it.is_soft() || now.is_some_and(|now| now.mtime == here.mtime)
        });
    }
}

/// What a set is, so that something cannot be done with it.
pub(crate) fn state(id: ChangesId, wanted: &'static str, set: &ChangeSet) -> ChangesError {
    let why = match (set.meta.kind, set.state) {
        (_, SetState::Discarded) => "they were discarded",
        (_, SetState::Undone) => "they were undone",
        (SetKind::Trial, SetState::Held) => "nothing of them was applied yet",
        (SetKind::Trial, SetState::Running) => "their host is gone",
        (SetKind::Trial, SetState::Done) if wanted == "committed" => "they were committed before",
        (SetKind::Trial, _) if wanted == "discarded" => "they were committed; they can be undone",
        (SetKind::Trace | SetKind::Background { .. }, _) if !preimages::keeps(set) => {
            "only their names were kept"
        }
        (SetKind::Scan, _) => "nobody could watch them, so that only names are known",
        (SetKind::Trace | SetKind::Background { .. }, _)
            if wanted != "undone" && wanted != "redone" =>
        {
            "they were made in place"
        }
        _ if wanted == "redone" => "nothing of them was undone",
        _ => "there is nothing to be taken back",
    };
    let why = why.to_owned();
    ChangesError::State { id, wanted, why }
}
