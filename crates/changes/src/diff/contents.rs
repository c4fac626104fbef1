//! Finds the contents of a change set's files before and after its call: in the tree, in slots, in
//! preimages, or, if the file was changed since, in a later change set.

use crate::diff::listing::{Item, Trees};
use crate::error::ChangesError;
use crate::files::file_stat::FileStat;
use crate::files::rooted_dir::RootedDir;
use crate::plan::{PlannedOp, SlotRename};
use crate::sources::held_plan::HeldPlan;
use crate::sources::preimages;
use crate::sources::recorder::{Index, PathRecord};
use crate::store::Store;
use crate::store::meta::SetKind;
use crate::store::numbers::numbers;
use crate::store::set::{ChangeSet, SetState};
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
    /// True if the file was changed after the call, and its contents at the end of the call are not
    /// stored. One side is then the current file, if it exists.
    pub(crate) changed_since: bool,
}

/// The contents of one change set's files.
pub(crate) struct Contents<'a> {
    set: &'a ChangeSet,
    trees: Trees,
    index: OnceCell<Option<Index>>,
    /// The preimages of a trial that is held or discarded, by path.
    trial_preimages: Option<HashMap<Vec<u8>, PathRecord>>,
    all_preimages: &'a dyn Fn() -> &'a AllPreimages,
    changed_since: bool,
}

impl<'a> Contents<'a> {
    /// Creates the lookup. `all_preimages` returns the preimages of all change sets; the function
    /// is called only when needed.
    pub(crate) fn new(
        set: &'a ChangeSet,
        trees: Trees,
        all_preimages: &'a dyn Fn() -> &'a AllPreimages,
    ) -> Self {
        Self {
            set,
            trees,
            index: OnceCell::new(),
            trial_preimages: uncommitted_trial_preimages(set),
            all_preimages,
            changed_since: false,
        }
    }

    /// Returns both sides of a change.
    pub(crate) fn content_pair(&mut self, item: &Item) -> ContentPair {
        self.changed_since = false;
        let before = match (&item.removal, &item.new) {
            (Some(removal), _) => self.before(removal),
            (None, Some(new)) if new.act == SlotRename::Swap => self.before(new),
            _ => SideContents::None,
        };
        let after = match &item.new {
            None => SideContents::None,
            Some(new) => self.after(new),
        };
        ContentPair {
            before,
            after,
            changed_since: self.changed_since,
        }
    }

    fn before(&mut self, op: &PlannedOp) -> SideContents {
        if self.set.meta.kind == SetKind::Scan {
            return SideContents::Unknown;
        }
        if let Some(trial_preimages) = &self.trial_preimages {
            let preimage = op
                .current
                .and_then(|expected| trial_preimage(self.set, trial_preimages, op, &expected));
            return preimage.unwrap_or_else(|| self.before_trial(op));
        }
        if let Some(side_contents) = traced_preimage(self.set, &self.index, op) {
            return side_contents;
        }
        let slot = self.trees.slots.stat(op.slot()).ok().flatten();
        // After a rollback, a swapped file is in the tree.
        let is_back = |stat| op.act == SlotRename::Swap && is_same_inode(op.in_slot, stat);
        match slot.filter(|stat| !is_back(*stat)) {
            Some(_) => read_contents(&mut self.trees.slots, op.slot()),
            None => self.preimage_or_current(op, op.current),
        }
    }

    fn after(&mut self, op: &PlannedOp) -> SideContents {
        let slot = self.trees.slots.stat(op.slot()).ok().flatten();
        match slot.filter(|stat| op.act == SlotRename::Put || is_same_inode(op.in_slot, *stat)) {
            Some(_) => read_contents(&mut self.trees.slots, op.slot()),
            // The file was discarded with the trial.
            None if self.trial_preimages.is_some() => SideContents::Unknown,
            None => self.preimage_or_current(op, op.in_slot),
        }
    }

    /// Returns the contents before a trial that stored no preimage of this file: the file of the
    /// tree if it is unchanged, or the preimage of a later change set.
    fn before_trial(&mut self, op: &PlannedOp) -> SideContents {
        let Some(wanted) = op.current else {
            return SideContents::Unknown;
        };
        if wanted.bytes() > MAX_FILE_BYTES {
            return SideContents::TooLarge;
        }
        if let Some(side_contents) =
            (self.all_preimages)().later_preimage(self.set, &op.path, &wanted)
        {
            return side_contents;
        }
        let now = self.trees.root.stat(op.path()).ok().flatten();
        match now.filter(|now| wanted.has_content_of(now)) {
            Some(_) => read_contents(&mut self.trees.root, op.path()),
            None => SideContents::Unknown,
        }
    }

    /// Returns the preimage of a later change set, else the file of the tree. The preimage comes
    /// first: for two calls within a clock tick, the file's times do not show which call wrote it.
    fn preimage_or_current(&mut self, op: &PlannedOp, wanted: Option<FileStat>) -> SideContents {
        if let Some(wanted) = wanted {
            if let Some(side_contents) =
                (self.all_preimages)().later_preimage(self.set, &op.path, &wanted)
            {
                return side_contents;
            }
            let now = self.trees.root.stat(op.path()).ok().flatten();
            self.changed_since |= now.is_none_or(|now| !wanted.has_content_of(&now));
        }
        read_contents(&mut self.trees.root, op.path())
    }
}

/// The preimages of all change sets of a session.
pub(crate) struct AllPreimages {
    sets: Vec<StoredPreimages>,
    /// By path: the index of a change set in `sets`, and the set's operation on the path.
    by_path: HashMap<Vec<u8>, Vec<(usize, PlannedOp)>>,
}

struct StoredPreimages {
    set: ChangeSet,
    index: OnceCell<Option<Index>>,
}

impl AllPreimages {
    /// Reads the change sets. Unreadable ones are skipped.
    pub(crate) fn read(store: &Store, session: &str) -> Self {
        let mut all_preimages = Self {
            sets: Vec::new(),
            by_path: HashMap::new(),
        };
        // Without change sets the lookup is empty.
        let _ = all_preimages.fill(store, session);
        all_preimages
    }

    fn fill(&mut self, store: &Store, session: &str) -> Result<(), ChangesError> {
        let directory = store.session(session)?;
        for number in numbers(&directory)? {
            let Ok(Some(set)) = ChangeSet::read(&directory, ChangesId(number)) else {
                continue;
            };
            let Ok(Some(journal)) = set.applied_journal() else {
                continue;
            };
            let ops = journal.plan.ops.into_iter();
            for op in ops.filter(|op| op.current.is_some_and(|it| !it.is_dir())) {
                let known = self.by_path.entry(op.path.clone()).or_default();
                known.push((self.sets.len(), op));
            }
            self.sets.push(StoredPreimages {
                set,
                index: OnceCell::new(),
            });
        }
        Ok(())
    }

    /// Returns the preimage of the file `wanted` in a later change set with the same root.
    fn later_preimage(
        &self,
        set: &ChangeSet,
        path: &[u8],
        wanted: &FileStat,
    ) -> Option<SideContents> {
        let known = self.by_path.get(path)?;
        known.iter().find_map(|(at, op)| {
            let other = &self.sets[*at];
            let is_after = other.set.id.0 > set.id.0;
            let is_same_root = other.set.meta.identity == set.meta.identity;
            let is_wanted = op
                .current
                .is_some_and(|expected| expected.has_content_of(wanted));
            (is_after && is_same_root && is_wanted)
                .then(|| other.preimage(op))
                .flatten()
        })
    }
}

impl StoredPreimages {
    fn preimage(&self, op: &PlannedOp) -> Option<SideContents> {
        if let Some(side_contents) = traced_preimage(&self.set, &self.index, op) {
            return Some(side_contents);
        }
        let mut slots = Trees::open(&self.set)?.slots;
        let stat = slots.stat(op.slot()).ok().flatten()?;
        op.current
            .is_some_and(|expected| expected.has_content_of(&stat))
            .then(|| read_contents(&mut slots, op.slot()))
    }
}

/// Returns the preimages of a trial that is held or discarded; `None` for another change set.
fn uncommitted_trial_preimages(set: &ChangeSet) -> Option<HashMap<Vec<u8>, PathRecord>> {
    let is_uncommitted = matches!(set.state, SetState::Held | SetState::Discarded)
        && set.meta.kind == SetKind::Trial
        && HeldPlan::exists(set);
    let records = || Index::read(&set.dir).map_or_else(|_| Vec::new(), |it| it.records);
    is_uncommitted.then(|| {
        let records = records().into_iter();
        records.map(|it| (it.path.clone(), it)).collect()
    })
}

/// Returns the trial's preimage of the file with the attributes `expected`.
fn trial_preimage(
    set: &ChangeSet,
    trial_preimages: &HashMap<Vec<u8>, PathRecord>,
    op: &PlannedOp,
    expected: &FileStat,
) -> Option<SideContents> {
    let is_expected = |record: &&PathRecord| {
        record
            .stat
            .is_some_and(|stat| expected.has_content_of(&stat))
    };
    let record = trial_preimages.get(&op.path).filter(is_expected)?;
    let bytes = preimages::recorded_contents(set, record, MAX_FILE_BYTES + 1).ok()??;
    Some(side_contents(bytes))
}

fn side_contents(bytes: Vec<u8>) -> SideContents {
    if bytes.len() as u64 > MAX_FILE_BYTES {
        SideContents::TooLarge
    } else {
        SideContents::Bytes(bytes)
    }
}

/// Returns the preimage of a traced file.
fn traced_preimage(
    set: &ChangeSet,
    index: &OnceCell<Option<Index>>,
    op: &PlannedOp,
) -> Option<SideContents> {
    if !matches!(set.meta.kind, SetKind::Trace | SetKind::Background { .. }) {
        return None;
    }
    let index = index.get_or_init(|| Index::read(&set.dir).ok());
    let bytes =
        preimages::contents_before(set, index.as_ref()?, op.slot(), MAX_FILE_BYTES + 1).ok()??;
    Some(side_contents(bytes))
}

fn is_same_inode(one: Option<FileStat>, other: FileStat) -> bool {
    one.is_some_and(|one| one.ino == other.ino)
}

fn read_contents(tree: &mut RootedDir, path: &Path) -> SideContents {
    let Ok(Some(stat)) = tree.stat(path) else {
        return SideContents::Unknown;
    };
    match stat.kind() {
        FileType::RegularFile if stat.size > MAX_FILE_BYTES => SideContents::TooLarge,
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
