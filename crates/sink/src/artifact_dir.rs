//! [`ArtifactDir`]: one directory per session for full outputs.
//!
//! The directory is created with the first artifact, and several processes may share it. Names and limits are in
//! `artifact_options`, numbering in `allocate`, writing one artifact in `artifact_writer`, eviction in `quota`,
//! cleaning up after dead processes in `sweep`, reading in `view`.

use crate::allocate;
use crate::artifact_options::{ArtifactDirOptions, SessionNameError};
use crate::artifact_writer::FileWriter;
use crate::private_dir::PrivateDir;
use crate::quota;
use crate::sidecar::{Lifetime, Sidecar};
use crate::sweep;
use crate::view::FileView;
use agent_bash_core::{
    ArtifactError, ArtifactId, ArtifactMeta, ArtifactRef, ArtifactStore, ArtifactUriError,
    ArtifactWriter, Status, StreamId, Timestamp,
};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A session's artifacts. Dropping it removes those it created, if their [`Lifetime`] is the session's.
#[derive(Debug)]
pub struct ArtifactDir {
    shared: Arc<Shared>,
}

/// The part that writers share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) options: ArtifactDirOptions,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    dir: Option<Arc<PrivateDir>>,
    /// Created through this value and not removed since.
    made: BTreeSet<ArtifactId>,
}

/// One artifact in a listing.
#[derive(Debug, Clone, PartialEq)]
pub struct ArtifactInfo {
    /// The reference as results carry it. If another process is still writing the artifact, its current length.
    pub artifact: ArtifactRef,
    /// The command, or the first 16 KB of it.
    pub command: String,
    /// The directory it ran in.
    pub cwd: String,
    /// When it was started.
    pub started_at: Timestamp,
    /// How long it took.
    pub duration: Duration,
    /// How it ended.
    pub status: Status,
    /// Whether processes that outlived the call may still write it.
    pub shared: bool,
}

/// How much was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Removed {
    /// Artifacts.
    pub artifacts: u64,
    /// Their length in bytes.
    pub bytes: u64,
}

/// What [`ArtifactDir::clear`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cleared {
    /// What is gone.
    pub removed: Removed,
    /// Artifacts that are still in use and were therefore kept.
    pub kept: u64,
}

/// Why an artifact cannot be read. The contract fixes these texts.
#[derive(Debug, thiserror::Error)]
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
        /// Which file.
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
    /// Does no I/O: the directory is neither created nor checked until it is used.
    ///
    /// # Errors
    /// [`SessionNameError`].
    pub fn new(options: ArtifactDirOptions) -> Result<Self, SessionNameError> {
        options.check_session()?;
        Ok(Self {
            shared: Arc::new(Shared {
                options,
                state: Mutex::default(),
            }),
        })
    }

    /// Where the artifacts are or will be.
    pub fn path(&self) -> PathBuf {
        let Shared { options, .. } = &*self.shared;
        let mut path = options.root.clone();
        path.extend(options.below());
        path
    }

    /// The finished artifacts, oldest first; empty if the directory cannot be read.
    pub fn list(&self) -> Vec<ArtifactInfo> {
        let Ok(dir) = self.shared.look() else {
            return Vec::new();
        };
        ids(&dir)
            .into_iter()
            .filter_map(|id| info(&dir, &Sidecar::read(&dir, id).ok()?))
            .collect()
    }

    /// Opens an artifact for reading.
    ///
    /// # Errors
    /// [`LookupError`].
    pub fn open(&self, id: ArtifactId) -> Result<FileView, LookupError> {
        let found = self.shared.look().and_then(|dir| {
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

    /// The artifact at a path, as the `paged` profile prints it; `None` if the path is not one of this session's.
    pub fn find(&self, path: &Path) -> Option<ArtifactInfo> {
        self.list()
            .into_iter()
            .find(|info| Path::new(&info.artifact.path) == path)
    }

    /// Ends the session: removes what was created through this value, if its lifetime is the session's. Files that
    /// other processes are still writing are kept. So is the counter: a link must resolve to its own output or to
    /// nothing, never to a later artifact. Also called on drop.
    pub fn close(&self) -> Removed {
        let mut state = self.shared.state();
        let made = std::mem::take(&mut state.made);
        let Some(dir) = state.dir.take() else {
            return Removed::default();
        };
        drop(state);
        let mut removed = Removed::default();
        if self.shared.options.lifetime == Lifetime::Session {
            for id in made {
                if let Ok(sidecar) = Sidecar::read(&dir, id)
                    && sidecar.done.as_ref().is_some_and(|done| !done.shared)
                {
                    removed.take(&sidecar, &dir);
                }
            }
        }
        removed
    }

    /// Removes all artifacts of the session regardless of age, except those that `keep` selects and those that
    /// belong to a live session of another process.
    pub fn clear(&self, keep: impl Fn(&ArtifactInfo) -> bool) -> Cleared {
        match self.shared.look() {
            Ok(dir) => sweep::clear(&dir, self.shared.options.clock.wall(), keep),
            Err(_) => Cleared::default(),
        }
    }

    /// Removes expired artifacts in all sessions under `root`: session-lifetime artifacts whose process is dead,
    /// and day-lifetime artifacts that are older than a day. Call it at startup.
    pub fn sweep(root: &Path, now: Timestamp) -> Removed {
        sweep::sweep(root, now)
    }

    /// As [`Self::sweep`], but at most once an hour. For programs that make a single call: a sweep looks at every
    /// artifact.
    pub fn sweep_when_due(root: &Path, now: Timestamp) -> Removed {
        sweep::sweep_when_due(root, now)
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
        self.shared
            .create(meta, stream)
            .or_else(|error| match error {
                // Another process removed the empty directory after we opened it.
                ArtifactError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                    self.shared.create(meta, stream)
                }
                error => Err(error),
            })
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn create(
        self: &Arc<Self>,
        meta: &ArtifactMeta,
        stream: StreamId,
    ) -> Result<Box<dyn ArtifactWriter>, ArtifactError> {
        let failed = |source| {
            let path = self.options.root.join(&self.options.session);
            let what = format!("making an artifact below {}", path.display());
            ArtifactError::Io { what, source }
        };
        let dir = self.make().map_err(failed)?;
        quota::make_room(&dir, &self.options, 0, None)?;
        let (id, name, file) = {
            // Threads of this process queue on the mutex, so only other processes contend for the file lock.
            let _turn = self.state();
            allocate::allocate(self.options.naming, &dir, meta, stream).map_err(failed)?
        };
        let sidecar = Sidecar::new(id, name, stream, meta, self.options.lifetime);
        let writer = FileWriter::new(self.clone(), dir, file, sidecar).map_err(failed)?;
        Ok(Box::new(writer))
    }

    /// Records a completed artifact.
    pub(crate) fn made(&self, id: ArtifactId) {
        self.state().made.insert(id);
    }

    /// The directory, created if missing.
    fn make(&self) -> io::Result<Arc<PrivateDir>> {
        let mut state = self.state();
        if let Some(dir) = &state.dir
            && !dir.is_gone()
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
    fn look(&self) -> io::Result<Arc<PrivateDir>> {
        if let Some(dir) = &self.state().dir {
            return Ok(dir.clone());
        }
        PrivateDir::open(&self.options.root, &self.options.below()).map(Arc::new)
    }
}

/// The artifacts that have a sidecar, oldest first.
pub(crate) fn ids(dir: &PrivateDir) -> Vec<ArtifactId> {
    let names = dir.names().unwrap_or_default();
    let ids: BTreeSet<ArtifactId> = names
        .iter()
        .filter_map(|name| Sidecar::id_of(name))
        .collect();
    ids.into_iter().collect()
}

pub(crate) fn info(dir: &PrivateDir, sidecar: &Sidecar) -> Option<ArtifactInfo> {
    let done = sidecar.done.as_ref()?;
    let mut artifact = sidecar.reference(dir)?;
    if done.shared {
        artifact.bytes = dir.size(&sidecar.file).max(artifact.bytes);
    }
    Some(ArtifactInfo {
        artifact,
        command: sidecar.command.clone(),
        cwd: sidecar.cwd.clone(),
        started_at: sidecar.started_at,
        duration: Duration::from_millis(done.duration_ms),
        status: done.status.clone(),
        shared: done.shared,
    })
}

impl Removed {
    /// Removes an artifact and counts it if that worked.
    pub(crate) fn take(&mut self, sidecar: &Sidecar, dir: &PrivateDir) {
        let bytes = dir.size(&sidecar.file);
        if sidecar.remove(dir).is_ok() {
            self.artifacts += 1;
            self.bytes += bytes;
        }
    }
}
