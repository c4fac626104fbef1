//! The exact record of a call's file changes. It knows the protected files that a call has changed
//! where the scans did not reach.

use crate::changes::{CallChanges, ChangeStore};
use agent_bash_core::changes::{ChangesId, ChangesState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An exact record of a call that has ended.
#[derive(Debug)]
pub(super) struct ExactRecord {
    store: Arc<ChangeStore>,
    root: PathBuf,
    id: ChangesId,
    is_empty: bool,
}

impl ExactRecord {
    /// Returns the record of these changes; `None` if the call was not recorded exactly, or its
    /// changes are held.
    pub(super) fn of(store: &Arc<ChangeStore>, recorded: &CallChanges) -> Option<Self> {
        let changes = recorded.changes.as_ref().filter(|changes| {
            let is_made = matches!(changes.state, ChangesState::Done | ChangesState::Listed);
            is_made && changes.exact
        })?;
        Some(Self {
            store: Arc::clone(store),
            root: PathBuf::from(&changes.root),
            id: changes.id,
            is_empty: changes.counts.total() == 0,
        })
    }

    /// Returns the recorded directory.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the protected paths that the call has changed; `None` if the record cannot be read.
    /// Reads the whole record.
    pub(super) fn protected(&self) -> Option<Vec<PathBuf>> {
        if self.is_empty {
            return Some(Vec::new());
        }
        let store = self.store.store().ok()?;
        let (_, files) = store.show_all(self.store.session(), self.id).ok()?;
        let protected = &self.store.protected;
        Some(protected.among(&self.root, &self.root, &files))
    }
}
