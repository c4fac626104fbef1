//! A sink and a store for the benches.

use agent_bash_core::{
    ArtifactEnd, ArtifactMeta, ArtifactStore, Clock, OutputLimits, Status, StreamId, Timestamp,
    Truncation,
};
use agent_bash_sink::{
    ArtifactDir, ArtifactDirOptions, ArtifactLimits, CarriageReturn, Lifetime, Naming, OutputSink,
    SinkOptions,
};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

#[derive(Debug)]
struct WallClock;

#[async_trait::async_trait]
impl Clock for WallClock {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    #[expect(clippy::disallowed_methods, reason = "the bench's own clock")]
    fn wall(&self) -> Timestamp {
        SystemTime::now().into()
    }

    async fn sleep(&self, _: Duration) {}
}

pub(crate) fn sink(
    truncation: Truncation,
    clamp: Option<usize>,
    store: Option<Arc<dyn ArtifactStore>>,
) -> OutputSink {
    let options = SinkOptions {
        limits: OutputLimits {
            truncation,
            max_line_chars: clamp,
        },
        head: None,
        tail: None,
        carriage_return: CarriageReturn::Overwrite,
        stream: StreamId::Merged,
    };
    OutputSink::new(options, store, meta())
}

pub(crate) fn meta() -> ArtifactMeta {
    ArtifactMeta {
        command: "bench".into(),
        cwd: "/".into(),
        started_at: Timestamp(0),
    }
}

pub(crate) fn end() -> ArtifactEnd {
    ArtifactEnd {
        status: Status::Exited { code: 0 },
        duration: Duration::ZERO,
    }
}

#[expect(clippy::unwrap_used, reason = "a bench stops at the first error")]
pub(crate) fn store(root: &Path) -> Arc<dyn ArtifactStore> {
    Arc::new(ArtifactDir::new(options(root)).unwrap())
}

pub(crate) fn options(root: &Path) -> ArtifactDirOptions {
    ArtifactDirOptions {
        root: root.to_owned(),
        session: "bench".into(),
        naming: Naming::Numbered,
        lifetime: Lifetime::Session,
        limits: ArtifactLimits {
            per_file: u64::MAX,
            per_session: u64::MAX,
            free_floor: 1,
        },
        clock: Arc::new(WallClock),
    }
}
