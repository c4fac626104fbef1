//! Lists the changes of a plan by file.

use crate::alike::same_bytes;
use crate::error::ChangesError;
use crate::file_stat::FileStat;
use crate::held_plan::{HeldPlan, compared};
use crate::journal::Status;
use crate::meta::SetKind;
use crate::plan::{ApplyPlan, FileAttributes, PlannedOp, SlotRename};
use crate::preimages;
use crate::recorder::Index;
use crate::rooted_dir::RootedDir;
use crate::set::{ChangeSet, SetState};
use crate::steps::Precautions;
use crate::store::Store;
use crate::traced;
use agent_bash_core::changes::{
    Change, Changes, ChangesBy, ChangesState, FileChange, FileKind, FileName, Undoable,
};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The largest number of bytes compared to detect renames.
const MAX_COMPARED_BYTES: u64 = 64 << 20;
/// The largest number of pairs of files compared to detect renames.
const MAX_COMPARISONS: u64 = 10_000;
/// The largest number of candidates of equal size for each new file.
const MAX_CANDIDATES: usize = 16;

/// One change with its operations.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) path: Vec<u8>,
    pub(crate) change: Change,
    pub(crate) from: Option<Vec<u8>>,
    /// True if the change was inferred from equal contents.
    pub(crate) inferred: bool,
    pub(crate) before: Option<FileStat>,
    pub(crate) after: Option<FileStat>,
    /// The operation that removes the former file. For a `Swap`, only the other operation is set.
    pub(crate) removal: Option<PlannedOp>,
    pub(crate) new: Option<PlannedOp>,
}

/// Returns the change set for a result.
pub(crate) fn describe(store: &Store, set: &ChangeSet) -> Result<Changes, ChangesError> {
    let (changes, items) = described(store, set)?;
    Ok(changes.with_files(items.iter().map(file)))
}

/// Returns the change set for a result, and all changes.
pub(crate) fn describe_all(
    store: &Store,
    set: &ChangeSet,
) -> Result<(Changes, Vec<FileChange>), ChangesError> {
    let (changes, items) = described(store, set)?;
    let files: Vec<FileChange> = items.iter().map(file).collect();
    Ok((changes.with_files(files.iter().cloned()), files))
}

/// Returns the change set without files, and its items.
fn described(store: &Store, set: &ChangeSet) -> Result<(Changes, Vec<Item>), ChangesError> {
    let (plan, items) = listed(store, set)?;
    let changes = summary(set, &plan)?;
    Ok((changes, items))
}

/// Returns the plan of a change set and its items.
pub(crate) fn listed(
    store: &Store,
    set: &ChangeSet,
) -> Result<(ApplyPlan, Vec<Item>), ChangesError> {
    let (plan, photo) = planned(store, set)?;
    let items = match photo {
        Some(photo) => photographed(&plan, &photo),
        None => items(&plan, Trees::open(set).as_mut()),
    };
    Ok((plan, items))
}

/// Returns the change set without files.
pub(crate) fn summary(set: &ChangeSet, plan: &ApplyPlan) -> Result<Changes, ChangesError> {
    let by = match set.meta.kind {
        SetKind::Trace | SetKind::Background { .. } => ChangesBy::Trace,
        SetKind::Scan => ChangesBy::Scan,
        SetKind::Trial | SetKind::Undo { .. } => ChangesBy::Overlay,
    };
    let state = match set.state {
        SetState::Done if !preimages::keeps(set) => ChangesState::Listed,
        SetState::Held => ChangesState::Held,
        SetState::Running => ChangesState::Running,
        SetState::Done => ChangesState::Done,
        SetState::Undone => ChangesState::Undone,
        SetState::Discarded => ChangesState::Discarded,
        SetState::Interrupted => ChangesState::Interrupted,
    };
    let root = set.root().to_string_lossy().into_owned();
    let mut changes = Changes::new(set.id, state, by, root);
    changes.undone_in_part = set.in_part;
    let names = plan.skipped.iter().map(|path| name(path));
    if by == ChangesBy::Trace {
        let index = Index::read(&set.dir)?;
        changes.exact = index.is_complete(set.state);
        changes.outside = index.outside;
        if preimages::keeps(set) {
            changes.not_kept = names.collect();
        }
    } else if by == ChangesBy::Overlay {
        changes.conflicts = names.collect();
        changes.exact = !set.is_inexact();
    }
    let is_part = by == ChangesBy::Trace && !(plan.skipped.is_empty() && changes.exact);
    changes.undo = match state {
        ChangesState::Interrupted if by == ChangesBy::Trace => Undoable::Part,
        ChangesState::Done | ChangesState::Held if plan.is_empty() => Undoable::No,
        ChangesState::Done if is_part => Undoable::Part,
        ChangesState::Done | ChangesState::Held => Undoable::Whole,
        _ => Undoable::No,
    };
    Ok(changes)
}

/// Returns the plan of a change set.
pub(crate) fn plan_of(store: &Store, set: &ChangeSet) -> Result<ApplyPlan, ChangesError> {
    let (plan, _) = planned(store, set)?;
    Ok(plan)
}

/// Returns the plan, and the held plan of a trial.
fn planned(store: &Store, set: &ChangeSet) -> Result<(ApplyPlan, Option<HeldPlan>), ChangesError> {
    let photo = match set.meta.kind {
        SetKind::Trial => HeldPlan::read(set)?,
        _ => None,
    };
    if let Some(journal) = set.journal()?
        && (journal.status == Status::Done || set.state == SetState::Interrupted)
    {
        let mut plan = journal.plan;
        plan.skipped = journal.back.map(|back| back.skipped).unwrap_or_default();
        return Ok((plan, photo));
    }
    if set.meta.kind == SetKind::Trial && matches!(set.state, SetState::Held | SetState::Running) {
        let found = compared(set, 0, store.care, photo.as_ref())?;
        let mut plan = photo.as_ref().map_or(found.plan, |it| it.plan.clone());
        plan.skipped = found.conflicts;
        return Ok((plan, photo));
    }
    if set.is_late() && set.state == SetState::Running {
        // The plan of the records so far.
        let plan = traced::effects(set, &Index::read(&set.dir)?)?.plan;
        return Ok((plan, None));
    }
    let plan = photo.as_ref().filter(|_| set.state == SetState::Discarded);
    Ok((plan.map(|it| it.plan.clone()).unwrap_or_default(), photo))
}

/// The tree and the slots of a change set, for comparing contents.
pub(crate) struct Trees {
    pub(crate) root: RootedDir,
    pub(crate) slots: RootedDir,
    /// True if only names are known, so that renames must be inferred.
    guesses: bool,
}

impl Trees {
    pub(crate) fn open(set: &ChangeSet) -> Option<Self> {
        let is_held = matches!(set.state, SetState::Held | SetState::Running);
        let beside = set
            .meta
            .slot_directory()
            .filter(|path| !is_held && path.is_dir());
        let own = || set.dir().with_file_name(set.origin().to_string());
        let files = beside.unwrap_or_else(own);
        Some(Self {
            root: RootedDir::open_same(&set.root(), set.meta.identity).ok()?,
            slots: RootedDir::open(&files).ok()?,
            guesses: set.meta.kind == SetKind::Scan,
        })
    }

    fn is_same(&mut self, gone: &PlannedOp, new: &PlannedOp) -> bool {
        if is_one(gone, new) {
            return true;
        }
        // A file that is not in the slots is in the tree, unless another process changed it. Which
        // one depends on what was undone.
        let size = new.in_slot.map_or(u64::MAX, |it| it.size);
        let mut file = |op: &PlannedOp, seen: Option<FileStat>| {
            let slot = self.slots.file(op.slot());
            slot.or_else(|error| {
                let now = self.root.stat(op.path())?;
                let is_it = seen
                    .zip(now)
                    .is_some_and(|(seen, now)| seen.has_content_of(&now));
                if is_it {
                    self.root.file(op.path())
                } else {
                    Err(error)
                }
            })
        };
        let files = (file(gone, gone.current), file(new, new.in_slot));
        match files {
            (Ok(gone), Ok(new)) => same_bytes(gone.into(), new.into(), size).unwrap_or(false),
            _ => false,
        }
    }
}

/// True if both operations are of the same inode.
fn is_one(gone: &PlannedOp, new: &PlannedOp) -> bool {
    let (was, is) = (gone.current, new.in_slot);
    was.zip(is)
        .is_some_and(|(was, is)| was.is_same_content(&is))
}

/// Returns the changes of a plan, sorted by path; files of `.git` last.
pub(crate) fn items(plan: &ApplyPlan, trees: Option<&mut Trees>) -> Vec<Item> {
    let guesses = trees.as_ref().is_some_and(|trees| trees.guesses);
    let find = |gone: &Ends<'_>, new: &Ends<'_>| match trees {
        Some(trees) => owned(renames(gone, new, trees)),
        None => Vec::new(),
    };
    itemized(plan, guesses, find)
}

/// Returns the changes of a held plan.
pub(crate) fn photographed(plan: &ApplyPlan, photo: &HeldPlan) -> Vec<Item> {
    itemized(plan, false, |_, _| photo.renamed.clone())
}

/// Computes the held plan of a trial by comparing it with the tree, and the paths that other
/// processes changed.
pub(crate) fn photograph(
    set: &ChangeSet,
    care: Precautions,
) -> Result<(HeldPlan, Vec<Vec<u8>>), ChangesError> {
    let found = compared(set, 0, care, None)?;
    let renamed = renamed(&found.plan, Trees::open(set).as_mut());
    let plan = found.plan;
    Ok((HeldPlan { plan, renamed }, found.conflicts))
}

/// Returns the renamed files of a plan: former and new path.
fn renamed(plan: &ApplyPlan, trees: Option<&mut Trees>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut found = Vec::new();
    itemized(plan, false, |gone, new| {
        found = trees.map_or_else(Vec::new, |trees| owned(renames(gone, new, trees)));
        Vec::new()
    });
    found
}

fn owned(pairs: Vec<(&[u8], &[u8])>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let pairs = pairs.into_iter();
    pairs
        .map(|(from, to)| (from.to_vec(), to.to_vec()))
        .collect()
}

/// Removed or created files, by path.
type Ends<'a> = BTreeMap<&'a [u8], &'a PlannedOp>;

fn itemized(
    plan: &ApplyPlan,
    guesses: bool,
    find: impl FnOnce(&Ends<'_>, &Ends<'_>) -> Vec<(Vec<u8>, Vec<u8>)>,
) -> Vec<Item> {
    let mut gone: Ends<'_> = BTreeMap::new();
    let mut new: Ends<'_> = BTreeMap::new();
    let mut items: Vec<Item> = Vec::new();
    for op in &plan.ops {
        match op.act {
            SlotRename::Take => gone.insert(&op.path, op),
            SlotRename::Put => new.insert(&op.path, op),
            SlotRename::Swap => {
                items.push(item(Change::Changed, None, Some(op)));
                None
            }
        };
    }
    // A path with both operations has another type now.
    let both: Vec<&[u8]> = gone
        .keys()
        .copied()
        .filter(|path| new.contains_key(path))
        .collect();
    for path in both {
        if let (Some(was), Some(is)) = (gone.remove(path), new.remove(path)) {
            items.push(item(Change::Changed, Some(was), Some(is)));
        }
    }
    let renamed = find(&gone, &new);
    for (from, to) in &renamed {
        let (Some(was), Some(is)) = (gone.get(&from[..]), new.get(&to[..])) else {
            continue;
        };
        let mut item = item(Change::Renamed, Some(was), Some(is));
        item.from = Some(was.path.clone());
        item.inferred = guesses || !is_one(was, is);
        items.push(item);
        gone.remove(&from[..]);
        new.remove(&to[..]);
    }
    let full = parents(
        gone.keys()
            .chain(new.keys())
            .copied()
            .chain(renamed.iter().flat_map(|(from, to)| [&from[..], &to[..]])),
    );
    for (change, ops) in [(Change::Deleted, &gone), (Change::Created, &new)] {
        for op in ops.values().copied() {
            let is_dir = op.current.or(op.in_slot).is_some_and(|seen| seen.is_dir());
            // A directory with entries is implied by them.
            if !is_dir || !full.contains(&op.path[..]) {
                items.push(match change {
                    Change::Deleted => item(change, Some(op), None),
                    _ => item(change, None, Some(op)),
                });
            }
        }
    }
    let hard = plan.attributions.iter().filter(|it| !it.is_soft());
    items.extend(hard.map(|it| {
        let with = |look: &Option<FileAttributes>| {
            let seen = it.current.zip(look.as_ref());
            seen.map(|(seen, look)| seen.with_permissions(look.permissions))
        };
        Item {
            path: it.path.clone(),
            change: Change::Mode,
            from: None,
            inferred: false,
            before: with(&it.before),
            after: with(&it.after),
            removal: None,
            new: None,
        }
    }));
    items.sort_by_cached_key(|item| (name(&item.path).is_of_git(), item.path.clone()));
    items
}

fn item(change: Change, gone: Option<&PlannedOp>, new: Option<&PlannedOp>) -> Item {
    let swapped = new.filter(|op| op.act == SlotRename::Swap);
    Item {
        path: new.or(gone).map(|op| op.path.clone()).unwrap_or_default(),
        change,
        from: None,
        inferred: false,
        before: gone.or(swapped).and_then(|op| op.current),
        after: new.and_then(|op| op.in_slot),
        removal: gone.cloned(),
        new: new.cloned(),
    }
}

/// Returns all parent directories of these paths.
fn parents<'a>(paths: impl Iterator<Item = &'a [u8]>) -> HashSet<&'a [u8]> {
    let mut found = HashSet::new();
    for path in paths {
        let above = Path::new(OsStr::from_bytes(path)).ancestors().skip(1);
        for directory in above {
            if !found.insert(directory.as_os_str().as_bytes()) {
                break;
            }
        }
    }
    found
}

/// Finds renames: pairs of removed and created files with equal contents, within a bounded time.
/// The same inode comes first, then files of equal size, those with the same name first.
fn renames<'a>(
    gone: &BTreeMap<&'a [u8], &'a PlannedOp>,
    new: &BTreeMap<&'a [u8], &'a PlannedOp>,
    trees: &mut Trees,
) -> Vec<(&'a [u8], &'a [u8])> {
    let mut by_inode: HashMap<u64, Vec<&'a [u8]>> = HashMap::new();
    let mut by_size: HashMap<u64, VecDeque<&'a [u8]>> = HashMap::new();
    let mut by_name: HashMap<(u64, &'a OsStr), Vec<&'a [u8]>> = HashMap::new();
    for (path, op) in gone {
        if let Some(here) = op.current.filter(|here| here.is_file() && here.size > 0) {
            by_inode.entry(here.ino).or_default().push(path);
            by_size.entry(here.size).or_default().push_back(path);
            let name = file_name(path);
            by_name.entry((here.size, name)).or_default().push(path);
        }
    }
    let mut used: HashSet<&[u8]> = HashSet::new();
    let (mut compared, mut pairs) = (0, 0);
    let mut found = Vec::new();
    for (path, op) in new {
        let Some(there) = op.in_slot.filter(|there| there.is_file() && there.size > 0) else {
            continue;
        };
        let of = |paths: Option<&Vec<&'a [u8]>>| paths.cloned().unwrap_or_default();
        let own = of(by_inode.get(&there.ino));
        let itself = own
            .iter()
            .find(|from| is_one(gone[*from], op) && !used.contains(*from));
        let mut from = itself.copied();
        let name = file_name(path);
        let alike = by_name.get(&(there.size, name)).into_iter().flatten();
        let others = by_size.entry(there.size).or_default();
        while others.front().is_some_and(|first| used.contains(first)) {
            others.pop_front();
        }
        let others = others.iter().filter(|other| !used.contains(*other));
        for candidate in alike.chain(others.take(MAX_CANDIDATES)) {
            if from.is_some()
                || pairs >= MAX_COMPARISONS
                || compared + there.size > MAX_COMPARED_BYTES
            {
                break;
            }
            if !used.contains(candidate) {
                pairs += 1;
                compared += there.size;
                from = trees.is_same(gone[candidate], op).then_some(*candidate);
            }
        }
        if let Some(from) = from {
            used.insert(from);
            found.push((from, *path));
        }
    }
    found
}

fn file_name(path: &[u8]) -> &OsStr {
    let path = Path::new(OsStr::from_bytes(path));
    path.file_name().unwrap_or_default()
}

/// Returns a path for a result.
pub(crate) fn name(path: &[u8]) -> FileName {
    FileName::new(OsStr::from_bytes(path))
}

/// Returns an item for a result.
pub(crate) fn file(item: &Item) -> FileChange {
    let mut file = FileChange::new(name(&item.path), item.change);
    file.kind = item
        .after
        .or(item.before)
        .map_or(FileKind::File, |seen| seen.file_kind());
    let size = |seen: &Option<FileStat>| seen.as_ref().map_or(0, FileStat::bytes);
    let is_file = |seen: &Option<FileStat>| seen.is_some_and(|seen| seen.is_file());
    if item.change != Change::Mode && (is_file(&item.before) || is_file(&item.after)) {
        file.bytes = Some([size(&item.before), size(&item.after)]);
    }
    match &item.from {
        None => file,
        Some(from) => {
            let mut file = file.renamed_from(name(from));
            file.inferred = item.inferred;
            file
        }
    }
}
