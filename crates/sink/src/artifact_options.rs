//! Where artifacts are kept, what they are called, how large they may become and how long they stay.

use crate::sidecar::Lifetime;
use agent_bash_core::{ArtifactId, ArtifactMeta, Clock, StreamId};
use std::path::PathBuf;
use std::sync::Arc;

/// Where artifacts are kept, and how long. Every field is a decision of the caller.
#[derive(Debug, Clone)]
pub struct ArtifactDirOptions {
    /// The state directory; absolute. Artifacts are in `<root>/<session>/artifacts`.
    pub root: PathBuf,
    /// The session's name: one path component.
    pub session: String,
    /// How files are called.
    pub naming: Naming,
    /// How long artifacts are kept.
    pub lifetime: Lifetime,
    /// How large they may become.
    pub limits: ArtifactLimits,
    /// For telling old artifacts from new ones.
    pub clock: Arc<dyn Clock>,
}

/// How the files of artifacts are called. Their numbers are the same sequence, whatever the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// `<id>.log`.
    Numbered,
    /// `bash-<unixNano>-stdout.txt` and `-stderr.txt`, as texts that name paths want it.
    Paged,
}

/// How large artifacts may become, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArtifactLimits {
    /// One file; what comes after is counted and not written.
    pub per_file: u64,
    /// All of a session; the oldest go first.
    pub per_session: u64,
    /// Left free on the file system; the oldest go first.
    pub free_floor: u64,
}

impl ArtifactDirOptions {
    /// The directories below the root.
    pub(crate) fn below(&self) -> [&str; 2] {
        [&self.session, DIRECTORY]
    }

    /// Whether the session's name can be a directory's.
    pub(crate) fn check_session(&self) -> Result<(), SessionNameError> {
        let name = &self.session;
        let is_component = !name.is_empty()
            && name.len() <= 100
            && !name.starts_with('.')
            && !name.chars().any(|c| c == '/' || c.is_control());
        if is_component {
            Ok(())
        } else {
            Err(SessionNameError(name.clone()))
        }
    }
}

impl ArtifactLimits {
    /// The limits of the contract: 100 MB, 1 GB, 512 MB.
    pub const CONTRACT: Self = Self {
        per_file: 100 << 20,
        per_session: 1 << 30,
        free_floor: 512 << 20,
    };
}

/// The session's name is no single path component.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("session name must be one path component of at most 100 bytes, got: {0:?}")]
pub struct SessionNameError(pub String);

impl Naming {
    /// A data file; the next name it may have at each attempt.
    pub(crate) fn file(
        self,
        id: ArtifactId,
        meta: &ArtifactMeta,
        stream: StreamId,
        attempt: u32,
    ) -> String {
        match self {
            Self::Numbered if attempt == 0 => format!("{id}.log"),
            Self::Numbered => format!("{id}-{attempt}.log"),
            Self::Paged => {
                // The clock gives milliseconds; calls of the same one are told apart by what is below.
                let nanos = meta.started_at.0.saturating_mul(1_000_000);
                let nanos = nanos.saturating_add(u64::from(attempt));
                let stream = match stream {
                    StreamId::Stdout => "stdout",
                    StreamId::Stderr => "stderr",
                    StreamId::Merged => "output",
                };
                format!("bash-{nanos}-{stream}.txt")
            }
        }
    }
}

/// Directory of artifacts below that of its session.
pub(crate) const DIRECTORY: &str = "artifacts";
