//! An artifact's metadata in `<id>.json`: the call, the creating process, and whether it is
//! complete.

use crate::line_index::LineIndex;
use agent_bash_core::{
    ArtifactEnd, ArtifactId, ArtifactMeta, ArtifactRef, Status, StreamId, Timestamp,
};
use agent_bash_os::PrivateDir;
use agent_bash_os::ProcessIdentity;
use serde::{Deserialize, Serialize};
use std::io::{self, Read};

/// Maximum bytes of a recorded command.
const MAX_COMMAND_BYTES: usize = 16 * 1024;

/// Maximum bytes of a sidecar that is read: enough for the command and line index of an artifact of
/// some 100 GB.
const MAX_SIDECAR_BYTES: u64 = 16 << 20;

/// The contents of a sidecar.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sidecar {
    pub(crate) id: ArtifactId,
    /// The data file's name in the same directory.
    pub(crate) file: String,
    pub(crate) stream: StreamId,
    pub(crate) command: String,
    pub(crate) cwd: String,
    pub(crate) started_at: Timestamp,
    pub(crate) owner: ProcessIdentity,
    pub(crate) lifetime: Lifetime,
    /// `None` while the artifact is being written.
    pub(crate) done: Option<FinishedFacts>,
}

/// The metadata of a finished artifact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FinishedFacts {
    pub(crate) status: Status,
    pub(crate) duration_ms: u64,
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    /// False if the stream was longer than the maximum file size.
    pub(crate) complete: bool,
    /// True if another process may still be writing the artifact.
    pub(crate) shared: bool,
    pub(crate) index: LineIndex,
}

/// How long an artifact is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifetime {
    /// Until the process that owns the session ends.
    Session,
    /// Until 24 hours after the last write, even if the process has ended.
    Day,
    /// Until it is removed explicitly; the quota still applies.
    Timed,
}

impl Sidecar {
    pub(crate) fn new(
        id: ArtifactId,
        file: String,
        stream: StreamId,
        meta: &ArtifactMeta,
        lifetime: Lifetime,
    ) -> Self {
        let mut command = meta.command.clone();
        if command.len() > MAX_COMMAND_BYTES {
            let boundary = (0..=MAX_COMMAND_BYTES)
                .rev()
                .find(|&at| command.is_char_boundary(at));
            command.truncate(boundary.unwrap_or(0));
            command.push('…');
        }
        Self {
            id,
            file,
            stream,
            command,
            cwd: meta.cwd.clone(),
            started_at: meta.started_at,
            owner: ProcessIdentity::current(),
            lifetime,
            done: None,
        }
    }

    pub(crate) fn name(id: ArtifactId) -> String {
        format!("{id}.json")
    }

    /// Returns the artifact id in a sidecar's file name.
    pub(crate) fn id_of(name: &str) -> Option<ArtifactId> {
        let digits = name.strip_suffix(".json")?;
        digits
            .parse()
            .ok()
            .filter(|id: &ArtifactId| id.to_string() == digits)
    }

    pub(crate) fn read(dir: &PrivateDir, id: ArtifactId) -> io::Result<Self> {
        let mut json = Vec::new();
        dir.read(&Self::name(id))?
            .take(MAX_SIDECAR_BYTES)
            .read_to_end(&mut json)?;
        let sidecar: Self = serde_json::from_slice(&json)?;
        // Reject path separators: the data file's name will be passed to `unlink`.
        if sidecar.file.contains('/') || sidecar.id != id {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(sidecar)
    }

    /// Reads a sidecar. The second value is true if its owner has certainly ended. The owner may
    /// finish the artifact and exit after the read, so the sidecar of an ended owner is read again.
    pub(crate) fn read_settled(dir: &PrivateDir, id: ArtifactId) -> io::Result<(Self, bool)> {
        Self::read_settled_by(dir, id, ProcessIdentity::is_dead)
    }

    fn read_settled_by(
        dir: &PrivateDir,
        id: ArtifactId,
        is_dead: impl Fn(&ProcessIdentity) -> bool,
    ) -> io::Result<(Self, bool)> {
        let sidecar = Self::read(dir, id)?;
        if !is_dead(&sidecar.owner) {
            return Ok((sidecar, false));
        }
        Ok((Self::read(dir, id)?, true))
    }

    pub(crate) fn write(&self, dir: &PrivateDir) -> io::Result<()> {
        dir.replace(&Self::name(self.id), &serde_json::to_vec(self)?)
    }

    /// Removes the artifact, the data first: a sidecar without data can be found again, but data
    /// without a sidecar cannot.
    pub(crate) fn remove(&self, dir: &PrivateDir) -> io::Result<()> {
        dir.remove(&self.file)?;
        dir.remove(&Self::name(self.id))
    }

    /// Returns the reference that a result has. `None` while the artifact is being written.
    pub(crate) fn reference(&self, dir: &PrivateDir) -> Option<ArtifactRef> {
        let done = self.done.as_ref()?;
        let path = dir.path().join(&self.file);
        let mut artifact = ArtifactRef::new(self.id, path.to_string_lossy(), self.stream);
        (artifact.bytes, artifact.lines) = (done.bytes, done.lines);
        artifact.complete = done.complete;
        Some(artifact)
    }
}

impl FinishedFacts {
    pub(crate) fn new(
        end: &ArtifactEnd,
        bytes: u64,
        complete: bool,
        shared: bool,
        index: LineIndex,
    ) -> Self {
        Self {
            status: end.status.clone(),
            duration_ms: u64::try_from(end.duration.as_millis()).unwrap_or(u64::MAX),
            bytes,
            lines: index.lines(),
            complete,
            shared,
            index,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// An artifact finished between reading the sidecar and checking the owner counts as finished.
    #[test]
    fn artifact_finished_before_its_owners_exit_counts_as_finished() {
        let root = tempfile::tempdir().unwrap();
        let dir = PrivateDir::create(root.path(), &["artifacts"]).unwrap();
        let meta = ArtifactMeta {
            command: String::new(),
            cwd: String::new(),
            started_at: Timestamp(0),
        };
        let id = "7".parse().unwrap();
        let new = Sidecar::new(id, "7.log".into(), StreamId::Merged, &meta, Lifetime::Day);
        new.write(&dir).unwrap();
        let end = ArtifactEnd {
            status: Status::Cancelled,
            duration: Duration::ZERO,
        };
        let finish = |_: &ProcessIdentity| {
            let done = FinishedFacts::new(&end, 0, true, false, LineIndex::default());
            let done = Some(done);
            Sidecar {
                done,
                ..new.clone()
            }
            .write(&dir)
            .unwrap();
            true
        };
        let (read, dead) = Sidecar::read_settled_by(&dir, id, finish).unwrap();
        assert!(dead && read.done.is_some());
    }
}
