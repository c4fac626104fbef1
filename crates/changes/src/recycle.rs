//! Reuses change sets of calls that changed nothing, which are most. A later call takes one over
//! under its own number: a rename and a write, where a new change set is some ten files.

use crate::error::ChangesError;
use crate::meta::SetKind;
use crate::numbers::{last_taken, take_next};
use crate::recorder::{CONTENTS_FILE, INDEX_FILE, Index};
use crate::rooted_dir::{RootedDir, mount_of};
use crate::set::{ChangeSet, LINKS_DIR, SetState};
use crate::store::Store;
use crate::{journal, mark};
use agent_bash_core::changes::{ChangesId, ChangesLevel};
use agent_bash_os::{PrivateDir, remove_tree};
use std::io;
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
            let oldest = (0..spares.len()).min_by_key(|at| spares[*at].id.0);
            let surplus = oldest.map(|at| spares.swap_remove(at));
            drop(spares);
            // A remaining directory is removed when it is old.
            let _ = surplus.map(ChangeSet::remove);
        }
    }

    /// Reuses a change set with the same root and description, if there is one: of this process, or
    /// the last one of the session. `root` is canonical.
    pub(crate) fn renewed(
        &self,
        session: &str,
        root: &Path,
        kind: SetKind,
        level: ChangesLevel,
    ) -> Option<ChangeSet> {
        let parent = self.path.join(session);
        let fits = |set: &ChangeSet| {
            set.dir().parent() == Some(&parent)
                && set.meta.root() == root
                && set.meta.kind == kind
                && set.meta.level == level
                && set.meta.limits == self.limits
        };
        let mut spares = self.spares();
        let at = spares.iter().position(fits);
        let spare = at.map(|at| spares.swap_remove(at));
        drop(spares);
        let directory = self.existing_session(session).ok()??;
        let is_trace = kind == SetKind::Trace;
        let mut set = spare.or_else(|| {
            let last = last_unused(&directory).filter(|set| is_trace && fits(set))?;
            last.register().ok()?;
            Some(last)
        })?;
        match renew(&mut set, &directory, root) {
            Ok(true) => Some(set),
            // The next process that opens the store may find it, and sees that it is empty.
            Ok(false) | Err(_) => None,
        }
    }

    fn spares(&self) -> MutexGuard<'_, Vec<ChangeSet>> {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the last change set of a session, locked, if it has no record of a file and no process
/// uses it.
fn last_unused(session: &PrivateDir) -> Option<ChangeSet> {
    let last = last_taken(session)?;
    let set = ChangeSet::read(session, ChangesId(last)).ok()??;
    let is_done = set.state == SetState::Done && !set.dir.has(journal::FILE_NAME);
    // The state is read again once no other process can change it.
    if !is_done || !set.is_idle() || !set.is_as_known() {
        return None;
    }
    let index = Index::read(&set.dir).ok()?;
    let is_empty = index.records.is_empty() && index.others.is_empty();
    (is_empty && index.is_complete(set.state)).then_some(set)
}

/// Gives a change set the next number. False if that is not possible.
fn renew(set: &mut ChangeSet, session: &PrivateDir, root: &Path) -> Result<bool, ChangesError> {
    let tree = RootedDir::open_same(root, set.meta.identity)?;
    let is_near = mount_of(set.dir())? == mount_of(tree.path())?;
    // The change set was undone although it lists no change, for example because of times: its undo
    // refers to it.
    let is_spoken_of = !set.is_as_known() || set.slots() != set.dir();
    if is_near != set.meta.near || is_spoken_of {
        return Ok(false);
    }
    clear(set).map_err(ChangesError::io("clearing", set.dir()))?;
    set.set_size(0);
    let (id, ()) = take_next(session, |name| set.dir.rename_in(session, name))?;
    set.id = id;
    set.command = None;
    set.mark = mark::touched(&set.lock, set.dir())?;
    set.set_state(SetState::Running)?;
    Ok(true)
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
