//! How calls end, and whether they leave survivors.

#![expect(
    clippy::unwrap_used,
    reason = "test code, also outside of the test functions"
)]

use crate::support::{Collect, SOON, attend, attend_with, executor, options, run, soon, spec};
use agent_bash_core::{Cancel, Executor, ScriptEnding, SurvivorPolicy};
use agent_bash_process::ProcessInfo;
use agent_bash_pty::{PtyExecutor, PtyOptions};
use agent_bash_test_kit::driven_clock::{DrivenClock, LIMIT};
use std::fs;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

/// Pids that a script printed, one per line after `pid `.
fn pids(out: &str) -> Vec<i32> {
    out.lines()
        .filter_map(|line| line.trim().strip_prefix("pid ")?.parse().ok())
        .collect()
}

fn lives(pid: i32) -> bool {
    ProcessInfo::read(pid).is_some_and(|process| !process.zombie)
}

/// A shell with children of every kind: in its process group, in their own process group, in their
/// own session, orphaned.
const TREE: &str = "sleep 1000 & echo pid $!; \
    setsid sleep 1000 & echo pid $!; \
    (setsid bash -c 'echo pid $$; exec sleep 1000' &) ; \
    bash -c 'trap \"\" HUP TERM; echo pid $$; while :; do sleep 1; done' & \
    echo pid $$; ";

#[tokio::test(flavor = "multi_thread")]
async fn kill_ends_the_whole_tree() {
    let mut tree = spec(&format!("{TREE} wait"));
    tree.grace = Duration::from_millis(500);
    let attended = attend(&tree).await;
    let text = || attended.collect.text();
    assert!(soon(|| pids(&text()).len() == 5).await, "{}", text());
    let pids = pids(&text());
    assert!(pids.iter().all(|pid| lives(*pid)), "{pids:?}");
    attended.session.kill();
    assert_eq!(attended.outcome().await.ending, ScriptEnding::Cancelled);
    assert_eq!(pids.iter().filter(|pid| lives(**pid)).count(), 0);
    assert!(attended.session.status().ended.unwrap().killed);
}

#[tokio::test(flavor = "multi_thread")]
async fn hang_up_is_sent_first_and_processes_have_the_grace_period() {
    for (traps, wanted) in [
        (
            "trap 'echo hup; exit' HUP; trap 'echo term; exit' TERM",
            "hup",
        ),
        ("trap '' HUP; trap 'echo term; exit' TERM", "term"),
    ] {
        let script = format!("{traps}; echo ready; while :; do sleep 0.05; done");
        let limited = spec(&script).timeout(LIMIT).grace(SOON);
        let clock = Arc::new(DrivenClock::new());
        let executor = PtyExecutor::new(PtyOptions {
            clock: clock.clone(),
            ..options()
        });
        let attended = attend_with(&executor, &limited).await;
        attended.shows("ready").await;
        clock.pass();
        let after = LIMIT;
        let ending = attended.outcome().await.ending;
        assert_eq!(ending, ScriptEnding::TimedOut { after });
        // Bash may first report that the command it waited for was killed.
        let out = attended.collect.text();
        assert_eq!(out.lines().last(), Some(wanted), "{traps}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_future_ends_the_command() {
    let executor = executor();
    let running = spec(&format!("{TREE} wait"));
    let mut collect = Collect::default();
    let output = collect.clone();
    let cancel = Cancel::new();
    let run = executor.run(&running, &mut collect, &cancel);
    tokio::select! {
        _ = run => panic!("it ended by itself"),
        started = soon(|| pids(&output.text()).len() == 5) => assert!(started),
    }
    let pids = pids(&output.text());
    assert!(soon(|| !pids.iter().any(|pid| lives(*pid))).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_call_starts_nothing() {
    let cancel = Cancel::new();
    cancel.cancel();
    let mut collect = Collect::default();
    let outcome = executor()
        .run(&spec("echo ran"), &mut collect, &cancel)
        .await
        .unwrap();
    assert_eq!(
        (outcome.ending, collect.text()),
        (ScriptEnding::Cancelled, String::new())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn survivor_with_the_terminal_open_does_not_delay_the_call() {
    let file = Arc::new(tempfile());
    let directory = tempfile::tempdir().unwrap();
    let stay = directory.path().join("stay");
    for policy in [
        SurvivorPolicy::Adopt,
        SurvivorPolicy::Kill,
        SurvivorPolicy::Wait,
    ] {
        fs::write(&stay, "").unwrap();
        let waits = format!("while [[ -e {} ]]; do sleep .01; done", stay.display());
        let leaving = spec(&format!("({waits}; echo late; sleep .1) & echo early"));
        let leaving = leaving.survivors(policy);
        let mut collect = Collect {
            survivors_file: Some(Arc::clone(&file)),
            ..Collect::default()
        };
        let (executor, cancel, output) = (executor(), Cancel::new(), collect.clone());
        // Only the call that waits for the process needs its end.
        let release = async {
            if policy == SurvivorPolicy::Wait {
                assert!(soon(|| output.text().contains("early")).await);
                fs::remove_file(&stay).unwrap();
            }
        };
        let run = executor.run(&leaving, &mut collect, &cancel);
        let (outcome, ()) = tokio::join!(run, release);
        let outcome = outcome.unwrap();
        assert_eq!(outcome.ending, ScriptEnding::Exited { code: 0 });
        let text = collect.text();
        match policy {
            SurvivorPolicy::Adopt => {
                assert!(!outcome.survivors.is_empty(), "{outcome:?}");
                assert!(
                    outcome
                        .survivors
                        .iter()
                        .any(|survivor| survivor.holds_output)
                );
                assert_eq!(text, "early\r\n");
                let content = || {
                    let mut text = String::new();
                    let mut file = file.as_ref();
                    std::io::Seek::rewind(&mut file).unwrap();
                    file.read_to_string(&mut text).unwrap();
                    text
                };
                fs::remove_file(&stay).unwrap();
                assert!(soon(|| content() == "late\r\n").await, "{:?}", content());
            }
            SurvivorPolicy::Kill => assert!(outcome.survivors.is_empty()),
            SurvivorPolicy::Wait => {
                assert!(outcome.survivors.is_empty());
                assert_eq!(text, "early\r\nlate\r\n");
            }
        }
    }
}

fn tempfile() -> fs::File {
    let path = format!("/tmp/agent-bash-pty-survivors-{}", std::process::id());
    let file = fs::File::options()
        .read(true)
        .append(true)
        .create_new(true)
        .open(&path)
        .unwrap();
    fs::remove_file(path).unwrap();
    file
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_supervisor_is_reported() {
    let ran = run(&spec("echo before; sleep 1000 & kill -9 $PPID; sleep 1000"))
        .await
        .unwrap();
    assert!(
        matches!(ran.outcome.ending, ScriptEnding::Lost { .. }),
        "{ran:?}"
    );
    assert!(
        ran.out.starts_with("before\r\n") && ran.out.contains("\r\nPTY error: "),
        "{ran:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn consumer_that_stops_ends_the_flood() {
    let mut collect = Collect {
        stop_after: Some(1000),
        ..Collect::default()
    };
    let mut flood = spec("yes");
    flood.grace = Duration::from_millis(100);
    let outcome = executor()
        .run(&flood, &mut collect, &Cancel::new())
        .await
        .unwrap();
    assert!(outcome.closed_early, "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn script_may_close_all_descriptors() {
    let ran = run(&spec("exec <&- >&- 2>&-; sleep 0.5; echo late >/dev/tty"))
        .await
        .unwrap();
    assert_eq!(ran.out, "late\r\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_output_is_received() {
    const RUNS: usize = 500;
    let executor = Arc::new(executor());
    let mut running = tokio::task::JoinSet::new();
    let mut started = 0;
    let mut ended = 0;
    while ended < RUNS {
        while running.len() < 8 && started < RUNS {
            let executor = Arc::clone(&executor);
            // Some calls print a line, some more than the kernel buffers.
            let lines = if started % 10 == 0 {
                20_000
            } else {
                1 + started
            };
            started += 1;
            running.spawn(async move {
                let mut collect = Collect::default();
                let script = spec(&format!("seq {lines}"));
                let outcome = executor
                    .run(&script, &mut collect, &Cancel::new())
                    .await
                    .unwrap();
                assert_eq!(outcome.ending, ScriptEnding::Exited { code: 0 });
                let wanted: Vec<String> = (1..=lines).map(|line| line.to_string()).collect();
                let wanted = wanted.join("\r\n") + "\r\n";
                assert!(
                    collect.text() == wanted,
                    "of {lines} lines {}",
                    collect.text().len()
                );
            });
        }
        running.join_next().await.unwrap().unwrap();
        ended += 1;
    }
}
