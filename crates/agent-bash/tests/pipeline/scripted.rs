//! Test doubles: a scripted executor, an in-memory store, a clock that stands still.

use agent_bash::core::{
    ArtifactEnd, ArtifactError, ArtifactId, ArtifactMeta, ArtifactRef, ArtifactStore,
    ArtifactWriter, Cancel, Clock, Executor, NotStarted, Outcome, OutputConsumer, Profile, RunSpec,
    ScriptEnding, StreamId, Timestamp,
};
use agent_bash::{BashTool, BashToolBuilder, HostContext};
use async_trait::async_trait;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The value of `GH_TOKEN` in the environment of the host.
pub(crate) const SECRET: &str = "hush-4Jx9QmT2wLz7";

/// Prints and ends as it was told to.
#[derive(Debug)]
pub(crate) struct Scripted {
    pub(crate) chunks: Vec<(StreamId, Vec<u8>)>,
    pub(crate) result: Result<Outcome, NotStarted>,
    /// The received specifications, in order.
    pub(crate) requests: Mutex<Vec<RunSpec>>,
}

impl Scripted {
    pub(crate) fn new(
        chunks: Vec<(StreamId, Vec<u8>)>,
        result: Result<Outcome, NotStarted>,
    ) -> Arc<Self> {
        Arc::new(Self {
            chunks,
            result,
            requests: Mutex::default(),
        })
    }

    /// Prints `output` on the merged stream and exits with `code`.
    pub(crate) fn exits(code: i32, output: &[u8]) -> Arc<Self> {
        let chunks = vec![(StreamId::Merged, output.to_vec())];
        Self::new(chunks, Ok(outcome(ScriptEnding::Exited { code })))
    }

    pub(crate) fn runs(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    pub(crate) fn last(&self) -> RunSpec {
        self.requests.lock().unwrap().last().expect("a run").clone()
    }
}

pub(crate) fn outcome(ending: ScriptEnding) -> Outcome {
    Outcome::new(ending, Timestamp(1000), Duration::from_micros(12_300))
}

#[async_trait]
impl Executor for Scripted {
    async fn run(
        &self,
        spec: &RunSpec,
        out: &mut dyn OutputConsumer,
        _: &Cancel,
    ) -> Result<Outcome, NotStarted> {
        self.requests.lock().unwrap().push(spec.clone());
        for (stream, bytes) in &self.chunks {
            out.chunk(*stream, bytes);
        }
        self.result.clone()
    }
}

/// Stores artifacts in memory, or refuses to.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) full: bool,
    pub(crate) next: AtomicU64,
    pub(crate) files: Arc<Mutex<Vec<Vec<u8>>>>,
}

struct MemoryFile {
    id: u64,
    stream: StreamId,
    bytes: Vec<u8>,
    files: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl ArtifactStore for Memory {
    fn create(
        &self,
        _: &ArtifactMeta,
        stream: StreamId,
    ) -> Result<Box<dyn ArtifactWriter>, ArtifactError> {
        if self.full {
            return Err(ArtifactError::Limit("No space left on device".into()));
        }
        Ok(Box::new(MemoryFile {
            id: self.next.fetch_add(1, Ordering::Relaxed),
            stream,
            bytes: Vec::new(),
            files: Arc::clone(&self.files),
        }))
    }
}

impl ArtifactWriter for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> Result<(), ArtifactError> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn file(&self) -> io::Result<File> {
        Err(io::Error::other("kept in memory"))
    }

    fn finish(self: Box<Self>, _: &ArtifactEnd) -> Result<ArtifactRef, ArtifactError> {
        let id = ArtifactId(self.id);
        let mut artifact = ArtifactRef::new(id, format!("/memory/{id}"), self.stream);
        artifact.bytes = self.bytes.len() as u64;
        self.files.lock().unwrap().push(self.bytes);
        Ok(artifact)
    }
}

/// A clock that always shows one second past the epoch.
#[derive(Debug)]
pub(crate) struct Stopped;

#[async_trait]
impl Clock for Stopped {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn wall(&self) -> Timestamp {
        Timestamp(1000)
    }

    async fn sleep(&self, _: Duration) {
        std::future::pending::<()>().await;
    }
}

pub(crate) fn builder(profile: &Profile, executor: &Arc<Scripted>, cwd: &Path) -> BashToolBuilder {
    builder_with(profile, executor.clone(), cwd)
}

/// As [`builder`], with another executor.
pub(crate) fn builder_with(
    profile: &Profile,
    executor: Arc<dyn Executor>,
    cwd: &Path,
) -> BashToolBuilder {
    builder_by(profile, executor, cwd, Arc::new(Stopped))
}

/// As [`builder_with`], by another clock.
pub(crate) fn builder_by(
    profile: &Profile,
    executor: Arc<dyn Executor>,
    cwd: &Path,
    clock: Arc<dyn Clock>,
) -> BashToolBuilder {
    let host = HostContext {
        cwd: cwd.to_path_buf(),
        home: Some("/home/nobody".into()),
        env: Arc::new(
            [("PATH", "/usr/bin:/bin"), ("GH_TOKEN", SECRET)]
                .map(|(name, value)| (name.into(), value.into()))
                .into(),
        ),
        tools: None,
        processes: Arc::default(),
    };
    BashTool::builder(profile.clone(), host, executor, clock)
}

pub(crate) fn tool(profile: &Profile, executor: &Arc<Scripted>) -> BashTool {
    builder(profile, executor, Path::new("/")).build()
}
