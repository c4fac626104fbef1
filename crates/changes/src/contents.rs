//! Finds the contents of a change set's files: in the tree, in the set, in preimages, or in a later
//! change set if the file was changed since.

use crate::error::ChangesError;
use crate::file_stat::FileStat;
use crate::held_plan::HeldPlan;
use crate::listing::{Item, Trees};
use crate::meta::SetKind;
use crate::numbers::numbers;
use crate::plan::{PlannedOp, SlotRename};
use crate::preimages;
use crate::recorder::{Index, PathRecord};
use crate::rooted_dir::RootedDir;
use crate::set::{ChangeSet, SetState};
use crate::store::Store;
use agent_bash_core::changes::ChangesId;
use rustix::fs::{FileType, readlinkat};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The largest file that is read, in bytes.
pub(crate) const MAX_FILE_BYTES: u64 = 4 << 20;

/// The contents of one side of a change.
pub(crate) enum SideContents {
    /// No file exists on this side.
    None,
    Bytes(Vec<u8>),
    TooLarge,
    Unknown,
}

/// The former and the later contents of a changed file.
pub(crate) struct ContentPair {
    pub(crate) before: SideContents,
    pub(crate) after: SideContents,
    /// True if the file was changed since and its contents of that time are not stored: one side is
    /// the current file, if it exists.
    pub(crate) is_since: bool,
}

/// The contents of one change set's files.
pub(crate) struct Contents<'a> {
    set: &'a ChangeSet,
    trees: Trees,
    index: OnceCell<Option<Index>>,
    /// Preimages of a trial that was not committed, by path.
    photo: Option<HashMap<Vec<u8>, PathRecord>>,
    others: &'a dyn Fn() -> &'a OtherPreimages,
    is_since: bool,
}

impl<'a> Contents<'a> {
    /// Creates the lookup. `others` returns the preimages of later change sets; it is called only
    /// when needed.
    pub(crate) fn new(
        set: &'a ChangeSet,
        trees: Trees,
        others: &'a dyn Fn() -> &'a OtherPreimages,
    ) -> Self {
        Self {
            set,
            trees,
            index: OnceCell::new(),
            photo: photographed(set),
            others,
            is_since: false,
        }
    }

    /// Returns both sides of a change.
    pub(crate) fn content_pair(&mut self, item: &Item) -> ContentPair {
        self.is_since = false;
        let before = match (&item.removal, &item.new) {
            (Some(gone), _) => self.former(gone),
            (None, Some(new)) if new.act == SlotRename::Swap => self.former(new),
            _ => SideContents::None,
        };
        let after = match &item.new {
            None => SideContents::None,
            Some(new) => self.latter(new),
        };
        ContentPair {
            before,
            after,
            is_since: self.is_since,
        }
    }

    fn former(&mut self, op: &PlannedOp) -> SideContents {
        if self.set.meta.kind == SetKind::Scan {
            return SideContents::Unknown;
        }
        if let Some(photo) = &self.photo {
            let kept = op
                .current
                .and_then(|here| in_photo(self.set, photo, op, &here));
            return kept.unwrap_or_else(|| self.as_it_was(op));
        }
        if let Some(side) = kept_of(self.set, &self.index, op) {
            return side;
        }
        let slot = self.trees.slots.stat(op.slot()).ok().flatten();
        // After a rollback, a swapped file is in the tree.
        let is_back = |seen| op.act == SlotRename::Swap && is(op.in_slot, seen);
        match slot.filter(|seen| !is_back(*seen)) {
            Some(_) => content(&mut self.trees.slots, op.slot()),
            None => self.elsewhere(op, op.current),
        }
    }

    fn latter(&mut self, op: &PlannedOp) -> SideContents {
        let slot = self.trees.slots.stat(op.slot()).ok().flatten();
        match slot.filter(|seen| op.act == SlotRename::Put || is(op.in_slot, *seen)) {
            Some(_) => content(&mut self.trees.slots, op.slot()),
            // The file was discarded with the trial.
            None if self.photo.is_some() => SideContents::Unknown,
            None => self.elsewhere(op, op.in_slot),
        }
    }

    /// Returns the contents before a trial without preimages: the file of the tree if it is
    /// unchanged, else the preimage of a later change set.
    fn as_it_was(&mut self, op: &PlannedOp) -> SideContents {
        let Some(wanted) = op.current else {
            return SideContents::Unknown;
        };
        if wanted.bytes() > MAX_FILE_BYTES {
            return SideContents::TooLarge;
        }
        if let Some(side) = (self.others)().later_preimage(self.set, &op.path, &wanted) {
            return side;
        }
        let now = self.trees.root.stat(op.path()).ok().flatten();
        match now.filter(|now| wanted.has_content_of(now)) {
            Some(_) => content(&mut self.trees.root, op.path()),
            None => SideContents::Unknown,
        }
    }

    /// Returns a later preimage, else the file of the tree. The preimage comes first: for two calls
    /// within a clock tick, the file's times do not show which call wrote it.
    fn elsewhere(&mut self, op: &PlannedOp, wanted: Option<FileStat>) -> SideContents {
        if let Some(wanted) = wanted {
            if let Some(side) = (self.others)().later_preimage(self.set, &op.path, &wanted) {
                return side;
            }
            let now = self.trees.root.stat(op.path()).ok().flatten();
            self.is_since |= now.is_none_or(|now| !wanted.has_content_of(&now));
        }
        content(&mut self.trees.root, op.path())
    }
}

/// The preimages of all change sets.
pub(crate) struct OtherPreimages {
    sets: Vec<OtherSet>,
    /// Index of the change set and its operation, by path.
    by_path: HashMap<Vec<u8>, Vec<(usize, PlannedOp)>>,
}

struct OtherSet {
    set: ChangeSet,
    index: OnceCell<Option<Index>>,
}

impl OtherPreimages {
    /// Reads the change sets. Unreadable ones are skipped.
    pub(crate) fn read(store: &Store, session: &str) -> Self {
        let mut others = Self {
            sets: Vec::new(),
            by_path: HashMap::new(),
        };
        // Without change sets the lookup is empty.
        let _ = others.fill(store, session);
        others
    }

    fn fill(&mut self, store: &Store, session: &str) -> Result<(), ChangesError> {
        let directory = store.session(session)?;
        for number in numbers(&directory)? {
            let Ok(Some(set)) = ChangeSet::read(&directory, ChangesId(number)) else {
                continue;
            };
            let Ok(Some(journal)) = set.done() else {
                continue;
            };
            let ops = journal.plan.ops.into_iter();
            for op in ops.filter(|op| op.current.is_some_and(|it| !it.is_dir())) {
                let known = self.by_path.entry(op.path.clone()).or_default();
                known.push((self.sets.len(), op));
            }
            self.sets.push(OtherSet {
                set,
                index: OnceCell::new(),
            });
        }
        Ok(())
    }

    /// Returns the preimage of this exact file in a later change set with the same root.
    fn later_preimage(
        &self,
        own: &ChangeSet,
        path: &[u8],
        wanted: &FileStat,
    ) -> Option<SideContents> {
        let known = self.by_path.get(path)?;
        known.iter().find_map(|(at, op)| {
            let other = &self.sets[*at];
            let is_after = other.set.id.0 > own.id.0;
            let is_same_root = other.set.meta.identity == own.meta.identity;
            let is_it = op.current.is_some_and(|here| here.has_content_of(wanted));
            (is_after && is_same_root && is_it)
                .then(|| other.former(op))
                .flatten()
        })
    }
}

impl OtherSet {
    fn former(&self, op: &PlannedOp) -> Option<SideContents> {
        if let Some(side) = kept_of(&self.set, &self.index, op) {
            return Some(side);
        }
        let mut slots = Trees::open(&self.set)?.slots;
        let seen = slots.stat(op.slot()).ok().flatten()?;
        op.current
            .is_some_and(|here| here.has_content_of(&seen))
            .then(|| content(&mut slots, op.slot()))
    }
}

/// Returns the preimages of a trial that was not committed; `None` for another kind of change set.
fn photographed(set: &ChangeSet) -> Option<HashMap<Vec<u8>, PathRecord>> {
    let is_open = matches!(set.state, SetState::Held | SetState::Discarded);
    let is_it = set.meta.kind == SetKind::Trial && is_open && HeldPlan::is_of(set);
    let records = || Index::read(&set.dir).map_or_else(|_| Vec::new(), |it| it.records);
    is_it.then(|| {
        let records = records().into_iter();
        records.map(|it| (it.path.clone(), it)).collect()
    })
}

/// Returns the preimage of this exact file.
fn in_photo(
    set: &ChangeSet,
    photo: &HashMap<Vec<u8>, PathRecord>,
    op: &PlannedOp,
    here: &FileStat,
) -> Option<SideContents> {
    let is_it = |it: &&PathRecord| it.stat.is_some_and(|seen| here.has_content_of(&seen));
    let record = photo.get(&op.path).filter(is_it)?;
    let bytes = preimages::recorded(set, record, MAX_FILE_BYTES + 1).ok()??;
    Some(side(bytes))
}

fn side(bytes: Vec<u8>) -> SideContents {
    if bytes.len() as u64 > MAX_FILE_BYTES {
        SideContents::TooLarge
    } else {
        SideContents::Bytes(bytes)
    }
}

/// Returns the preimage of a traced file.
fn kept_of(
    set: &ChangeSet,
    index: &OnceCell<Option<Index>>,
    op: &PlannedOp,
) -> Option<SideContents> {
    if !matches!(set.meta.kind, SetKind::Trace | SetKind::Background { .. }) {
        return None;
    }
    let index = index.get_or_init(|| Index::read(&set.dir).ok());
    let bytes = preimages::former(set, index.as_ref()?, op.slot(), MAX_FILE_BYTES + 1).ok()??;
    Some(side(bytes))
}

fn is(one: Option<FileStat>, other: FileStat) -> bool {
    one.is_some_and(|one| one.ino == other.ino)
}

fn content(tree: &mut RootedDir, path: &Path) -> SideContents {
    let Ok(Some(seen)) = tree.stat(path) else {
        return SideContents::Unknown;
    };
    match seen.kind() {
        FileType::RegularFile if seen.size > MAX_FILE_BYTES => SideContents::TooLarge,
        FileType::RegularFile => {
            let mut bytes = Vec::new();
            let read = tree.file(path).map(File::from).map(|file| {
                // The file may grow during the read.
                file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)
            });
            match read {
                Ok(Ok(_)) => SideContents::Bytes(bytes),
                _ => SideContents::Unknown,
            }
        }
        FileType::Symlink => {
            let target = tree
                .parent(path)
                .and_then(|(dir, name)| readlinkat(dir, name, Vec::new()));
            match target {
                Ok(target) => SideContents::Bytes(target.into_bytes()),
                Err(_) => SideContents::Unknown,
            }
        }
        _ => SideContents::None,
    }
}
