//! Sessions leave no descriptors, threads or processes. A single test, because any other test in
//! this process would be counted, too.

#![expect(
    clippy::unwrap_used,
    reason = "test code, also outside of the test functions"
)]

#[path = "it/support.rs"]
mod support;

use agent_bash_core::ScriptEnding;
use std::collections::BTreeSet;
use std::fs;
use support::{attend, soon, spec};

/// Descriptors, threads and children of this process.
fn census() -> (BTreeSet<String>, usize, BTreeSet<i32>) {
    let names = |path: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(path).unwrap().flatten();
        entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect()
    };
    let descriptors: BTreeSet<String> = names("/proc/self/fd")
        .into_iter()
        .filter_map(|number| {
            let target = fs::read_link(format!("/proc/self/fd/{number}")).ok()?;
            Some(format!("{number} {}", target.display()))
        })
        .collect();
    let threads = names("/proc/self/task");
    let children = threads
        .iter()
        .filter_map(|thread| fs::read_to_string(format!("/proc/self/task/{thread}/children")).ok())
        .flat_map(|list| {
            let pids = list
                .split_ascii_whitespace()
                .map(|pid| pid.parse().unwrap());
            pids.collect::<Vec<i32>>()
        })
        .collect();
    (descriptors, threads.len(), children)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_sessions_leak_nothing() {
    const SESSIONS: usize = 200;
    // The runtime's own threads and descriptors exist after the first session.
    let first = attend(&spec("echo ready; sleep 1000")).await;
    first.shows("ready").await;
    let (busy_descriptors, _, busy_children) = census();
    first.session.kill();
    first.outcome().await;
    // Control: the census detects a session's resources, and their release, which is a moment after
    // the outcome.
    assert!(!busy_children.is_empty());
    let gone = || {
        let (now, _, children) = census();
        children.is_empty() && now.len() + 2 < busy_descriptors.len()
    };
    assert!(
        soon(gone).await,
        "busy: {busy_descriptors:?}; after: {:?}",
        census()
    );
    let (descriptors, threads, _) = census();
    // Handles are stored, as by a host's history of calls: they hold nothing.
    let mut handles = Vec::new();
    for index in 0..SESSIONS {
        let attended = attend(&spec(
            ["read -r x", "sleep 1000 & echo $!", "exit 3"][index % 3],
        ))
        .await;
        match index % 3 {
            0 => attended.enters("x"),
            1 => attended.session.kill(),
            _ => {}
        }
        let ending = attended.outcome().await.ending;
        assert!(
            index % 3 != 2 || ending == ScriptEnding::Exited { code: 3 },
            "{ending:?}"
        );
        handles.push(attended.session);
    }
    // A killed session's outcome is reported a moment before its supervisor is reaped.
    let same = || {
        let (now, count, children) = census();
        children.is_empty() && now.len() <= descriptors.len() && count <= threads
    };
    assert!(
        soon(same).await,
        "before: {descriptors:?} {threads}; after: {:?}",
        census()
    );
    assert_eq!(handles.len(), SESSIONS);
}
