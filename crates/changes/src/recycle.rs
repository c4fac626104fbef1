//! Reuses change sets of calls that changed nothing, which are most. A later call takes one over
//! under its own number: a rename and a write, where a new change set is some ten files.

use crate::error::ChangesError;
use crate::meta::SetKind;
use crate::numbers::numbers;
use crate::recorder::{CONTENTS_FILE, INDEX_FILE};
use crate::rooted_dir::{RootedDir, canonical, mount_of};
use crate::set::{ChangeSet, LINKS_DIR, SetState};
use crate::store::{MAX_ATTEMPTS, Store};
use crate::{journal, mark};
use agent_bash_core::changes::{ChangesId, ChangesLevel};
use agent_bash_os::{PrivateDir, remove_tree};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{MutexGuard, PoisonError};

/// The largest number of unused change sets, as many as calls that usually run at the same time.
const MAX_UNUSED_SETS: usize = 16;

impl Store {
    /// Keeps the change set of a call that changed nothing. It stays locked, so that it is not
    /// pruned, and can be shown until it is reused.
    pub(crate) fn recycle(&self, set: ChangeSet) {
        let mut spares = self.spares();
        spares.push(set);
        if spares.len() > MAX_UNUSED_SETS {
            // The latest one keeps its number, which must not be used again.
            let oldest = (0..spares.len()).min_by_key(|at| spares[*at].id.0);
            let surplus = oldest.map(|at| spares.swap_remove(at));
            drop(spares);
            // A remaining directory is pruned when it is old.
            let _ = surplus.map(|set| remove_tree(set.dir()));
        }
    }

    /// Reuses a change set with the same root and description, if there is one.
    pub(crate) fn renewed(
        &self,
        session: &str,
        root: &Path,
        kind: SetKind,
        level: ChangesLevel,
    ) -> Option<ChangeSet> {
        let root = canonical(root).ok()?;
        let parent = self.path.join(session);
        let fits = |set: &ChangeSet| {
            set.dir().parent() == Some(&parent)
                && set.meta.root() == root
                && set.meta.kind == kind
                && set.meta.level == level
                && set.meta.limits == self.limits
        };
        let mut spares = self.spares();
        let at = spares.iter().position(fits)?;
        let mut set = spares.swap_remove(at);
        drop(spares);
        match renew(&mut set, &root) {
            Ok(true) => Some(set),
            // The next process that opens the store may find it, and sees that it is empty.
            Ok(false) | Err(_) => None,
        }
    }

    fn spares(&self) -> MutexGuard<'_, Vec<ChangeSet>> {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives a change set the next number. False if that is not possible.
fn renew(set: &mut ChangeSet, root: &Path) -> Result<bool, ChangesError> {
    let tree = RootedDir::open_same(root, set.meta.identity)?;
    let is_near = mount_of(set.dir())? == mount_of(tree.path())?;
    // The change set was undone although it lists no change, for example because of times: its undo
    // refers to it.
    let is_spoken_of = !set.is_as_known() || set.slots() != set.dir();
    if is_near != set.meta.near || is_spoken_of {
        return Ok(false);
    }
    clear(set).map_err(ChangesError::io("clearing", set.dir()))?;
    let parent = set.dir().parent().unwrap_or(root);
    let session = PrivateDir::open(parent, &[]).map_err(ChangesError::io("opening", parent))?;
    let first = numbers(&session)?.last().map_or(1, |last| last + 1);
    for id in first..first + MAX_ATTEMPTS {
        match set.dir.rename_in(&session, &id.to_string()) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            renamed => {
                renamed.map_err(ChangesError::io("renaming", set.dir()))?;
                set.id = ChangesId(id);
                set.command = None;
                set.mark = mark::touched(&set.lock, set.dir())?;
                set.set_state(SetState::Running)?;
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Removes the records of unchanged files.
fn clear(set: &ChangeSet) -> io::Result<()> {
    if set.dir.has(journal::FILE_NAME) {
        set.dir.remove(CONTENTS_FILE)?;
        remove_tree(&set.dir().join(LINKS_DIR))?;
        set.dir.make_dir(LINKS_DIR)?;
        set.dir.remove(journal::FILE_NAME)?;
    }
    set.dir.remove(INDEX_FILE)
}
