//! The part of a session's directory that the writers of its artifacts share.

use crate::artifact_options::ArtifactDirOptions;
use agent_bash_core::ArtifactId;
use agent_bash_os::PrivateDir;
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The part that writers share.
#[derive(Debug)]
pub(crate) struct SharedDir {
    pub(crate) options: ArtifactDirOptions,
    state: Mutex<DirState>,
}

#[derive(Debug, Default)]
pub(crate) struct DirState {
    pub(crate) dir: Option<Arc<PrivateDir>>,
    /// Created through this value and not removed since.
    pub(crate) made: BTreeSet<ArtifactId>,
}

impl SharedDir {
    pub(crate) fn new(options: ArtifactDirOptions) -> Self {
        Self {
            options,
            state: Mutex::default(),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, DirState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a completed artifact.
    pub(crate) fn made(&self, id: ArtifactId) {
        self.state().made.insert(id);
    }

    /// The directory, created if missing.
    pub(crate) fn make(&self) -> io::Result<Arc<PrivateDir>> {
        let mut state = self.state();
        if let Some(dir) = &state.dir
            && !dir.is_removed()
        {
            return Ok(dir.clone());
        }
        let dir = Arc::new(PrivateDir::create(
            &self.options.root,
            &self.options.below(),
        )?);
        state.dir = Some(dir.clone());
        Ok(dir)
    }

    /// The directory, if it exists.
    pub(crate) fn look(&self) -> io::Result<Arc<PrivateDir>> {
        if let Some(dir) = &self.state().dir {
            return Ok(dir.clone());
        }
        PrivateDir::open(&self.options.root, &self.options.below()).map(Arc::new)
    }
}
