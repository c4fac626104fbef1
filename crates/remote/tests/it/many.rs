//! Many targets of one host: what each of them costs it while nothing is asked of it.

use crate::world::World;
use agent_bash_core::Cancel;
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::json;
use std::sync::Arc;

const TARGETS: usize = 200;

/// Memory of this process that no other has, in KiB.
fn private() -> u64 {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let lines = text.lines().filter(|line| line.starts_with("Private_"));
    let sizes = lines.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    sizes.sum()
}

/// Lets this process open as many files as it may: each target takes several.
fn allow_many_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_targets_need_few_resources() {
    allow_many_files();
    let world = World::new();
    let remotes: Vec<Arc<_>> = (0..TARGETS).map(|_| Arc::new(world.remote())).collect();
    let before = private();
    let calls: Vec<_> = remotes
        .iter()
        .map(|remote| {
            let remote = Arc::clone(remote);
            tokio::spawn(async move {
                let (nothing, cancel) = (json!({}), Cancel::new());
                let answer = remote.ask("ping", &nothing, &mut |_| {}, &cancel).await;
                answer.map(drop).map_err(|error| error.to_string())
            })
        })
        .collect();
    for answer in calls {
        assert_eq!(answer.await.unwrap(), Ok(()));
    }
    let each = private().saturating_sub(before) / TARGETS as u64;
    // A channel with its buffers; half a MiB is what is promised.
    assert!(each < 512, "{each} KiB for each target");
    // The control: they are there, each with a program of its own.
    let mut pids = std::collections::BTreeSet::new();
    for remote in &remotes {
        pids.insert(remote.connected().await.unwrap().machine.pid);
    }
    assert_eq!(pids.len(), TARGETS);
}
