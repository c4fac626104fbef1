//! Warm shells: the result is the same as after a cold start, only sooner, and no state leaks from
//! call to call.

use crate::support::{self, cache_of_short_calls, long_lived, options, run_in, spec};
use crate::test_workspace::TestWorkspace;
use agent_bash_core::changes::ChangesLevel;
use agent_bash_core::{Limits, RunSpec};
use agent_bash_exec::{ShellCache, ShellCacheOptions};
use std::sync::Arc;
use std::time::Duration;

fn warm_cache() -> ShellCache {
    ShellCache::new(long_lived(options().supervisor))
}

/// Waits until `wanted` shells are warm.
async fn until_warm(cache: &ShellCache, wanted: usize) {
    let is_reached = support::soon(|| cache.warm_shells() == wanted).await;
    let warm = cache.warm_shells();
    assert!(is_reached, "{warm} shells wait, {wanted} are wanted");
}

async fn out(cache: &ShellCache, spec: &RunSpec) -> String {
    let ran = run_in(cache, spec).await;
    assert_eq!(ran.exit_code(), 0, "{}: {}", spec.script, ran.err);
    ran.out
}

#[tokio::test(flavor = "multi_thread")]
async fn first_call_fills_the_pool_and_each_shell_serves_once() {
    let cache = warm_cache();
    assert_eq!(cache.warm_shells(), 0);
    let first = out(&cache, &spec("echo $$ $PPID; x=1; cd /; set -f; alias a=b")).await;
    until_warm(&cache, 2).await;
    let mut pids = vec![first.split(' ').next().unwrap().to_owned()];
    for _ in 0..6 {
        let spec = spec("echo $$; echo \"[$x]\" $PWD $-; alias; echo $SECONDS");
        let ran = run_in(&cache, &spec).await;
        let lines: Vec<&str> = ran.out.lines().collect();
        assert_eq!(lines[1..lines.len() - 1], ["[] /tmp hBc"]);
        // Bash subtracts whole seconds of the clock: one may begin during the shortest call.
        let seconds: u64 = lines.last().unwrap().parse().unwrap();
        let at_most = ran.outcome.duration.as_secs() + 1;
        assert!(seconds <= at_most, "{seconds} {:?}", ran.outcome);
        assert!(
            !pids.iter().any(|pid| pid == lines[0]),
            "shell {} served twice",
            lines[0]
        );
        pids.push(lines[0].to_owned());
        until_warm(&cache, 2).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn supervisors_are_recycled() {
    let cache = cache_of_short_calls(2);
    let mut parents = Vec::new();
    // Without a pause: the next call takes a shell that is just starting.
    for _ in 0..50 {
        parents.push(out(&cache, &spec("echo $PPID")).await);
    }
    parents.sort();
    parents.dedup();
    assert!(
        parents.len() <= 3,
        "{} supervisors for 50 calls",
        parents.len()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn supervisors_of_concurrent_calls_are_recycled() {
    const AT_ONCE: usize = 6;
    let cache = Arc::new(cache_of_short_calls(2));
    let mut parents = std::collections::BTreeSet::new();
    for _ in 0..10 {
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..AT_ONCE {
            let cache = Arc::clone(&cache);
            calls.spawn(async move { out(&cache, &spec("echo $PPID")).await });
        }
        parents.extend(calls.join_all().await);
    }
    // Six supervisors at first, plus supervisors that were too late to serve another of the 60
    // calls.
    assert!(
        parents.len() <= 2 * AT_ONCE,
        "{} supervisors for 60 calls, {AT_ONCE} at once",
        parents.len()
    );
}

/// Calls that end at the same moment all see each other run. Without a last one that ends the
/// surplus, one of some rounds leaves more shells.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_calls_leave_four_times_the_wanted_number() {
    let cache = Arc::new(warm_cache());
    for _ in 0..10 {
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..24 {
            let cache = Arc::clone(&cache);
            calls.spawn(async move { out(&cache, &spec("sleep 0.1")).await });
        }
        calls.join_all().await;
        until_warm(&cache, 8).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn call_variables_are_equal_in_warm_and_new_shells() {
    let cache = warm_cache();
    out(&cache, &spec(":")).await;
    until_warm(&cache, 2).await;
    for (name, value) in [
        ("FOO", Some("it's \"$x\"\n")),
        ("HOME", None),
        ("IFS", Some(",")),
        ("A-B", Some("1")),
    ] {
        let mut call = spec(
            "env | grep -c -e ^FOO= -e ^A-B=; echo \"$FOO\"; echo \"${HOME-unset}\"; printf %q \"$IFS\"",
        );
        call.env.changes.insert(name.into(), value.map(Into::into));
        let warm = run_in(&cache, &call).await;
        let cold = support::run(&call).await;
        assert_eq!((warm.out, warm.err), (cold.out, cold.err), "{name}");
        until_warm(&cache, 2).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_warm_shell_is_not_used() {
    let cache = warm_cache();
    let parent = out(&cache, &spec("echo $PPID")).await;
    until_warm(&cache, 2).await;
    // Its supervisor was reused: it has one of the two warm shells.
    let children =
        std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", parent.trim())).unwrap();
    let pid = children.split_whitespace().next().unwrap().parse().unwrap();
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    for _ in 0..3 {
        assert_eq!(out(&cache, &spec("echo hi")).await, "hi\n");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_cache_ends_warm_shells() {
    let cache = warm_cache();
    let parent = out(&cache, &spec("echo $PPID")).await;
    until_warm(&cache, 2).await;
    let stat = format!("/proc/{}", parent.trim());
    assert!(
        std::path::Path::new(&stat).exists(),
        "the supervisor waits with its next shell"
    );
    drop(cache);
    let is_gone = support::soon(|| !std::path::Path::new(&stat).exists()).await;
    assert!(is_gone, "supervisor {parent} is still there");
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_shells_are_ended() {
    let cache = ShellCache::new(ShellCacheOptions {
        // Longer than the start of both shells, so that both are seen.
        idle: Duration::from_secs(5),
        ..long_lived(options().supervisor)
    });
    out(&cache, &spec(":")).await;
    until_warm(&cache, 2).await;
    until_warm(&cache, 0).await;
    assert_eq!(out(&cache, &spec("echo again")).await, "again\n");
}

/// Starts a shell in advance for such a call, and waits until the shell is warm.
async fn expects(cache: &ShellCache, call: &RunSpec, limits: Limits, traced: bool) {
    let (shell, base) = (&call.shell, &call.env.base);
    cache.start_in_advance(shell, base, call.streams, limits, None, traced);
    until_warm(cache, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn expected_call_gets_the_shell_started_in_advance() {
    let cache = support::cache();
    let call = spec("echo $((6 * 7))");
    expects(&cache, &call, call.limits, false).await;
    assert_eq!(out(&cache, &call).await, "42\n");
    assert_eq!(cache.warm_shells(), 0);
}

/// A traced shell is started for a call that is recorded, and an untraced shell for other calls.
#[tokio::test(flavor = "multi_thread")]
async fn expected_shell_is_traced_if_its_call_is() {
    let workspace = TestWorkspace::with(&[("file", "old\n")]);
    for (expected, asked, taken) in [
        (true, true, true),
        (false, true, false),
        (true, false, false),
    ] {
        let cache = support::cache();
        let set = workspace
            .store()
            .begin_trace("s", &workspace.root, ChangesLevel::Undo)
            .unwrap();
        let call = spec("echo x >>file; echo 42").cwd(workspace.root.clone());
        let call = call.trace(asked.then(|| set.dir().to_owned()));
        expects(&cache, &call, call.limits, expected).await;
        assert_eq!(out(&cache, &call).await, "42\n");
        assert_eq!(cache.warm_shells() == 0, taken, "{expected} {asked}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn expected_shell_serves_no_other_kind() {
    let cache = support::cache();
    let call = spec("ulimit -c");
    let limits = Limits {
        memory_mb: Some(64 << 10),
        ..call.limits
    };
    expects(&cache, &call, limits, false).await;
    out(&cache, &call).await;
    assert_eq!(cache.warm_shells(), 1);
}
