//! Lists the artifacts of a state directory, and counts removed ones.

use crate::sidecar::Sidecar;
use agent_bash_core::{ArtifactId, ArtifactRef, Status, Timestamp};
use agent_bash_os::PrivateDir;
use std::collections::BTreeSet;
use std::time::Duration;

/// One artifact in a listing.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ArtifactInfo {
    /// The reference as results have it. If another process is still writing the artifact, its
    /// length is the current one.
    pub artifact: ArtifactRef,
    /// The command, or the first 16 KB of it.
    pub command: String,
    /// The call's working directory.
    pub cwd: String,
    /// The time when the call started.
    pub started_at: Timestamp,
    /// The duration of the call.
    pub duration: Duration,
    /// The outcome of the call.
    pub status: Status,
    /// True if processes that outlived the call may still write the artifact.
    pub shared: bool,
}

/// Counts of removed artifacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RemovedArtifacts {
    /// Number of removed artifacts.
    pub artifacts: u64,
    /// Total length of the removed artifacts in bytes.
    pub bytes: u64,
}

/// The result of [`ArtifactDir::clear`](crate::ArtifactDir::clear).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ClearOutcome {
    /// The removed artifacts.
    pub removed: RemovedArtifacts,
    /// Artifacts that are still in use and were therefore kept.
    pub in_use: u64,
}

/// Returns the ids of the artifacts that have a sidecar, oldest first.
pub(crate) fn ids(dir: &PrivateDir) -> Vec<ArtifactId> {
    let names = dir.names().unwrap_or_default();
    let ids: BTreeSet<ArtifactId> = names
        .iter()
        .filter_map(|name| Sidecar::id_of(name))
        .collect();
    ids.into_iter().collect()
}

/// Returns the listing's entry of an artifact. `None` if the artifact is not finished.
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

impl RemovedArtifacts {
    /// Removes an artifact, and counts it if the removal succeeded.
    pub(crate) fn remove(&mut self, sidecar: &Sidecar, dir: &PrivateDir) {
        let bytes = dir.size(&sidecar.file);
        if sidecar.remove(dir).is_ok() {
            self.artifacts += 1;
            self.bytes += bytes;
        }
    }
}
