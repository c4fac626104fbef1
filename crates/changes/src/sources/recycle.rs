//! Reuses change sets of calls that changed nothing, which are most calls. A later call renames
//! such a set to its own number and writes one file; a new change set would be about ten files.

use crate::error::ChangesError;
use crate::files::rooted_dir::{RootedDir, mount_of};
use crate::plan::journal;
use crate::sources::recorder::{CONTENTS_FILE, INDEX_FILE, Index};
use crate::store::Store;
use crate::store::mark;
use crate::store::meta::SetKind;
use crate::store::numbers::{last_number, take_next};
use crate::store::set::{ChangeSet, LINKS_DIR, SetState};
use agent_bash_core::changes::{ChangesId, ChangesLevel};
use agent_bash_core::lock;
use agent_bash_os::{PrivateDir, remove_tree};
use std::io;
use std::path::Path;

/// The largest number of unused change sets. Usually fewer calls run at the same time.
const MAX_UNUSED_SETS: usize = 16;

impl Store {
    /// Stores the change set of a call that changed nothing for reuse. The set stays locked, so
    /// that it is not pruned. It can be shown until it is reused.
    pub(crate) fn recycle(&self, set: ChangeSet) {
        let mut unused_sets = lock(&self.unused_sets);
        unused_sets.push(set);
        if unused_sets.len() > MAX_UNUSED_SETS {
            let oldest = (0..unused_sets.len()).min_by_key(|index| unused_sets[*index].id.0);
            let surplus = oldest.map(|index| unused_sets.swap_remove(index));
            drop(unused_sets);
            // A remaining directory is removed when it is old.
            let _ = surplus.map(ChangeSet::remove);
        }
    }

    /// Returns an unused change set with the same root and description under a new number: a set of
    /// this process, or the last set of the session. `root` is canonical.
    pub(crate) fn reuse_unused(
        &self,
        session: &str,
        root: &Path,
        kind: SetKind,
        level: ChangesLevel,
    ) -> Option<ChangeSet> {
        let parent = self.path.join(session);
        let is_suitable = |set: &ChangeSet| {
            set.dir().parent() == Some(&parent)
                && set.meta.root() == root
                && set.meta.kind == kind
                && set.meta.level == level
                && set.meta.limits == self.limits
        };
        let mut unused_sets = lock(&self.unused_sets);
        let index = unused_sets.iter().position(is_suitable);
        let unused = index.map(|index| unused_sets.swap_remove(index));
        drop(unused_sets);
        let directory = self.existing_session(session).ok()??;
        let is_trace = kind == SetKind::Trace;
        let mut set = unused.or_else(|| {
            let last = last_unused(&directory).filter(|set| is_trace && is_suitable(set))?;
            last.register().ok()?;
            Some(last)
        })?;
        let lowest = self.lowest_new_number(&directory).ok()?;
        match reuse(&mut set, &directory, root, lowest) {
            Ok(true) => {
                self.record_number(&directory, set.id).ok()?;
                Some(set)
            }
            // The set stays registered. The next process that opens the store recovers it as empty.
            Ok(false) | Err(_) => None,
        }
    }
}

/// Returns the last change set of a session, locked, if it has no record of a file and no process
/// uses it.
fn last_unused(session: &PrivateDir) -> Option<ChangeSet> {
    let last = last_number(session)?;
    let set = ChangeSet::read(session, ChangesId(last)).ok()??;
    let is_done = set.state == SetState::Done && !set.dir.has(journal::FILE_NAME);
    // The state is read again once no other process can change it.
    if !is_done || !set.is_idle() || !set.is_unchanged_on_disk() {
        return None;
    }
    let index = Index::read(&set.dir).ok()?;
    let is_empty = index.records.is_empty() && index.inode_records.is_empty();
    (is_empty && index.is_complete(set.state)).then_some(set)
}

/// Gives a change set the next number, at least `lowest`. Returns false if the set cannot be
/// reused.
fn reuse(
    set: &mut ChangeSet,
    session: &PrivateDir,
    root: &Path,
    lowest: u64,
) -> Result<bool, ChangesError> {
    let tree = RootedDir::open_same(root, set.meta.identity)?;
    let is_same_mount = mount_of(set.dir())? == mount_of(tree.path())?;
    // A set without listed changes can have been undone, for example because of changed times. The
    // undo then refers to the number of this set.
    let is_referenced = !set.is_unchanged_on_disk() || set.slots() != set.dir();
    if is_same_mount != set.meta.is_same_mount || is_referenced {
        return Ok(false);
    }
    clear(set).map_err(ChangesError::io("clearing", set.dir()))?;
    set.set_size(0);
    let (id, ()) = take_next(session, lowest, |name| set.dir.rename_in(session, name))?;
    set.id = id;
    set.command = None;
    set.mark = mark::touched(&set.lock, set.dir())?;
    set.set_state(SetState::Running)?;
    Ok(true)
}

/// Removes the records of the former call: they are of unchanged files.
fn clear(set: &ChangeSet) -> io::Result<()> {
    if set.dir.has(journal::FILE_NAME) {
        set.dir.remove(CONTENTS_FILE)?;
        remove_tree(&set.dir().join(LINKS_DIR))?;
        set.dir.make_dir(LINKS_DIR)?;
        set.dir.remove(journal::FILE_NAME)?;
    }
    set.dir.remove(INDEX_FILE)
}
