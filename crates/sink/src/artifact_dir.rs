//! [`ArtifactDir`]: one directory per session for full outputs.
//!
//! The directory is created with the first artifact, and several processes may share it. Names and
//! limits are in `artifact_options`, numbering in `allocate`, writing one artifact in
//! `artifact_writer`, eviction in `quota`, cleaning up after dead processes in `sweep`, reading in
//! `view`.

use crate::allocate;
use crate::artifact_list::{ArtifactInfo, ClearOutcome, RemovedArtifacts, ids, info};
use crate::artifact_options::{ArtifactDirOptions, SessionNameError};
use crate::artifact_writer::FileWriter;
use crate::quota;
use crate::shared_dir::SharedDir;
use crate::sidecar::{Lifetime, Sidecar};
use crate::sweep;
use crate::view::FileView;
use agent_bash_core::{
    ArtifactError, ArtifactId, ArtifactMeta, ArtifactStore, ArtifactUriError, ArtifactWriter,
    StreamId, Timestamp,
};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A session's artifacts. Dropping the value removes the artifacts that were created through it, if
/// their [`Lifetime`] is [`Lifetime::Session`].
#[derive(Debug)]
pub struct ArtifactDir {
    shared: Arc<SharedDir>,
}

/// Why an artifact cannot be read. The contract fixes these texts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// The part after `artifact://` is not a number.
    #[error(transparent)]
    NotNumeric(#[from] ArtifactUriError),
    /// No artifact has that number.
    #[error("Artifact {id} not found. Available: {}", available_text(available))]
    NotFound {
        /// The number.
        id: ArtifactId,
        /// The existing artifact numbers.
        available: Vec<ArtifactId>,
    },
    /// There is no session, hence no artifacts.
    #[error("No session - artifacts unavailable")]
    NoSession,
    /// An I/O error.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The system's error.
        source: io::Error,
    },
}

fn available_text(available: &[ArtifactId]) -> String {
    match available {
        [] => "none".to_owned(),
        ids => {
            let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
            ids.join(", ")
        }
    }
}

/// Opens the artifact that `3` or `artifact://3` names in a session, if there is a session.
///
/// # Errors
/// [`LookupError`].
pub fn open_artifact(session: Option<&ArtifactDir>, uri: &str) -> Result<FileView, LookupError> {
    let id = uri.parse::<ArtifactId>()?;
    session.ok_or(LookupError::NoSession)?.open(id)
}

impl ArtifactDir {
    /// Returns the artifacts of a session. Does no I/O: the directory is neither created nor
    /// checked until it is used.
    ///
    /// # Errors
    /// [`SessionNameError`].
    pub fn new(options: ArtifactDirOptions) -> Result<Self, SessionNameError> {
        options.check_session()?;
        Ok(Self {
            shared: Arc::new(SharedDir::new(options)),
        })
    }

    /// Returns the directory of the artifacts, which may not exist yet.
    pub fn path(&self) -> PathBuf {
        let SharedDir { options, .. } = &*self.shared;
        let mut path = options.root.clone();
        path.extend(options.below());
        path
    }

    /// Returns the finished artifacts, oldest first; none if the directory cannot be read.
    pub fn list(&self) -> Vec<ArtifactInfo> {
        let Ok(dir) = self.shared.open_existing() else {
            return Vec::new();
        };
        let first = self.shared.state().first;
        ids(&dir)
            .into_iter()
            .filter(|id| *id >= first)
            .filter_map(|id| info(&dir, &Sidecar::read(&dir, id).ok()?))
            .collect()
    }

    /// Opens an artifact for reading.
    ///
    /// # Errors
    /// [`LookupError`].
    pub fn open(&self, id: ArtifactId) -> Result<FileView, LookupError> {
        let found = self.shared.open_existing().and_then(|dir| {
            if id < self.shared.state().first {
                return Err(io::ErrorKind::NotFound.into());
            }
            let sidecar = Sidecar::read(&dir, id)?;
            let done = sidecar.done.ok_or(io::ErrorKind::NotFound)?;
            let file = dir.read(&sidecar.file)?;
            FileView::indexed(file, done.index, !done.complete)
        });
        found.map_err(|source| match source.kind() {
            io::ErrorKind::PermissionDenied => LookupError::Io {
                path: self.path().display().to_string(),
                source,
            },
            _ => LookupError::NotFound {
                id,
                available: self.list().iter().map(|info| info.artifact.id).collect(),
            },
        })
    }

    /// Returns the artifact at a path, as the `paged` profile prints paths; `None` if this session
    /// has no such artifact.
    pub fn find(&self, path: &Path) -> Option<ArtifactInfo> {
        self.list()
            .into_iter()
            .find(|info| Path::new(&info.artifact.path) == path)
    }

    /// Ends the session: removes the artifacts that were created through this value, if their
    /// lifetime is [`Lifetime::Session`]. Files that other processes are still writing are kept.
    /// The counter is kept, too: a link must never resolve to a later artifact. Also called on
    /// drop.
    pub fn close(&self) -> RemovedArtifacts {
        let mut state = self.shared.state();
        let created = std::mem::take(&mut state.created);
        let Some(dir) = state.dir.take() else {
            return RemovedArtifacts::default();
        };
        drop(state);
        let mut removed = RemovedArtifacts::default();
        if self.shared.options.lifetime == Lifetime::Session {
            for id in created {
                if let Ok(sidecar) = Sidecar::read(&dir, id)
                    && sidecar.done.as_ref().is_some_and(|done| !done.shared)
                {
                    removed.remove(&sidecar, &dir);
                }
            }
        }
        removed
    }

    /// Removes all artifacts of the session regardless of age, except those that `keep` selects and
    /// those that belong to a live session of another process.
    pub fn clear(&self, keep: impl Fn(&ArtifactInfo) -> bool) -> ClearOutcome {
        match self.shared.open_existing() {
            Ok(dir) => sweep::clear(&dir, self.shared.options.clock.wall(), keep),
            Err(_) => ClearOutcome::default(),
        }
    }

    /// Removes expired artifacts in all sessions under `root`: session-lifetime artifacts whose
    /// process is dead, and day-lifetime artifacts that are older than a day. Reads every artifact.
    pub fn sweep(root: &Path, now: Timestamp) -> RemovedArtifacts {
        sweep::sweep(root, now)
    }

    /// Does a part of the work of [`Self::sweep`], if such a step is due: every ten minutes, for at
    /// most 256 artifacts. The next step, of any process, continues after these artifacts. The
    /// creation of an artifact also does the step that is due.
    pub fn sweep_when_due(root: &Path, now: Timestamp) -> RemovedArtifacts {
        sweep::sweep_when_due(root, now)
    }

    /// True if a step of [`Self::sweep_when_due`] is due.
    pub fn is_sweep_due(root: &Path, now: Timestamp) -> bool {
        sweep::is_due(root, now)
    }

    fn create_once(
        &self,
        meta: &ArtifactMeta,
        stream: StreamId,
    ) -> Result<Box<dyn ArtifactWriter>, ArtifactError> {
        let shared = &self.shared;
        let failed = |source| {
            let path = shared.options.root.join(&shared.options.session);
            let what = format!("making an artifact below {}", path.display());
            ArtifactError::Io { what, source }
        };
        let dir = shared.open_or_create().map_err(failed)?;
        quota::make_room(&dir, &shared.options, 0, None)?;
        let (id, name, file) = {
            // Threads of this process queue on the mutex, so only other processes contend for the
            // file lock.
            let mut state = shared.state();
            let naming = shared.options.naming;
            let allocated = allocate::allocate(naming, &dir, meta, stream, state.next);
            let allocated = allocated.map_err(failed)?;
            state.next = ArtifactId(allocated.0.0 + 1);
            allocated
        };
        let sidecar = Sidecar::new(id, name, stream, meta, shared.options.lifetime);
        let writer = FileWriter::new(shared.clone(), dir, file, sidecar).map_err(failed)?;
        Ok(Box::new(writer))
    }
}

impl Drop for ArtifactDir {
    fn drop(&mut self) {
        self.close();
    }
}

impl ArtifactStore for ArtifactDir {
    fn create(
        &self,
        meta: &ArtifactMeta,
        stream: StreamId,
    ) -> Result<Box<dyn ArtifactWriter>, ArtifactError> {
        let options = &self.shared.options;
        sweep::sweep_when_due(&options.root, options.clock.wall());
        self.create_once(meta, stream).or_else(|error| match error {
            // Another process removed the empty directory after this process had opened it.
            ArtifactError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                self.create_once(meta, stream)
            }
            error => Err(error),
        })
    }
}
