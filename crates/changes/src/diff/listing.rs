//! Lists the changes of a plan by file.

use crate::error::ChangesError;
use crate::files::file_stat::FileStat;
use crate::files::rooted_dir::RootedDir;
use crate::plan::file_comparison::have_same_bytes;
use crate::plan::journal::Status;
use crate::plan::steps::Precautions;
use crate::plan::{ApplyPlan, FileAttributes, PlannedOp, SlotRename};
use crate::sources::held_plan::{HeldPlan, compare_with_tree};
use crate::sources::preimages;
use crate::sources::recorder::Index;
use crate::sources::traced;
use crate::store::Store;
use crate::store::meta::SetKind;
use crate::store::set::{ChangeSet, SetState};
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

/// One change of a file, with the operations of the plan that make it.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) path: Vec<u8>,
    pub(crate) change: Change,
    /// The former path of a renamed file.
    pub(crate) from: Option<Vec<u8>>,
    /// True if the rename was inferred from equal contents.
    pub(crate) inferred: bool,
    pub(crate) before: Option<FileStat>,
    pub(crate) after: Option<FileStat>,
    /// The operation that removes the former file. `None` for a `Swap`, which is in `new`.
    pub(crate) removal: Option<PlannedOp>,
    /// The operation that puts the new file into the tree.
    pub(crate) new: Option<PlannedOp>,
}

/// Returns a change set as callers see it, with its first files.
pub(crate) fn describe(store: &Store, set: &ChangeSet) -> Result<Changes, ChangesError> {
    let (changes, items) = summary_and_items(store, set)?;
    Ok(changes.with_files(items.iter().map(file)))
}

/// Returns a change set as callers see it, with its first files, and all files.
pub(crate) fn describe_all(
    store: &Store,
    set: &ChangeSet,
) -> Result<(Changes, Vec<FileChange>), ChangesError> {
    let (changes, items) = summary_and_items(store, set)?;
    let files: Vec<FileChange> = items.iter().map(file).collect();
    Ok((changes.with_files(files.iter().cloned()), files))
}

/// Returns a change set as callers see it without files, and its changes.
fn summary_and_items(store: &Store, set: &ChangeSet) -> Result<(Changes, Vec<Item>), ChangesError> {
    let (plan, items) = plan_and_items(store, set)?;
    let changes = summary(set, &plan)?;
    Ok((changes, items))
}

/// Returns the plan of a change set, and its changes.
pub(crate) fn plan_and_items(
    store: &Store,
    set: &ChangeSet,
) -> Result<(ApplyPlan, Vec<Item>), ChangesError> {
    let (plan, held_plan) = plan_and_held_plan(store, set)?;
    let items = match held_plan {
        Some(held_plan) => held_items(&plan, &held_plan),
        None => items(&plan, Trees::open(set).as_mut()),
    };
    Ok((plan, items))
}

/// Returns the state of a change set as callers see it, and how its changes were detected.
pub(crate) fn state_and_source(set: &ChangeSet) -> (ChangesState, ChangesBy) {
    let by = match set.meta.kind {
        SetKind::Trace | SetKind::Background { .. } => ChangesBy::Trace,
        SetKind::Scan => ChangesBy::Scan,
        SetKind::Trial | SetKind::Undo { .. } => ChangesBy::Overlay,
    };
    let state = match set.state {
        SetState::Done if !preimages::stores_preimages(set) => ChangesState::Listed,
        SetState::Held => ChangesState::Held,
        SetState::Running => ChangesState::Running,
        SetState::Done => ChangesState::Done,
        SetState::Undone => ChangesState::Undone,
        SetState::Discarded => ChangesState::Discarded,
        SetState::Interrupted => ChangesState::Interrupted,
    };
    (state, by)
}

/// Returns a change set as callers see it, without files.
pub(crate) fn summary(set: &ChangeSet, plan: &ApplyPlan) -> Result<Changes, ChangesError> {
    let (state, by) = state_and_source(set);
    let root = set.root().to_string_lossy().into_owned();
    let mut changes = Changes::new(set.id, state, by, root);
    changes.undone_in_part = set.is_partly_undone;
    let names = plan.skipped.iter().map(|path| name(path));
    if by == ChangesBy::Trace {
        let index = Index::read(&set.dir)?;
        changes.exact = index.is_complete(set.state);
        changes.outside = index.outside;
        if preimages::stores_preimages(set) {
            changes.not_restorable = names.collect();
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

pub(crate) fn plan_of(store: &Store, set: &ChangeSet) -> Result<ApplyPlan, ChangesError> {
    let (plan, _) = plan_and_held_plan(store, set)?;
    Ok(plan)
}

/// Returns the plan of a change set, and the held plan of a trial.
fn plan_and_held_plan(
    store: &Store,
    set: &ChangeSet,
) -> Result<(ApplyPlan, Option<HeldPlan>), ChangesError> {
    let held_plan = match set.meta.kind {
        SetKind::Trial => HeldPlan::read(set)?,
        _ => None,
    };
    if let Some(journal) = set.journal()?
        && (journal.status == Status::Done || set.state == SetState::Interrupted)
    {
        let mut plan = journal.plan;
        plan.skipped = journal
            .inverse
            .map(|inverse| inverse.skipped)
            .unwrap_or_default();
        return Ok((plan, held_plan));
    }
    if set.meta.kind == SetKind::Trial && matches!(set.state, SetState::Held | SetState::Running) {
        let found = compare_with_tree(set, 0, store.precautions, held_plan.as_ref())?;
        let mut plan = held_plan.as_ref().map_or(found.plan, |it| it.plan.clone());
        plan.skipped = found.conflicts;
        return Ok((plan, held_plan));
    }
    if set.is_background() && set.state == SetState::Running {
        // The plan covers the records so far.
        let plan = traced::effects(set, &Index::read(&set.dir)?)?.plan;
        return Ok((plan, None));
    }
    let plan = held_plan
        .as_ref()
        .filter(|_| set.state == SetState::Discarded);
    Ok((
        plan.map(|it| it.plan.clone()).unwrap_or_default(),
        held_plan,
    ))
}

/// The tree and the slots of a change set, for comparing contents.
pub(crate) struct Trees {
    pub(crate) root: RootedDir,
    pub(crate) slots: RootedDir,
    /// True if only names are known, so that renames must be inferred.
    infers_renames: bool,
}

impl Trees {
    pub(crate) fn open(set: &ChangeSet) -> Option<Self> {
        let is_held = matches!(set.state, SetState::Held | SetState::Running);
        let slots_in_tree = set
            .meta
            .slot_directory()
            .filter(|path| !is_held && path.is_dir());
        let in_store = || set.dir().with_file_name(set.origin().to_string());
        let slots = slots_in_tree.unwrap_or_else(in_store);
        Some(Self {
            root: RootedDir::open_same(&set.root(), set.meta.identity).ok()?,
            slots: RootedDir::open(&slots).ok()?,
            infers_renames: set.meta.kind == SetKind::Scan,
        })
    }

    fn have_same_contents(&mut self, removed: &PlannedOp, new: &PlannedOp) -> bool {
        if is_same_inode(removed, new) {
            return true;
        }
        // The file is in its slot or in the tree, depending on earlier undos. In the tree, another
        // process may have changed it.
        let size = new.in_slot.map_or(u64::MAX, |it| it.size);
        let mut file = |op: &PlannedOp, stat: Option<FileStat>| {
            let slot = self.slots.file(op.slot());
            slot.or_else(|error| {
                let now = self.root.stat(op.path())?;
                let is_unchanged = stat
                    .zip(now)
                    .is_some_and(|(stat, now)| stat.has_content_of(&now));
                if is_unchanged {
                    self.root.file(op.path())
                } else {
                    Err(error)
                }
            })
        };
        let files = (file(removed, removed.current), file(new, new.in_slot));
        match files {
            (Ok(removed), Ok(new)) => {
                have_same_bytes(removed.into(), new.into(), size).unwrap_or(false)
            }
            _ => false,
        }
    }
}

/// True if the removed and the new file are the same unchanged inode.
fn is_same_inode(removed: &PlannedOp, new: &PlannedOp) -> bool {
    let (removal, addition) = (removed.current, new.in_slot);
    removal
        .zip(addition)
        .is_some_and(|(removal, addition)| removal.is_same_content(&addition))
}

/// Returns the changes of a plan, sorted by path; files of `.git` last.
pub(crate) fn items(plan: &ApplyPlan, trees: Option<&mut Trees>) -> Vec<Item> {
    let infers_renames = trees.as_ref().is_some_and(|trees| trees.infers_renames);
    let find = |removed: &OpsByPath<'_>, new: &OpsByPath<'_>| match trees {
        Some(trees) => to_owned_pairs(find_renames(removed, new, trees)),
        None => Vec::new(),
    };
    items_with_renames(plan, infers_renames, find)
}

/// Returns the changes of a held plan.
pub(crate) fn held_items(plan: &ApplyPlan, held_plan: &HeldPlan) -> Vec<Item> {
    items_with_renames(plan, false, |_, _| held_plan.renamed.clone())
}

/// Compares a trial with the tree. Returns the plan to hold, and the paths that other processes
/// changed.
pub(crate) fn plan_to_hold(
    set: &ChangeSet,
    precautions: Precautions,
) -> Result<(HeldPlan, Vec<Vec<u8>>), ChangesError> {
    let found = compare_with_tree(set, 0, precautions, None)?;
    let renamed = renamed_paths(&found.plan, Trees::open(set).as_mut());
    let plan = found.plan;
    Ok((HeldPlan { plan, renamed }, found.conflicts))
}

/// Returns the renamed files of a plan: former and new path.
fn renamed_paths(plan: &ApplyPlan, trees: Option<&mut Trees>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut found = Vec::new();
    items_with_renames(plan, false, |removed, new| {
        found = trees.map_or_else(Vec::new, |trees| {
            to_owned_pairs(find_renames(removed, new, trees))
        });
        Vec::new()
    });
    found
}

fn to_owned_pairs(pairs: Vec<(&[u8], &[u8])>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let pairs = pairs.into_iter();
    pairs
        .map(|(from, to)| (from.to_vec(), to.to_vec()))
        .collect()
}

/// The operations that remove files, or those that create files, by path.
type OpsByPath<'a> = BTreeMap<&'a [u8], &'a PlannedOp>;

/// Returns the changes of a plan, sorted by path; files of `.git` last. `find_renamed` returns
/// pairs of former and new path.
fn items_with_renames(
    plan: &ApplyPlan,
    infers_renames: bool,
    find_renamed: impl FnOnce(&OpsByPath<'_>, &OpsByPath<'_>) -> Vec<(Vec<u8>, Vec<u8>)>,
) -> Vec<Item> {
    let mut removed: OpsByPath<'_> = BTreeMap::new();
    let mut new: OpsByPath<'_> = BTreeMap::new();
    let mut items: Vec<Item> = Vec::new();
    for op in &plan.ops {
        match op.act {
            SlotRename::Take => removed.insert(&op.path, op),
            SlotRename::Put => new.insert(&op.path, op),
            SlotRename::Swap => {
                items.push(item(Change::Changed, None, Some(op)));
                None
            }
        };
    }
    // A path that is removed and created has another file type now.
    let retyped: Vec<&[u8]> = removed
        .keys()
        .copied()
        .filter(|path| new.contains_key(path))
        .collect();
    for path in retyped {
        if let (Some(removal), Some(addition)) = (removed.remove(path), new.remove(path)) {
            items.push(item(Change::Changed, Some(removal), Some(addition)));
        }
    }
    let renamed = find_renamed(&removed, &new);
    for (from, to) in &renamed {
        let (Some(removal), Some(addition)) = (removed.get(&from[..]), new.get(&to[..])) else {
            continue;
        };
        let mut item = item(Change::Renamed, Some(removal), Some(addition));
        item.from = Some(removal.path.clone());
        item.inferred = infers_renames || !is_same_inode(removal, addition);
        items.push(item);
        removed.remove(&from[..]);
        new.remove(&to[..]);
    }
    let nonempty_directories = parents(
        removed
            .keys()
            .chain(new.keys())
            .copied()
            .chain(renamed.iter().flat_map(|(from, to)| [&from[..], &to[..]])),
    );
    for (change, ops) in [(Change::Deleted, &removed), (Change::Created, &new)] {
        for op in ops.values().copied() {
            let is_dir = op.current.or(op.in_slot).is_some_and(|stat| stat.is_dir());
            // The entries of a directory imply the directory.
            if !is_dir || !nonempty_directories.contains(&op.path[..]) {
                items.push(match change {
                    Change::Deleted => item(change, Some(op), None),
                    _ => item(change, None, Some(op)),
                });
            }
        }
    }
    let permission_changes = plan
        .attributions
        .iter()
        .filter(|it| !it.changes_only_times());
    items.extend(permission_changes.map(|it| {
        let stat_with = |attributes: &Option<FileAttributes>| {
            let stat = it.current.zip(attributes.as_ref());
            stat.map(|(stat, attributes)| stat.with_permissions(attributes.permissions))
        };
        Item {
            path: it.path.clone(),
            change: Change::Mode,
            from: None,
            inferred: false,
            before: stat_with(&it.before),
            after: stat_with(&it.after),
            removal: None,
            new: None,
        }
    }));
    items.sort_by_cached_key(|item| (name(&item.path).is_of_git(), item.path.clone()));
    items
}

fn item(change: Change, removed: Option<&PlannedOp>, new: Option<&PlannedOp>) -> Item {
    let swapped = new.filter(|op| op.act == SlotRename::Swap);
    Item {
        path: new
            .or(removed)
            .map(|op| op.path.clone())
            .unwrap_or_default(),
        change,
        from: None,
        inferred: false,
        before: removed.or(swapped).and_then(|op| op.current),
        after: new.and_then(|op| op.in_slot),
        removal: removed.cloned(),
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

/// Finds renames: pairs of removed and created files with equal contents. A created file is paired
/// with the removed file of the same inode, else with one of equal size; files of the same name are
/// compared first. The number of comparisons is limited.
fn find_renames<'a>(
    removed: &BTreeMap<&'a [u8], &'a PlannedOp>,
    new: &BTreeMap<&'a [u8], &'a PlannedOp>,
    trees: &mut Trees,
) -> Vec<(&'a [u8], &'a [u8])> {
    let mut by_inode: HashMap<u64, Vec<&'a [u8]>> = HashMap::new();
    let mut by_size: HashMap<u64, VecDeque<&'a [u8]>> = HashMap::new();
    let mut by_name: HashMap<(u64, &'a OsStr), Vec<&'a [u8]>> = HashMap::new();
    for (path, op) in removed {
        if let Some(stat) = op.current.filter(|stat| stat.is_file() && stat.size > 0) {
            by_inode.entry(stat.ino).or_default().push(path);
            by_size.entry(stat.size).or_default().push_back(path);
            let name = file_name(path);
            by_name.entry((stat.size, name)).or_default().push(path);
        }
    }
    let mut used: HashSet<&[u8]> = HashSet::new();
    let (mut compared_bytes, mut comparisons) = (0, 0);
    let mut found = Vec::new();
    for (path, op) in new {
        let Some(stat) = op.in_slot.filter(|stat| stat.is_file() && stat.size > 0) else {
            continue;
        };
        let listed = |paths: Option<&Vec<&'a [u8]>>| paths.cloned().unwrap_or_default();
        let with_inode = listed(by_inode.get(&stat.ino));
        let same_inode = with_inode
            .iter()
            .find(|from| is_same_inode(removed[*from], op) && !used.contains(*from));
        let mut from = same_inode.copied();
        let name = file_name(path);
        let same_name = by_name.get(&(stat.size, name)).into_iter().flatten();
        let with_size = by_size.entry(stat.size).or_default();
        while with_size.front().is_some_and(|first| used.contains(first)) {
            with_size.pop_front();
        }
        let with_size = with_size.iter().filter(|other| !used.contains(*other));
        // Finding a candidate skips used files, which takes long among many of one size.
        let is_needed = from.is_none() && comparisons < MAX_COMPARISONS;
        let candidates = same_name.chain(with_size.take(MAX_CANDIDATES));
        for candidate in candidates.take(if is_needed { usize::MAX } else { 0 }) {
            if from.is_some()
                || comparisons >= MAX_COMPARISONS
                || compared_bytes + stat.size > MAX_COMPARED_BYTES
            {
                break;
            }
            if !used.contains(candidate) {
                comparisons += 1;
                compared_bytes += stat.size;
                from = trees
                    .have_same_contents(removed[candidate], op)
                    .then_some(*candidate);
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

/// Returns a path as callers see it.
pub(crate) fn name(path: &[u8]) -> FileName {
    FileName::new(OsStr::from_bytes(path))
}

/// Returns a change as callers see it.
pub(crate) fn file(item: &Item) -> FileChange {
    let mut file = FileChange::new(name(&item.path), item.change);
    file.kind = item
        .after
        .or(item.before)
        .map_or(FileKind::File, |stat| stat.file_kind());
    let size = |stat: &Option<FileStat>| stat.as_ref().map_or(0, FileStat::bytes);
    let is_file = |stat: &Option<FileStat>| stat.is_some_and(|stat| stat.is_file());
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
