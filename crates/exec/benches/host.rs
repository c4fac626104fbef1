//! Costs for the host: starting shells in a large process, and warm shells while it is idle.
//!
//! A plain program without criterion, because it must call the supervisor's `init` at the top of
//! `main`.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails may stop")]

#[path = "script/timed.rs"]
mod script;

use agent_bash_exec::{ShellCache, ShellCacheOptions, SnapshotOptions};
use agent_bash_process::SystemClock;
use agent_bash_process::supervisor::{self, Supervisor};
use script::{median, runtime, spec, time};
use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

/// Resident memory of the large host.
const LARGE_HOST_BYTES: usize = 4 << 30;

/// Calls per median.
const ROUNDS: usize = 200;

fn main() {
    let token = supervisor::init();
    let supervisor = Supervisor::this_program(&token);
    let runtime = runtime();
    let all = runtime.spawn(async move {
        idle(&supervisor).await;
        big(&supervisor).await;
    });
    runtime.block_on(all).unwrap();
}

/// Measures calls that start supervisor and shell, alternating between a small and a large host.
async fn big(supervisor: &Supervisor) {
    let clock = Arc::new(SystemClock::new());
    let cold = ShellCache::new(ShellCacheOptions::one_shot(
        supervisor.clone(),
        clock,
        std::env::temp_dir(),
    ));
    let spec = spec("true");
    let (mut small, mut big) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        for _ in 0..ROUNDS / 4 {
            small.push(time(&cold, &spec).await);
        }
        // The memory is written to, so that it is resident.
        let memory = vec![1u8; LARGE_HOST_BYTES];
        for _ in 0..ROUNDS / 4 {
            big.push(time(&cold, &spec).await);
        }
        assert_eq!(memory.last(), Some(&1));
    }
    let (small, big) = (median(&mut small), median(&mut big));
    println!(
        "start in a host of 4 GiB {big:8.1} µs   in a small one {small:8.1} µs   ratio {:.2}",
        big / small
    );
}

/// Measures an idle warm shell with a snapshot of 200 functions, and its supervisor.
async fn idle(supervisor: &Supervisor) {
    let root = tempfile::tempdir().unwrap();
    let rc = root.path().join("bashrc");
    let mut functions = String::new();
    for number in 0..200 {
        writeln!(
            functions,
            "function_{number}() {{ local x=$1; if [[ -n $x ]]; then echo \"$x\" | tr a b; else case $x in a) echo one ;; esac; fi; }}"
        )
        .unwrap();
    }
    fs::write(&rc, functions).unwrap();
    let cache = ShellCache::new(ShellCacheOptions {
        warm_shells: 1,
        snapshot: Some(SnapshotOptions::new(&rc, root.path().join("snapshots"))),
        ..ShellCacheOptions::long_lived(
            supervisor.clone(),
            Arc::new(SystemClock::new()),
            std::env::temp_dir(),
        )
    });
    time(&cache, &spec("true")).await;
    while cache.warm_shells() == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // Waits until the shell has loaded the snapshot, and all helper processes have ended.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let pids = below(std::process::id());
    let private: u64 = pids.iter().map(|pid| private(*pid)).sum();
    let before: Vec<u64> = pids.iter().map(|pid| wake_ups(*pid)).collect();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let after: Vec<u64> = pids.iter().map(|pid| wake_ups(*pid)).collect();
    let woken: u64 = after.iter().zip(&before).map(|(a, b)| a - b).sum();
    println!(
        "a warm shell, idle: {} processes, {:.2} MiB private, {woken} wake-ups in 5 s",
        pids.len(),
        private as f64 / 1024.0
    );
}

/// Returns the pids of all descendants.
fn below(pid: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten() {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children
            .split_whitespace()
            .filter_map(|text| text.parse().ok())
        {
            found.push(child);
            found.extend(below(child));
        }
    }
    found
}

/// Returns the private memory of a process in KiB.
fn private(pid: u32) -> u64 {
    sum(&format!("/proc/{pid}/smaps_rollup"), "Private_")
}

/// Returns the number of context switches of a process.
fn wake_ups(pid: u32) -> u64 {
    sum(&format!("/proc/{pid}/status"), "voluntary_ctxt_switches")
        + sum(&format!("/proc/{pid}/status"), "nonvoluntary_ctxt_switches")
}

/// Returns the sum of the numbers in the lines of a file that begin with `field`.
fn sum(path: &str, field: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| line.starts_with(field));
    let values = lines.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    values.sum()
}
