//! [`ArtifactDir`]: a session's full outputs in a directory of their own.
//!
//! The directory is made when the first artifact is; several processes may share it. Names and limits are in
//! `artifact_options`, numbers come from `allocate`. Writing one artifact is `artifact_writer`, making room is
//! `quota`, removing what the dead left is `sweep`, reading is `view`.

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

/// A session's artifacts. Dropping it removes those it made, if their [`Lifetime`] is the session's.
#[derive(Debug)]
pub struct ArtifactDir {
    shared: Arc<Shared>,
}

/// What writers need of their directory.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) options: ArtifactDirOptions,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    dir: Option<Arc<PrivateDir>>,
    /// Made through this value, and not removed.
    made: BTreeSet<ArtifactId>,
}

/// An artifact as it is listed.
#[derive(Debug, Clone, PartialEq)]
pub struct ArtifactInfo {
    /// What a result says of it; for one that another process goes on writing, its length as it is now.
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

/// What a removal has removed.
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
    /// Artifacts that somebody still uses.
    pub kept: u64,
}

/// Why an artifact cannot be read. The texts are those of the upstream.
#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    /// What stands behind `artifact://` is not a number.
    #[error(transparent)]
    NotNumeric(#[from] ArtifactUriError),
    /// There is none of that number.
    #[error("Artifact {id} not found. Available: {}", available_text(available))]
    NotFound {
        /// The number.
        id: ArtifactId,
        /// Those there are.
        available: Vec<ArtifactId>,
    },
    /// There is no session whose artifact it could be.
    #[error("No session - artifacts unavailable")]
    NoSession,
    /// The system refused.
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

/// Opens what `3` or `artifact://3` names in a session, if there is a session.
///
/// # Errors
/// [`LookupError`].
pub fn open_artifact(session: Option<&ArtifactDir>, uri: &str) -> Result<FileView, LookupError> {
    let id = uri.parse::<ArtifactId>()?;
    session.ok_or(LookupError::NoSession)?.open(id)
}

impl ArtifactDir {
    /// A directory of which nothing is made, looked at or checked yet.
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

    /// Where the artifacts are, once there are any.
    pub fn path(&self) -> PathBuf {
        let Shared { options, .. } = &*self.shared;
        let mut path = options.root.clone();
        path.extend(options.below());
        path
    }

    /// The finished artifacts, oldest first. None if the directory cannot be read.
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

    /// The artifact that a path names, as `paged` shows it; `None` if it is not one of this session.
    pub fn find(&self, path: &Path) -> Option<ArtifactInfo> {
        self.list()
            .into_iter()
            .find(|info| Path::new(&info.artifact.path) == path)
    }

    /// Ends the session: removes what was made through this value, if its lifetime is the session's. Files that other
    /// processes go on writing stay, and so does the number of the next artifact: a link leads to its own output or
    /// nowhere, never to another. Called on drop, too.
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

    /// Removes all artifacts of the session but those that `keep` names and those that another process's session still
    /// has, whatever their age.
    pub fn clear(&self, keep: impl Fn(&ArtifactInfo) -> bool) -> Cleared {
        match self.shared.look() {
            Ok(dir) => sweep::clear(&dir, self.shared.options.clock.wall(), keep),
            Err(_) => Cleared::default(),
        }
    }

    /// Removes what is past its time in all sessions under `root`: artifacts whose session's process is dead, and
    /// those a day old that may become no older. To be called at a start.
    pub fn sweep(root: &Path, now: Timestamp) -> Removed {
        sweep::sweep(root, now)
    }

    /// As [`Self::sweep`], at most once an hour: for programs that make one call, since it looks at every artifact.
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
                // Another process found the directory empty, and removed it under our hands.
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
            // Threads wait for each other here, so that only other processes are met at the file's lock.
            let _turn = self.state();
            allocate::allocate(self.options.naming, &dir, meta, stream).map_err(failed)?
        };
        let sidecar = Sidecar::new(id, name, stream, meta, self.options.lifetime);
        let writer = FileWriter::new(self.clone(), dir, file, sidecar).map_err(failed)?;
        Ok(Box::new(writer))
    }

    /// An artifact is whole.
    pub(crate) fn made(&self, id: ArtifactId) {
        self.state().made.insert(id);
    }

    /// The directory, made if it is missing.
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

    /// The directory, if there is one.
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
    /// Removes an artifact and counts it.
    pub(crate) fn take(&mut self, sidecar: &Sidecar, dir: &PrivateDir) {
        let bytes = dir.size(&sidecar.file);
        if sidecar.remove(dir).is_ok() {
            self.artifacts += 1;
            self.bytes += bytes;
        }
    }
}
