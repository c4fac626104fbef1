//! Decides if an undo restores a file as a hard link or as a copy. With a link, the tree would have
//! one file with two names, if the undo does not remove the other name that the call created.

use crate::files::file_stat::FileStat;
use crate::plan::{ApplyPlan, PlannedOp, SlotRename};
use crate::store::numbers::numbers;
use crate::store::set::{ChangeSet, LINKS_DIR, SLOTS_DIR};
use agent_bash_os::PrivateDir;
use rustix::fs::{AtFlags, CWD, statat};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::fs::read_dir;
use std::path::Path;

/// Links to an inode in the store: in all change sets of the session, and in those before the set.
#[derive(Debug, Clone, Copy, Default)]
struct LinksInStore {
    all: u64,
    earlier: u64,
}

/// The names that a plan removes and adds, and the links in the store, by inode.
pub(crate) struct NameCounts<'a> {
    set: &'a ChangeSet,
    removed: HashMap<u64, u64>,
    added: HashMap<u64, u64>,
    /// Counted when needed. The links are counted once, although links become slots meanwhile: a
    /// file with several former names is a link only for the first of them.
    in_store: OnceCell<HashMap<u64, LinksInStore>>,
}

impl<'a> NameCounts<'a> {
    pub(crate) fn new(set: &'a ChangeSet, plan: &ApplyPlan) -> Self {
        let count = |unless: SlotRename, stat: fn(&PlannedOp) -> Option<FileStat>| {
            let ops = plan.ops.iter().filter(|op| op.act != unless);
            let mut counts: HashMap<u64, u64> = HashMap::new();
            for stat in ops.filter_map(stat) {
                *counts.entry(stat.ino).or_default() += 1;
            }
            counts
        };
        Self {
            set,
            removed: count(SlotRename::Put, |op| op.current),
            added: count(SlotRename::Take, |op| op.in_slot),
            in_store: OnceCell::new(),
        }
    }

    /// True if the plan removes a name of the inode.
    pub(crate) fn is_removed(&self, ino: u64) -> bool {
        self.removed.contains_key(&ino)
    }

    /// Returns true if the file of the preimage `link` has a new name that the plan does not
    /// remove. `before` is the file before the call.
    pub(crate) fn has_further_names(&self, link: &FileStat, before: &FileStat) -> bool {
        let count = |counts: &HashMap<u64, u64>| counts.get(&link.ino).copied().unwrap_or(0);
        let (removed, added) = (count(&self.removed), count(&self.added));
        // A fast answer for the usual case: the store has no other link to the file.
        if link.links + added <= removed + 2 {
            return false;
        }
        let in_store = self.in_store.get_or_init(|| links_in_store(self.set));
        let in_store = in_store.get(&link.ino).copied().unwrap_or_default();
        let names = (link.links + added).saturating_sub(in_store.all + removed);
        // `before.links` includes the preimage links of earlier change sets.
        let former = before.links.saturating_sub(in_store.earlier).max(1);
        // If a former name still exists, the restored name must be a link to the same file.
        names > former && added >= former
    }
}

/// Counts the links in all change sets of the session.
fn links_in_store(set: &ChangeSet) -> HashMap<u64, LinksInStore> {
    let session = set.dir().parent().unwrap_or(Path::new("/"));
    let opened = PrivateDir::open(session, &[]);
    let sets = opened.ok().and_then(|opened| numbers(&opened).ok());
    let mut found: HashMap<u64, LinksInStore> = HashMap::new();
    for number in sets.unwrap_or_default() {
        for directory in [LINKS_DIR, SLOTS_DIR] {
            let directory = session.join(number.to_string()).join(directory);
            for entry in read_dir(directory).into_iter().flatten().flatten() {
                if let Ok(stat) = statat(CWD, entry.path(), AtFlags::SYMLINK_NOFOLLOW) {
                    let links = found.entry(stat.st_ino).or_default();
                    links.all += 1;
                    links.earlier += u64::from(number < set.id.0);
                }
            }
        }
    }
    found
}
