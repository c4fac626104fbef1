//! Containment: every way in which a process leaves its parent, process group, session or output,
//! combined with every way of stopping a call. The census looks for a mark in the environment, so
//! it also finds processes that have hidden.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::census::Census;
use crate::support::driven_clock::{DrivenClock, LIMIT};
use crate::support::{Collect, SOON, cache_with, command, marked, options, soon};
use agent_bash_core::{Cancel, Executor, RunSpec, ScriptEnding};
use agent_bash_process::supervisor::Supervisor;
use rustix::process::{Pid, Signal};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// A way of escaping. Its script leaves a `sleep` somewhere, and does not end.
struct Shape {
    name: &'static str,
    script: &'static str,
    /// True if the process survives the killing of the shell's process group. Many tools do no more
    /// than that.
    survives_group_kill: bool,
    /// True if the process is stopped, perhaps before it has exec'ed `sleep`, and only reacts to
    /// SIGKILL and SIGCONT.
    stopped: bool,
}

const fn shape(name: &'static str, script: &'static str, survives_group_kill: bool) -> Shape {
    Shape {
        name,
        script,
        survives_group_kill,
        stopped: false,
    }
}

const SHAPES: &[Shape] = &[
    shape("plain child", "sleep 1000; :", false),
    shape("background child", "sleep 1000 & wait", false),
    shape("group of its own", "set -m; sleep 1000 & wait", true),
    shape("session of its own", "setsid sleep 1000; :", true),
    shape("double fork", "(sleep 1000 &); tail -f /dev/null", false),
    shape(
        "double fork into a session of its own",
        "(setsid sleep 1000 &); tail -f /dev/null",
        true,
    ),
    shape(
        "nohup and disown",
        "nohup setsid sleep 1000 > /dev/null 2>&1 & disown; tail -f /dev/null",
        true,
    ),
    shape(
        "daemon without descriptors",
        "(cd /; setsid sleep 1000 <&- >&- 2>&- &); tail -f /dev/null",
        true,
    ),
    shape(
        "deaf to SIGTERM",
        "trap '' TERM HUP INT QUIT; sleep 1000; :",
        false,
    ),
    shape(
        "deaf in a session of its own",
        "(trap '' TERM HUP; setsid sleep 1000 &); tail -f /dev/null",
        true,
    ),
    Shape {
        name: "stopped",
        script: "sleep 1000 & kill -STOP $! $$",
        survives_group_kill: false,
        stopped: true,
    },
    Shape {
        name: "stopped in a session of its own",
        script: "(setsid bash -c 'kill -STOP $$; :' &); tail -f /dev/null",
        survives_group_kill: true,
        stopped: true,
    },
    shape(
        "fork storm",
        "for i in {1..12}; do (setsid bash -c 'trap : TERM; for n in {1..200}; do (sleep 0.01 &); sleep 0.01; done; sleep 1000' &); done; wait; sleep 1000; :",
        true,
    ),
];

/// How a call in this process is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Timeout,
    Cancel,
    /// Its future is dropped.
    Drop,
}

const GRACE: Duration = Duration::from_millis(300);

/// Waits until the census finds the process. Without this, the checks below would prove nothing.
async fn in_place(shape: &Shape, census: &Census) {
    if shape.stopped {
        let stopped = soon(|| census.commands().iter().any(|found| found.state == 'T'));
        assert!(stopped.await, "{}: {:?}", shape.name, census.all());
    } else {
        census.wait_for("sleep").await;
    }
}

fn spec(shape: &Shape, census: &Census) -> RunSpec {
    marked(shape.script, census).timeout(LIMIT).grace(GRACE)
}

async fn stop(shape: &Shape, how: Stop, supervisor: &Supervisor) {
    let census = Census::new();
    let clock = Arc::new(DrivenClock::new());
    let cache = Arc::new(cache_with(|it| {
        it.clock = clock.clone();
        it.supervisor = supervisor.clone();
    }));
    let cancel = Cancel::new();
    let call = tokio::spawn({
        let (spec, cancel, cache) = (spec(shape, &census), cancel.clone(), cache.clone());
        async move { cache.run(&spec, &mut Collect::default(), &cancel).await }
    });
    in_place(shape, &census).await;
    match how {
        Stop::Timeout => clock.pass(),
        Stop::Cancel => cancel.cancel(),
        Stop::Drop => call.abort(),
    }
    let context = format!("{}, {how:?}", shape.name);
    let ended = tokio::time::timeout(SOON, call).await;
    match how {
        Stop::Drop => assert!(ended.unwrap().unwrap_err().is_cancelled(), "{context}"),
        Stop::Timeout | Stop::Cancel => {
            let outcome = ended.unwrap().unwrap().unwrap();
            // When the call returns, not some time later.
            assert_eq!(census.commands(), [], "{context}");
            let ending = match how {
                Stop::Timeout => ScriptEnding::TimedOut { after: LIMIT },
                _ => ScriptEnding::Cancelled,
            };
            assert_eq!(outcome.ending, ending, "{context}");
            assert_eq!(outcome.survivors, [], "{context}");
        }
    }
    // The supervisor too.
    census.assert_empty_soon(&context).await;
}

/// With a supervisor, and with the fallback.
async fn stop_all(how: Stop) {
    for supervisor in [options().supervisor, Supervisor::fallback()] {
        for shape in SHAPES {
            stop(shape, how, &supervisor).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_process_outlives_a_timeout() {
    stop_all(Stop::Timeout).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_process_outlives_a_cancellation() {
    stop_all(Stop::Cancel).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_process_outlives_a_dropped_future() {
    stop_all(Stop::Drop).await;
}

/// Starts a separate host process that runs the script of the shape.
fn host(shape: &Shape, census: &Census) -> Child {
    command(env!("CARGO_BIN_EXE_exec-test-host"))
        .arg(shape.script)
        .envs([census.variable()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

async fn end_hosts(signal: Signal) {
    for shape in SHAPES {
        let census = Census::new();
        let mut host = host(shape, &census);
        in_place(shape, &census).await;
        rustix::process::kill_process(Pid::from_child(&host), signal).unwrap();
        host.wait().unwrap();
        census
            .assert_empty_soon(&format!("{}, host ended by {signal:?}", shape.name))
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_process_outlives_a_killed_host() {
    end_hosts(Signal::KILL).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_process_outlives_a_terminated_host() {
    end_hosts(Signal::TERM).await;
}

/// Negative control for all of the above: with plain bash, and its process group killed, the
/// processes do escape.
#[tokio::test(flavor = "multi_thread")]
async fn end_of_a_process_group_is_not_enough() {
    for shape in SHAPES {
        let census = Census::new();
        let mut bash = command("setsid")
            .args(["bash", "-c", shape.script])
            .envs([census.variable()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        in_place(shape, &census).await;
        rustix::process::kill_process_group(Pid::from_child(&bash), Signal::KILL).unwrap();
        bash.wait().unwrap();
        if shape.survives_group_kill {
            assert!(!census.commands().is_empty(), "{} ended", shape.name);
        } else {
            census.assert_empty_soon(shape.name).await;
        }
    }
}
