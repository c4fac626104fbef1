//! The seam to whoever keeps full outputs. Best effort: a failure here never stops a run.

use crate::{ArtifactRef, Status, StreamId, Timestamp};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::time::Duration;

/// Keeps full outputs. Implemented by `agent_bash_sink::ArtifactDir`.
pub trait ArtifactStore: Send + Sync + std::fmt::Debug {
    /// Makes a new, empty artifact. Called when an output first overflows what is shown, not before.
    ///
    /// # Errors
    /// [`ArtifactError`]; the run goes on, and its text has no link.
    fn create(
        &self,
        meta: &ArtifactMeta,
        stream: StreamId,
    ) -> Result<Box<dyn ArtifactWriter>, ArtifactError>;
}

/// An artifact being written.
pub trait ArtifactWriter: Send {
    /// Appends. Beyond the store's cap bytes are counted and not written; that is not an error.
    ///
    /// # Errors
    /// After an error the artifact is not whole; the caller drops the writer, which removes the file.
    fn write(&mut self, bytes: &[u8]) -> Result<(), ArtifactError>;

    /// A second handle on the file, at its end, for a process that goes on writing it.
    ///
    /// # Errors
    /// The system's.
    fn file(&self) -> io::Result<File>;

    /// Completes the artifact. A writer dropped without this removes its file.
    ///
    /// # Errors
    /// The artifact is not whole and was removed.
    fn finish(self: Box<Self>, end: &ArtifactEnd) -> Result<ArtifactRef, ArtifactError>;
}

/// What is known of a call when its artifact is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactMeta {
    /// The command as it was run.
    pub command: String,
    /// The directory it ran in.
    pub cwd: String,
    /// When it was started.
    pub started_at: Timestamp,
}

/// What is known of a call when it has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactEnd {
    /// How it ended.
    pub status: Status,
    /// How long it took.
    pub duration: Duration,
}

/// Why an output was not kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactError {
    /// The system refused.
    #[error("{what}: {source}")]
    Io {
        /// What was being done, with the path.
        what: String,
        /// The system's error.
        source: io::Error,
    },
    /// A limit of the store.
    #[error("{0}")]
    Limit(String),
}
