//! The directories of a temporary trial, with which a caller tests if an overlay on a tree works.

use crate::error::ChangesError;
use crate::files::rooted_dir::canonical;
use crate::store::Store;
use agent_bash_core::changes::Overlay;
use agent_bash_os::remove_tree;
use std::io;
use std::path::{Path, PathBuf};

/// The directories of a trial without a number, which no list contains. Dropping the value removes
/// them.
#[derive(Debug)]
pub struct TemporaryTrial {
    path: PathBuf,
    overlay: Overlay,
}

impl TemporaryTrial {
    /// Returns the overlay.
    pub fn overlay(&self) -> &Overlay {
        &self.overlay
    }
}

impl Drop for TemporaryTrial {
    fn drop(&mut self) {
        // A remaining empty directory does no harm.
        let _ = remove_tree(&self.path);
    }
}

impl Store {
    /// Returns a temporary trial with directories like those of [`Store::begin_trial`].
    ///
    /// # Errors
    /// See [`Store::begin_trial`].
    pub fn temporary_trial(
        &self,
        session: &str,
        root: &Path,
    ) -> Result<TemporaryTrial, ChangesError> {
        let root = canonical(root)?;
        let session = self.session(session)?;
        let mut number = 0;
        let (dir, path) = loop {
            let name = format!("sample-{}-{number}", std::process::id());
            let path = session.path().join(&name);
            match session.make_dir(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                made => break (made, path),
            }
        };
        let failed = || ChangesError::io("making", path.clone());
        let dir = dir.map_err(failed())?;
        let overlay = Overlay {
            root,
            upper: path.join("upper"),
            work: path.join("work"),
        };
        let trial = TemporaryTrial {
            path: path.clone(),
            overlay,
        };
        for name in ["upper", "work"] {
            dir.make_dir(name).map_err(failed())?;
        }
        Ok(trial)
    }
}
