//! The part of a session's directory that the writers of its artifacts share.

use crate::artifact_options::ArtifactDirOptions;
use agent_bash_core::{ArtifactId, lock};
use agent_bash_os::PrivateDir;
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

/// The options and the state of an artifact directory.
#[derive(Debug)]
pub(crate) struct SharedDir {
    pub(crate) options: ArtifactDirOptions,
    state: Mutex<DirState>,
}

/// The state of an artifact directory in this process.
#[derive(Debug, Default)]
pub(crate) struct DirState {
    pub(crate) dir: Option<Arc<PrivateDir>>,
    /// The artifacts that were created through this value in that directory, and not removed since.
    pub(crate) created: BTreeSet<ArtifactId>,
    /// The number after the last number that this process has seen. Lower numbers are not used
    /// again, even if the directory and its counter are removed or replaced.
    pub(crate) next: ArtifactId,
    /// Lower numbers belong to a directory that has been removed or replaced.
    pub(crate) first: ArtifactId,
}

impl DirState {
    /// Returns the directory, unless it was removed or replaced.
    fn current(&mut self) -> Option<Arc<PrivateDir>> {
        let dir = self.dir.as_ref()?;
        if dir.is_at_its_path() {
            return Some(dir.clone());
        }
        self.dir = None;
        self.created.clear();
        self.first = self.next;
        None
    }
}

impl SharedDir {
    pub(crate) fn new(options: ArtifactDirOptions) -> Self {
        Self {
            options,
            state: Mutex::default(),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, DirState> {
        lock(&self.state)
    }

    /// Records a finished artifact of `dir`, unless the directory was replaced.
    pub(crate) fn record_finished(&self, id: ArtifactId, dir: &Arc<PrivateDir>) {
        let mut state = self.state();
        if state.dir.as_ref().is_some_and(|now| Arc::ptr_eq(now, dir)) {
            state.created.insert(id);
        }
    }

    /// Returns the directory; creates it if it is missing.
    pub(crate) fn open_or_create(&self) -> io::Result<Arc<PrivateDir>> {
        let mut state = self.state();
        if let Some(dir) = state.current() {
            return Ok(dir);
        }
        let dir = Arc::new(PrivateDir::create(
            &self.options.root,
            &self.options.below(),
        )?);
        state.dir = Some(dir.clone());
        Ok(dir)
    }

    /// Returns the directory if it exists.
    pub(crate) fn open_existing(&self) -> io::Result<Arc<PrivateDir>> {
        if let Some(dir) = self.state().current() {
            return Ok(dir);
        }
        PrivateDir::open(&self.options.root, &self.options.below()).map(Arc::new)
    }
}
