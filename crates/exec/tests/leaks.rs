//! After many calls of all kinds, all resources are back to where they were: descriptors, threads,
//! children, memory. A single test in a process of its own, as it examines the whole process.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

#[path = "it/support.rs"]
mod support;

use agent_bash_core::{
    Cancel, ConsumerFlow, Executor, OutputConsumer, StreamId, Streams, SurvivorPolicy,
};
use std::sync::Arc;
use std::time::Duration;
use support::census::Census;
use support::process_state::{children, descriptors, status};
use support::{cache_with, marked, run_with, soon};

/// Length of a long line in bytes.
const LENGTH: usize = 200_000_000;

/// Counts bytes and discards them.
struct Count(usize);

impl OutputConsumer for Count {
    fn chunk(&mut self, _: StreamId, bytes: &[u8]) -> ConsumerFlow {
        assert!(bytes.iter().all(|byte| *byte == b'x'));
        self.0 += bytes.len();
        ConsumerFlow::Continue
    }
}

const SCRIPTS: &[&str] = &[
    "true",
    "exit 3",
    "seq 20000",
    "/bin/echo hi >&2; kill -9 $$",
    "sleep 1000",
    "trap '' TERM; setsid sleep 1000 & sleep 1000",
    "sleep 1000 & echo hi",
    "kill -9 $PPID; sleep 1000",
    "cd /nonexistent || exec nosuch",
    "exec >&- 2>&-; sleep 0.01",
    "yes",
];

async fn calls(rounds: usize, census: &Census, warm_shells: usize) {
    let cache = Arc::new(cache_with(|it| it.warm_shells = warm_shells));
    for round in 0..rounds {
        let mut tasks = tokio::task::JoinSet::new();
        for (number, script) in SCRIPTS.iter().enumerate() {
            let missing = number == round % SCRIPTS.len();
            let spec = marked(script, census)
                .timeout(Duration::from_millis(200))
                .grace(Duration::from_millis(20))
                .survivors(SurvivorPolicy::Kill)
                .cwd(if missing { "/nonexistent" } else { "/tmp" })
                .streams(if round % 2 == 0 {
                    Streams::Split
                } else {
                    Streams::Merged
                });
            let cache = cache.clone();
            tasks.spawn(async move {
                let cancel = Cancel::new();
                let call = run_with(&cache, &spec, &cancel);
                if missing && round % 3 == 0 {
                    // Its future is dropped somewhere in the middle.
                    let _ = tokio::time::timeout(Duration::from_millis(5), call).await;
                } else {
                    assert_eq!(call.await.is_err(), missing, "{}", spec.script);
                }
            });
        }
        tasks.join_all().await;
    }
}

#[test]
fn everything_is_back_where_it_was() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        // Threads for blocking work end soon after it, not after ten seconds.
        .thread_keep_alive(Duration::from_millis(100))
        .build()
        .unwrap();
    runtime.block_on(look_before_and_after());
}

async fn look_before_and_after() {
    let census = Census::new();
    // The runtime has sockets of its own if its signal feature is enabled.
    let sockets = || {
        descriptors()
            .iter()
            .filter(|open| open.starts_with("socket:"))
            .count()
    };
    let own = sockets();
    // One-time allocations of tokio, the allocator and the loader are done before the first
    // measurement.
    calls(2, &census, 2).await;
    assert!(soon(|| children().is_empty()).await);
    // The task that reaps a supervisor holds its socket a moment longer.
    let settled = soon(|| sockets() == own);
    assert!(settled.await, "{:?}", descriptors());
    let before = (descriptors(), status("Threads:"));

    calls(10, &census, 0).await;
    calls(10, &census, 2).await;
    census.assert_empty_soon("many calls").await;
    assert!(soon(|| children().is_empty()).await, "{}", children());
    assert!(
        soon(|| descriptors() == before.0).await,
        "{:?}",
        descriptors()
    );
    assert!(soon(|| status("Threads:") <= before.1).await);

    // 200 MB on a single line.
    let memory = status("VmRSS:");
    let spec = marked(&format!("head -c {LENGTH} /dev/zero | tr '\\0' x"), &census)
        .streams(Streams::Merged);
    let mut count = Count(0);
    let cache = support::cache();
    cache.run(&spec, &mut count, &Cancel::new()).await.unwrap();
    assert_eq!(count.0, LENGTH);
    let grown = status("VmRSS:").saturating_sub(memory);
    assert!(grown < 4 * 1024, "memory has grown by {grown} KiB");
}
