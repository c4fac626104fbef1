//! A session's jobs in a temporary directory, with a census of everything they start.

use crate::support::census::Census;
use crate::support::{SOON, marked, options, soon};
use agent_bash_core::ScriptEnding;
use agent_bash_core::{Cancel, Clock, JobId, RunSpec, Timestamp};
use agent_bash_exec::{
    Job, JobError, JobOutput, JobState, JobStdin, Jobs, JobsOptions, OutputRange, ShellCache,
    ShellCacheOptions, WaitOutcome,
};
use agent_bash_process::SystemClock;
use agent_bash_process::supervisor::JobEnd;
use async_trait::async_trait;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// How long a new job is watched.
pub(crate) const EARLY: Duration = Duration::from_millis(250);

/// A time that only passes when a test calls [`TestClock::age`].
pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) struct World {
    pub(crate) census: Census,
    pub(crate) dir: TempDir,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) cache: ShellCache,
}

/// The system's clock, except that the first moments of a job pass at once or never.
#[derive(Debug)]
pub(crate) struct TestClock {
    system: SystemClock,
    early: Early,
    aged_ms: AtomicU64,
}

/// The treatment of the first moments of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Early {
    /// The moments pass at once: no job ends early.
    AtOnce,
    /// The moments never pass: any job that ends, ends early.
    Never,
}

impl TestClock {
    /// Makes everything older.
    pub(crate) fn age(&self, by: Duration) {
        let by = u64::try_from(by.as_millis()).unwrap();
        self.aged_ms.fetch_add(by, Ordering::Relaxed);
    }
}

#[async_trait]
impl Clock for TestClock {
    fn now(&self) -> Duration {
        self.system.now()
    }

    fn wall(&self) -> Timestamp {
        Timestamp(self.system.wall().0 + self.aged_ms.load(Ordering::Relaxed))
    }

    async fn sleep(&self, duration: Duration) {
        match self.early {
            Early::AtOnce if duration == EARLY => {}
            Early::Never if duration == EARLY => std::future::pending().await,
            _ => self.system.sleep(duration).await,
        }
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(Early::AtOnce, |options| options)
    }

    pub(crate) fn with(early: Early, change: impl Fn(JobsOptions) -> JobsOptions) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(TestClock {
            system: SystemClock::new(),
            early,
            aged_ms: AtomicU64::new(0),
        });
        // Longer than a socket address may be.
        let directory = dir.path().join("s".repeat(120)).join("jobs");
        let jobs = Arc::new(Jobs::new(change(JobsOptions::new(
            directory,
            clock.clone(),
        ))));
        let cache = ShellCache::new(ShellCacheOptions {
            jobs: Some(jobs.clone()),
            clock: clock.clone(),
            ..options()
        });
        Self {
            census: Census::new(),
            dir,
            clock,
            jobs,
            cache,
        }
    }

    /// Returns the directory of the jobs.
    pub(crate) fn registry(&self) -> PathBuf {
        self.dir.path().join("s".repeat(120)).join("jobs")
    }

    /// The jobs as a newly started host sees them.
    pub(crate) fn again(&self) -> Jobs {
        let clock = Arc::new(SystemClock::new());
        Jobs::new(JobsOptions::new(self.registry(), clock))
    }

    pub(crate) fn spec(&self, script: &str) -> RunSpec {
        marked(script, &self.census)
            .cwd(self.dir.path().to_path_buf())
            .grace(Duration::from_millis(500))
            .timeout(None)
    }

    pub(crate) async fn start(&self, script: &str) -> Job {
        self.try_start(&self.spec(script), JobStdin::Null)
            .await
            .unwrap()
    }

    pub(crate) async fn try_start(&self, spec: &RunSpec, stdin: JobStdin) -> Result<Job, JobError> {
        let start = tokio::time::timeout(SOON, async {
            self.cache.start_job(spec, stdin, &Cancel::new()).await
        });
        start.await.unwrap()
    }

    /// Waits until the job has ended, and returns how it ended.
    pub(crate) async fn end(&self, id: &JobId) -> JobEnd {
        let waited = self.jobs.wait(id, Some(SOON), &Cancel::new()).await;
        match waited.unwrap() {
            WaitOutcome::Over(Job {
                state: JobState::Ended(end),
                ..
            }) => end,
            other => panic!("{other:?}"),
        }
    }

    /// Waits until the job has printed this.
    pub(crate) async fn printed(&self, job: &Job, text: &str) {
        let printed = soon(|| all_of(job).contains(text)).await;
        assert!(printed, "{:?} has no {text:?}", all_of(job));
    }

    pub(crate) async fn kill(&self, id: &JobId) -> Job {
        let grace = Duration::from_millis(500);
        let killed = tokio::time::timeout(SOON, self.jobs.kill(id, grace)).await;
        killed.unwrap().unwrap().job
    }

    /// Creates a file that scripts wait for.
    pub(crate) fn touch(&self, name: &str) {
        fs::write(self.dir.path().join(name), "").unwrap();
    }
}

/// Returns everything that a job printed.
pub(crate) fn all_of(job: &Job) -> String {
    String::from_utf8(fs::read(job.output.as_ref().unwrap()).unwrap()).unwrap()
}

pub(crate) fn from(offset: u64, max_bytes: usize) -> OutputRange {
    OutputRange::From { offset, max_bytes }
}

/// Reads on until the job has ended and all is read.
pub(crate) async fn read_on(jobs: &Jobs, id: &JobId, mut cursor: u64, max: usize) -> Vec<u8> {
    let mut all = Vec::new();
    let read = async {
        loop {
            let JobOutput {
                bytes,
                from: start,
                next,
                at_end,
                complete,
                ..
            } = jobs.output(id, from(cursor, max)).unwrap();
            assert_eq!((start, next), (cursor, cursor + bytes.len() as u64));
            all.extend_from_slice(&bytes);
            cursor = next;
            if complete {
                return;
            }
            if at_end {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    };
    tokio::time::timeout(SOON, read).await.unwrap();
    all
}

pub(crate) fn signaled(number: i32, signal: &str) -> ScriptEnding {
    ScriptEnding::Signaled {
        signal: signal.to_owned(),
        number,
    }
}
