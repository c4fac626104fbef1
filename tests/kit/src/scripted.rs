//! Test doubles for a whole tool: a scripted executor, an in-memory store, a clock that stands
//! still.

use agent_bash_core::{
    ArtifactEnd, ArtifactError, ArtifactId, ArtifactMeta, ArtifactRef, ArtifactStore,
    ArtifactWriter, Cancel, Clock, Executor, NotStarted, Outcome, OutputConsumer, RunSpec,
    ScriptEnding, StreamId, Timestamp,
};
use async_trait::async_trait;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// An executor that prints the same chunks and ends in the same way in each run.
#[derive(Debug)]
pub struct Scripted {
    /// The printed chunks.
    pub chunks: Vec<(StreamId, Vec<u8>)>,
    /// The result of each run.
    pub result: Result<Outcome, NotStarted>,
    /// The received specifications, in order.
    pub requests: Mutex<Vec<RunSpec>>,
}

impl Scripted {
    /// Returns an executor that prints `chunks` and returns `result`.
    pub fn new(chunks: Vec<(StreamId, Vec<u8>)>, result: Result<Outcome, NotStarted>) -> Arc<Self> {
        Arc::new(Self {
            chunks,
            result,
            requests: Mutex::default(),
        })
    }

    /// Prints `output` on the merged stream and exits with `code`.
    pub fn exits(code: i32, output: &[u8]) -> Arc<Self> {
        let chunks = vec![(StreamId::Merged, output.to_vec())];
        Self::new(chunks, Ok(outcome(ScriptEnding::Exited { code })))
    }

    /// Returns the number of runs.
    pub fn runs(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// Returns the specification of the last run.
    pub fn last(&self) -> RunSpec {
        self.requests.lock().unwrap().last().unwrap().clone()
    }
}

/// Returns the outcome of a run of 12.3 ms.
pub fn outcome(ending: ScriptEnding) -> Outcome {
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

/// An artifact store in memory.
#[derive(Debug, Default)]
pub struct Memory {
    /// True to refuse.
    pub full: bool,
    /// The id of the next artifact.
    pub next: AtomicU64,
    /// The contents of the stored artifacts.
    pub files: Arc<Mutex<Vec<Vec<u8>>>>,
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
pub struct Stopped;

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
