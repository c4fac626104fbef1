//! The interface for storing full outputs. Best effort: an error here never stops a run.

use crate::{ArtifactRef, Status, StreamId, Timestamp};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::time::Duration;

/// Stores full outputs. Implemented by `agent_bash_sink::ArtifactDir`.
pub trait ArtifactStore: Send + Sync + std::fmt::Debug {
    /// Creates an empty artifact. Called only when an output exceeds what is shown.
    ///
    /// # Errors
    /// [`ArtifactError`]; the run continues, and its text has no link.
    fn create(
        &self,
        meta: &ArtifactMeta,
        stream: StreamId,
    ) -> Result<Box<dyn ArtifactWriter>, ArtifactError>;
}

/// An artifact being written.
pub trait ArtifactWriter: Send {
    /// Appends bytes. Bytes beyond the store's size limit are counted but not written, which is not
    /// an error.
    ///
    /// # Errors
    /// The artifact is incomplete. The caller drops the writer, which removes the file.
    fn write(&mut self, bytes: &[u8]) -> Result<(), ArtifactError>;

    /// Returns a second handle to the file, positioned at its end, for a process that continues to
    /// write it.
    ///
    /// # Errors
    /// I/O errors.
    fn file(&self) -> io::Result<File>;

    /// Completes the artifact. A writer that is dropped earlier removes its file.
    ///
    /// # Errors
    /// The artifact is incomplete and was removed.
    fn finish(self: Box<Self>, end: &ArtifactEnd) -> Result<ArtifactRef, ArtifactError>;
}

/// The facts about a call when its artifact is created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactMeta {
    /// The command as it was run.
    pub command: String,
    /// The call's working directory.
    pub cwd: String,
    /// The time at which the call started.
    pub started_at: Timestamp,
}

/// The facts about a finished call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactEnd {
    /// How the call ended.
    pub status: Status,
    /// Duration of the call.
    pub duration: Duration,
}

/// The reason why an output was not stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactError {
    /// An I/O error.
    #[error("{what}: {source}")]
    Io {
        /// The failed operation, with the path.
        what: String,
        /// The system's error.
        source: io::Error,
    },
    /// A limit of the store.
    #[error("{0}")]
    Limit(String),
}
