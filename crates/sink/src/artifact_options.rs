//! Options of the artifact store: the directory, the names and the maximum sizes of files, and how
//! long they are kept.

use crate::sidecar::Lifetime;
use agent_bash_core::{ArtifactId, ArtifactMeta, Clock, StreamId};
use std::path::PathBuf;
use std::sync::Arc;

/// Storage options of a session's artifacts. All fields are required.
#[derive(Debug, Clone)]
pub struct ArtifactDirOptions {
    /// The state directory; absolute. Artifacts are in `<root>/<session>/artifacts`.
    pub root: PathBuf,
    /// The session's name; must be a single path component.
    pub session: String,
    /// How files are named.
    pub naming: Naming,
    /// How long artifacts are kept.
    pub lifetime: Lifetime,
    /// Size limits.
    pub limits: ArtifactLimits,
    /// Supplies the age of artifacts.
    pub clock: Arc<dyn Clock>,
}

/// How artifact files are named. The numbering is the same for both variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// `<id>.log`.
    Numbered,
    /// `bash-<unixNano>-stdout.txt` and `-stderr.txt`, for profiles whose texts show paths.
    Paged,
}

/// How large artifacts may become, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArtifactLimits {
    /// Limit of one file. Bytes beyond the limit are counted but not written.
    pub per_file: u64,
    /// Limit of all artifacts of a session; the oldest artifacts are evicted first.
    pub per_session: u64,
    /// Space to leave free on the file system; the oldest artifacts are evicted first.
    pub free_floor: u64,
}

/// Longest session name, in bytes.
const MAX_SESSION_NAME_BYTES: usize = 100;

impl ArtifactDirOptions {
    /// Returns the names of the directories between the root and the artifacts.
    pub(crate) fn below(&self) -> [&str; 2] {
        [&self.session, DIRECTORY_NAME]
    }

    /// Checks that the session's name is usable as a directory name.
    pub(crate) fn check_session(&self) -> Result<(), SessionNameError> {
        let name = &self.session;
        let is_component = !name.is_empty()
            && name.len() <= MAX_SESSION_NAME_BYTES
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

/// The session's name is not a single path component.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("session name must be one path component of at most 100 bytes, got: {0:?}")]
pub struct SessionNameError(pub String);

impl Naming {
    /// Returns the data file's name for the given attempt.
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
                // The clock has millisecond resolution; the attempt number below tells apart calls
                // in the same millisecond.
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

/// The artifact directory's name inside a session's directory.
pub(crate) const DIRECTORY_NAME: &str = "artifacts";
