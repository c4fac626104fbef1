//! A session in a temporary directory, with a clock that stands still.

use agent_bash_core::{
    ArtifactEnd, ArtifactError, ArtifactMeta, ArtifactRef, ArtifactStore, Clock, Status, StreamId,
    Timestamp,
};
use agent_bash_sink::{ArtifactDir, ArtifactDirOptions, ArtifactLimits, Lifetime, Naming};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A clock that always shows the same time. Tests use a time that is consistent with the file
/// times.
#[derive(Debug)]
pub(crate) struct StillClock(pub(crate) Timestamp);

#[async_trait::async_trait]
impl Clock for StillClock {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn wall(&self) -> Timestamp {
        self.0
    }

    async fn sleep(&self, _: Duration) {}
}

#[expect(
    clippy::disallowed_methods,
    reason = "files are stamped by the system's clock"
)]
pub(crate) fn now() -> Timestamp {
    Timestamp::from(SystemTime::now())
}

/// The files that remain after a session has ended.
pub(crate) const ONLY_THE_NUMBER: [&str; 3] = ["s", "s/artifacts", "s/artifacts/.next"];

/// Limits that no test reaches.
pub(crate) const ROOMY: ArtifactLimits = ArtifactLimits {
    per_file: 1 << 30,
    per_session: 1 << 40,
    free_floor: 0,
};

pub(crate) fn options(root: &Path) -> ArtifactDirOptions {
    ArtifactDirOptions {
        root: root.to_owned(),
        session: "s".to_owned(),
        naming: Naming::Numbered,
        lifetime: Lifetime::Session,
        limits: ROOMY,
        clock: Arc::new(StillClock(now())),
    }
}

pub(crate) fn session(root: &Path) -> ArtifactDir {
    ArtifactDir::new(options(root)).unwrap()
}

pub(crate) fn limited(root: &Path, limits: ArtifactLimits) -> ArtifactDir {
    ArtifactDir::new(ArtifactDirOptions {
        limits,
        ..options(root)
    })
    .unwrap()
}

pub(crate) fn meta() -> ArtifactMeta {
    ArtifactMeta {
        command: "seq 9".into(),
        cwd: "/src".into(),
        started_at: Timestamp(1_700_000_000_123),
    }
}

pub(crate) fn end() -> ArtifactEnd {
    ArtifactEnd {
        status: Status::Exited { code: 3 },
        duration: Duration::from_millis(1500),
    }
}

/// Stores one artifact.
pub(crate) fn keep(dir: &ArtifactDir, bytes: &[u8]) -> Result<ArtifactRef, ArtifactError> {
    let mut writer = dir.create(&meta(), StreamId::Merged)?;
    writer.write(bytes)?;
    writer.finish(&end())
}

/// Returns all files and directories below `root`: sorted, relative to `root`.
pub(crate) fn tree(root: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(dir) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else {
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            // The position of the sweep.
            if name == ".swept" {
                continue;
            }
            names.push(name.to_owned());
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            }
        }
    }
    names.sort();
    names
}

/// Returns only the data files and sidecars below `root`.
pub(crate) fn artifacts(root: &Path) -> Vec<String> {
    tree(root)
        .into_iter()
        .filter_map(|name| name.strip_prefix("s/artifacts/").map(str::to_owned))
        .filter(|name| !name.starts_with('.'))
        .collect()
}
