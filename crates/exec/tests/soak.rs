//! Many concurrent calls of all kinds, after which all resources are back to where they were. A
//! single test in a process of its own, as it examines the whole process. `cargo xtask soak` runs
//! it longer.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that fails may stop, and the long mode says how far it is"
)]

#[path = "it/support.rs"]
mod support;

use agent_bash_core::{
    Cancel, ConsumerFlow, Executor, OutputConsumer, RunSpec, ScriptEnding, SessionName, StreamId,
    Streams, SurvivorPolicy,
};
use agent_bash_exec::{JobStdin, Jobs, JobsOptions, ShellCache, ShellCacheOptions};
use agent_bash_process::SystemClock;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use support::census::Census;
use support::process_state::{children, descriptors, status};
use support::{marked, options, run_with, soon};

/// Environment variable with the number of calls for the long run.
const CALLS: &str = "AGENT_BASH_SOAK_CALLS";

/// Default number of calls.
const SHORT: usize = 400;

/// Concurrent calls.
const AT_ONCE: usize = 8;

/// Allowed growth of resident memory in KiB between the first tenth of the calls and the last.
/// Allocators retain their peak; a leak of one buffer per call would be hundreds of times as much.
const MEMORY: usize = 4 * 1024;

/// The resources of this process and its descendants.
#[derive(Debug)]
struct SoakState {
    descriptors: Vec<String>,
    threads: usize,
    memory: usize,
    children: String,
    marked: usize,
}

impl SoakState {
    fn now(census: &Census) -> Self {
        Self {
            descriptors: descriptors(),
            threads: status("Threads:"),
            memory: status("VmRSS:"),
            children: children(),
            marked: census.all().len(),
        }
    }

    /// Which resources have grown.
    fn faults(&self, before: &Self) -> Vec<&'static str> {
        let faults = [
            ("descriptors", self.descriptors != before.descriptors),
            ("threads", self.threads > before.threads),
            ("memory", self.memory > before.memory + MEMORY),
            ("children", !self.children.is_empty()),
            ("processes", self.marked > 0),
        ];
        let found = faults.iter().filter(|(_, fault)| *fault);
        found.map(|(name, _)| *name).collect()
    }
}

/// Discards output, and asks to stop after this many bytes.
struct Enough(usize);

impl OutputConsumer for Enough {
    fn chunk(&mut self, _: StreamId, bytes: &[u8]) -> ConsumerFlow {
        self.0 = self.0.saturating_sub(bytes.len());
        if self.0 == 0 {
            ConsumerFlow::Stop
        } else {
            ConsumerFlow::Continue
        }
    }
}

/// Shared by all calls.
struct Soak {
    cache: ShellCache,
    jobs: Arc<Jobs>,
    census: Census,
}

/// Number of kinds of calls.
const KINDS: usize = 15;

impl Soak {
    fn spec(&self, script: &str) -> RunSpec {
        marked(script, &self.census)
            .grace(Duration::from_millis(20))
            .survivors(SurvivorPolicy::Kill)
    }

    async fn ends(&self, spec: &RunSpec, is_right: impl Fn(&ScriptEnding) -> bool) {
        let ran = run_with(&self.cache, spec, &Cancel::new()).await;
        let ending = ran.unwrap().outcome.ending;
        assert!(is_right(&ending), "{}: {ending:?}", spec.script);
    }

    /// In a session: on a busy machine its shell may exceed the second it has to respond, which is
    /// a valid result, too.
    async fn ends_in_session(&self, spec: &RunSpec, is_right: impl Fn(&ScriptEnding) -> bool) {
        if let Ok(ran) = run_with(&self.cache, spec, &Cancel::new()).await {
            let ending = ran.outcome.ending;
            assert!(is_right(&ending), "{}: {ending:?}", spec.script);
        }
    }

    async fn exits(&self, script: &str, code: i32) {
        self.ends(&self.spec(script), |ending| {
            *ending == ScriptEnding::Exited { code }
        })
        .await;
    }

    /// Cancels somewhere in the middle.
    async fn cancels(&self, script: &str, after: Duration) {
        let cancel = Cancel::new();
        let spec = self.spec(script);
        let mut out = Enough(usize::MAX);
        let call = self.cache.run(&spec, &mut out, &cancel);
        let later = async {
            tokio::time::sleep(after).await;
            cancel.cancel();
        };
        let (outcome, ()) = tokio::join!(call, later);
        assert_eq!(outcome.unwrap().ending, ScriptEnding::Cancelled, "{script}");
    }

    async fn job(&self, number: usize) {
        let spec = self.spec("echo begun; sleep 1000");
        let job = self
            .cache
            .start_job(&spec, JobStdin::Null, &Cancel::new())
            .await
            .unwrap();
        self.jobs
            .kill(&job.id, Duration::from_millis(20))
            .await
            .unwrap();
        if number.is_multiple_of(50) {
            self.jobs.clean().await.unwrap();
        }
    }

    /// One call; its kind is that of its number.
    async fn call(&self, number: usize) {
        let timed = |script: &str| self.spec(script).timeout(Duration::from_millis(50));
        let timed_out = |ending: &ScriptEnding| matches!(ending, ScriptEnding::TimedOut { .. });
        let session = |script: &str| {
            self.spec(script)
                .session(SessionName(format!("s{}", number % 3)))
        };
        match number % KINDS {
            0 => self.exits("true", 0).await,
            1 => self.exits("echo out; echo err >&2; exit 3", 3).await,
            2 => {
                self.exits("seq 20000 | tail -n 1; cd /; exec /bin/true", 0)
                    .await;
            }
            3 => self.ends(&timed("sleep 1000; :"), timed_out).await,
            4 => {
                self.ends(
                    &timed("trap '' TERM; (setsid sleep 1000 &); sleep 1000; :"),
                    timed_out,
                )
                .await;
            }
            5 => {
                self.cancels("sleep 1000; :", Duration::from_millis(10))
                    .await;
            }
            6 => self.cancels("yes", Duration::from_millis(10)).await,
            7 => {
                self.exits("sleep 1000 & (setsid sleep 1000 &) ; echo left", 0)
                    .await;
            }
            8 => {
                let spec = self
                    .spec("{ sleep .02; echo late; } & echo early")
                    .survivors(SurvivorPolicy::Adopt);
                self.ends(&spec, |ending| *ending == ScriptEnding::Exited { code: 0 })
                    .await;
            }
            9 => {
                let spec = self.spec("yes").streams(Streams::Merged);
                let outcome = self
                    .cache
                    .run(&spec, &mut Enough(100_000), &Cancel::new())
                    .await;
                assert!(outcome.unwrap().closed_early);
            }
            10 => {
                self.ends_in_session(&session("n=$((n+1)); echo $n"), |_| true)
                    .await;
            }
            11 => {
                self.ends_in_session(&session("exit 4"), |ending| {
                    *ending == ScriptEnding::Exited { code: 4 }
                })
                .await;
            }
            12 => {
                let spec = session("sleep 1000").timeout(Duration::from_millis(50));
                self.ends_in_session(&spec, timed_out).await;
            }
            13 => self.job(number).await,
            _ => {
                // Dropped somewhere in the middle; the supervisor is killed if it gets that far.
                let spec = self.spec("kill -9 $PPID; sleep 1000");
                let cancel = Cancel::new();
                let call = run_with(&self.cache, &spec, &cancel);
                let _ =
                    tokio::time::timeout(Duration::from_millis((number % 7) as u64), call).await;
            }
        }
    }

    async fn calls(self: &Arc<Self>, count: usize) {
        let next = Arc::new(AtomicUsize::new(0));
        let mut workers = tokio::task::JoinSet::new();
        for _ in 0..AT_ONCE {
            let (soak, next) = (Arc::clone(self), Arc::clone(&next));
            workers.spawn(async move {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    soak.call(number).await;
                    if number % 1000 == 999 {
                        println!("{} calls, {} KiB resident", number + 1, status("VmRSS:"));
                    }
                }
            });
        }
        while let Some(ended) = workers.join_next().await {
            ended.unwrap();
        }
    }
}

/// Makes `count` calls, with a cache that is dropped afterwards.
async fn soak(count: usize) {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(SystemClock::new());
    let jobs = Arc::new(Jobs::new(JobsOptions::new(directory.path(), clock)));
    let soak = Arc::new(Soak {
        cache: ShellCache::new(ShellCacheOptions {
            warm_shells: 2,
            directory: directory.path().to_owned(),
            jobs: Some(Arc::clone(&jobs)),
            ..options()
        }),
        jobs,
        census: Census::new(),
    });
    soak.calls(count).await;
    let Some(Soak {
        cache,
        jobs,
        census,
    }) = Arc::into_inner(soak)
    else {
        unreachable!("every worker has ended");
    };
    drop((cache, jobs));
    census.assert_empty_soon("the soak").await;
}

/// Negative control: each kind of leftover is detected.
fn each_fault_is_seen(census: &Census) {
    let before = SoakState::now(census);
    assert_eq!(before.faults(&before), [] as [&str; 0]);

    let file = std::fs::File::open("/").unwrap();
    assert_eq!(SoakState::now(census).faults(&before), ["descriptors"]);
    drop(file);

    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || stopped.recv());
    assert_eq!(SoakState::now(census).faults(&before), ["threads"]);
    drop(stop);
    thread.join().unwrap().unwrap_err();

    // A thread disappears from /proc a moment after it was joined.
    let mut sleeper = support::command("/bin/sleep")
        .arg("1000")
        .envs([census.variable()])
        .spawn()
        .unwrap();
    // Its environment is there a moment after it was started.
    while census.all().is_empty() {
        std::thread::yield_now();
    }
    assert_eq!(
        SoakState::now(census).faults(&before)[..],
        ["children", "processes"]
    );
    sleeper.kill().unwrap();
    while !children().contains("Z (zombie)") {
        std::thread::yield_now();
    }
    assert_eq!(SoakState::now(census).faults(&before), ["children"]);
    sleeper.wait().unwrap();

    let bytes = vec![1u8; 4 * MEMORY * 1024];
    assert_eq!(SoakState::now(census).faults(&before), ["memory"]);
    drop(bytes);
    assert_eq!(SoakState::now(census).faults(&before), [] as [&str; 0]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "how many, for the long mode")]
fn many_calls_leave_nothing() {
    let count = std::env::var(CALLS).map_or(SHORT, |text| text.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        // Threads for blocking work end soon after it, not after ten seconds.
        .thread_keep_alive(Duration::from_millis(100))
        .build()
        .unwrap();
    runtime.block_on(async {
        let census = Census::new();
        let pipes = || {
            descriptors()
                .iter()
                .filter(|open| open.starts_with("pipe:"))
                .count()
        };
        let own = pipes();
        // One-time allocations of tokio, the allocator and the loader are done before the first
        // measurement.
        soak((count / 10).max(SHORT / 2)).await;
        assert!(soon(|| children().is_empty()).await, "{}", children());
        assert!(soon(|| pipes() == own).await, "{:?}", descriptors());
        assert!(soon(|| status("Threads:") <= THREADS).await);
        each_fault_is_seen(&census);
        let before = SoakState::now(&census);
        soak(count).await;
        let mut faults = Vec::new();
        let clean = soon(|| {
            faults = SoakState::now(&census).faults(&before);
            faults.is_empty()
        });
        assert!(
            clean.await,
            "{faults:?}\nbefore: {before:?}\nafter: {:?}",
            SoakState::now(&census)
        );
        println!(
            "{count} calls: {} KiB resident before, {} after",
            before.memory,
            status("VmRSS:")
        );
    });
}

/// Threads of this process at rest: main, the test's own, two of the runtime.
const THREADS: usize = 4;
