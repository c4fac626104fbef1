//! How commands are ended, and how commands are reported that kill themselves or their supervisor.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::census::Census;
use crate::support::driven_clock::{DrivenClock, LIMIT};
use crate::support::{
    FinishedRun, SOON, cache, cache_with, command, marked, run, run_with, soon, spec,
};
use agent_bash_core::{
    Cancel, ConsumerFlow, Executor, OutputConsumer, RunSpec, ScriptEnding, StreamId, Streams,
};
use std::sync::Arc;
use std::time::Duration;

/// Longer than any test waits: a call that sits through it fails.
const ENDLESS: Duration = Duration::from_secs(3600);

fn patient(script: &str, census: &Census) -> RunSpec {
    marked(script, census).timeout(LIMIT).grace(ENDLESS)
}

/// Runs until `ready`, then cancels; returns the result.
async fn cancelled_when(
    spec: RunSpec,
    census: &Census,
    ready: impl Fn(&Census) -> bool,
) -> FinishedRun {
    let cancel = Cancel::new();
    let call = tokio::spawn({
        let cancel = cancel.clone();
        async move { run_with(&cache(), &spec, &cancel).await }
    });
    assert!(soon(|| ready(census)).await, "{:?}", census.all());
    cancel.cancel();
    let ran = tokio::time::timeout(SOON, call).await;
    ran.unwrap().unwrap().unwrap()
}

fn has(census: &Census, name: &str) -> bool {
    census.commands().iter().any(|found| found.name == name)
}

/// Script, and what it prints when cancelled with a grace period that no test could wait for.
const GENTLE: &[(&str, &str)] = &[
    // A trap runs, and its output is kept.
    (
        "trap 'echo cleaned up; exit 3' TERM; echo started; sleep 1000 & wait",
        "started\ncleaned up\n",
    ),
    // Also in a session of its own.
    (
        "setsid bash -c 'trap \"echo child cleaned up; exit\" TERM; sleep 1000 & wait' & wait",
        "child cleaned up\n",
    ),
    // If the tree is gone there is no waiting.
    ("echo a; sleep 1000 & sleep 1000 & sleep 1000", "a\n"),
    // The next command does not run.
    ("sleep 1000; echo next", ""),
    ("setsid sleep 1000 && echo next", ""),
];

#[tokio::test(flavor = "multi_thread")]
async fn command_may_clean_up_and_long_grace_period_does_not_delay() {
    for (script, out) in GENTLE {
        let census = Census::new();
        let ran = cancelled_when(patient(script, &census), &census, |census| {
            has(census, "sleep")
        })
        .await;
        assert_eq!(ran.outcome.ending, ScriptEnding::Cancelled, "{script}");
        assert_eq!(ran.out, *out, "{script}");
        census.assert_empty_soon(script).await;
    }
}

/// Negative control for the above: the grace period is used if a process needs it, and SIGKILL ends
/// it. The trap shows that SIGTERM came first.
#[tokio::test(flavor = "multi_thread")]
async fn process_that_ignores_sigterm_is_killed_after_the_grace() {
    let census = Census::new();
    let script = "trap 'echo no' TERM; sleep 1000; while :; do sleep 1000 & wait; done";
    let spec = patient(script, &census).grace(Duration::from_secs(3));
    let ran = cancelled_when(spec, &census, |census| has(census, "sleep")).await;
    assert_eq!(ran.outcome.ending, ScriptEnding::Cancelled);
    assert_eq!(ran.out, "no\n");
    assert!(ran.outcome.duration >= Duration::from_secs(3));
    census.assert_empty_soon("killed").await;
}

/// A stopped process does not handle SIGTERM until SIGCONT.
#[tokio::test(flavor = "multi_thread")]
async fn stopped_processes_are_woken_to_end() {
    for script in [
        "sleep 1000 & kill -STOP $!; wait",
        "setsid bash -c 'kill -STOP $$; :' & wait",
        "echo here; kill -STOP $$; echo never",
    ] {
        let census = Census::new();
        let ran = cancelled_when(patient(script, &census), &census, |census| {
            census.commands().iter().any(|found| found.state == 'T')
        })
        .await;
        assert_eq!(ran.outcome.ending, ScriptEnding::Cancelled, "{script}");
        assert!(!ran.out.contains("never"), "{script}");
        census.assert_empty_soon(script).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn output_before_a_timeout_is_in_the_result() {
    let census = Census::new();
    let clock = Arc::new(DrivenClock::new());
    let cache = cache_with(|it| it.clock = clock.clone());
    let spec = patient("echo one; echo two >&2; printf three; sleep 1000", &census);
    let call = tokio::spawn(async move { run_with(&cache, &spec, &Cancel::new()).await });
    census.wait_for("sleep").await;
    clock.pass();
    let ran = call.await.unwrap().unwrap();
    assert_eq!(ran.outcome.ending, ScriptEnding::TimedOut { after: LIMIT });
    assert_eq!((&*ran.out, &*ran.err), ("one\nthree", "two\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_call_does_not_start() {
    let dir = tempfile::tempdir().unwrap();
    let spec = spec("touch made").cwd(dir.path().to_path_buf());
    let cancel = Cancel::new();
    cancel.cancel();
    let ran = run_with(&cache(), &spec, &cancel).await.unwrap();
    assert_eq!(ran.outcome.ending, ScriptEnding::Cancelled);
    assert!(!dir.path().join("made").exists());
    // The same script does create the file if it is not cancelled.
    run(&spec).await;
    assert!(dir.path().join("made").exists());
}

fn exited(code: i32) -> ScriptEnding {
    ScriptEnding::Exited { code }
}

fn signaled(signal: &str, number: i32) -> ScriptEnding {
    ScriptEnding::Signaled {
        signal: signal.to_owned(),
        number,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn signalled_command_is_distinguished_from_exited_command() {
    let cases = [
        ("kill -9 $$", signaled("SIGKILL", 9)),
        ("kill -9 0", signaled("SIGKILL", 9)),
        ("sleep 1000 & kill -9 -$$", signaled("SIGKILL", 9)),
        ("(kill -9 $$); sleep 1000", signaled("SIGKILL", 9)),
        ("kill $$; sleep 1000", signaled("SIGTERM", 15)),
        ("kill -SEGV $$", signaled("SIGSEGV", 11)),
        ("kill -34 $$", signaled("SIGRTMIN", 34)),
        ("kill -40 $$", signaled("SIGRTMIN+6", 40)),
        ("kill -64 $$", signaled("SIGRTMIN+30", 64)),
        ("exec sh -c 'kill -HUP $$'", signaled("SIGHUP", 1)),
        // A program alone takes the shell's place.
        ("sh -c 'kill -9 $$'", signaled("SIGKILL", 9)),
        // Otherwise the shell's own status counts.
        ("sh -c 'kill -9 $$'; exit", exited(137)),
        ("exit 137", exited(137)),
        ("exit 255", exited(255)),
        ("exec true", exited(0)),
    ];
    for (script, ending) in cases {
        let outcome = run(&spec(script)).await.outcome;
        assert_eq!(outcome.ending, ending, "{script}");
        assert_eq!(outcome.survivors, [], "{script}");
    }
}

/// `$PPID` is the supervisor.
#[tokio::test(flavor = "multi_thread")]
async fn supervisor_ignores_every_signal_but_sigkill() {
    let signals = "HUP INT QUIT ALRM USR1 USR2 TERM TSTP TTIN TTOU PIPE CHLD WINCH CONT";
    let script = format!("for s in {signals}; do kill -$s $PPID || exit 9; done; echo still");
    let ran = run(&spec(&script)).await;
    assert_eq!(
        (ran.outcome.ending, &*ran.out),
        (exited(0), "still\n"),
        "{}",
        ran.err
    );
}

/// The outcome of such a call is unknown.
#[tokio::test(flavor = "multi_thread")]
async fn call_with_killed_supervisor_is_lost_and_leaves_no_process() {
    for script in [
        "kill -9 $PPID; sleep 1000",
        "sleep 1000 & sleep 1000 & kill -9 $PPID; wait",
        "trap '' TERM HUP; (sleep 1000 &); kill -9 $PPID; sleep 1000",
        "set -m; sleep 1000 & kill -9 $PPID; wait",
        "setsid bash -c 'kill -9 $1; sleep 1000' bash $PPID & wait",
    ] {
        let census = Census::new();
        let spec = patient(script, &census);
        let ran = tokio::time::timeout(SOON, run(&spec)).await;
        let ending = ran.unwrap().outcome.ending;
        assert!(
            matches!(ending, ScriptEnding::Lost { .. }),
            "{script}: {ending:?}"
        );
        census.assert_empty_soon(script).await;
    }
    assert_eq!(run(&spec("echo next")).await.out, "next\n");
}

/// A stopped supervisor can neither report nor end anything; the caller gets an answer all the
/// same.
#[tokio::test(flavor = "multi_thread")]
async fn stopped_supervisor_does_not_block_the_caller() {
    let census = Census::new();
    let spec = patient("kill -STOP $PPID; sleep 1000", &census).grace(Duration::from_millis(100));
    let ran = cancelled_when(spec, &census, |census| {
        has(census, "sleep") && census.supervisors().iter().all(|found| found.state == 'T')
    })
    .await;
    assert_eq!(ran.outcome.ending, ScriptEnding::Cancelled);
    census.assert_empty_soon("stopped supervisor").await;
}

/// Negative control for the lost call: there, bash's parent is this process, which cannot be
/// killed. So this shows, with a shell in between, that the processes outlive the shell's parent.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_sweep_the_orphans_of_a_killed_parent_live() {
    let census = Census::new();
    let mut parent = command("setsid")
        .args(["bash", "-c", "bash -c 'kill -9 $PPID; sleep 1000'; :"])
        .envs([census.variable()])
        .spawn()
        .unwrap();
    parent.wait().unwrap();
    census.wait_for("sleep").await;
}

/// Blocks its thread on the first chunk, a pid, until that process has ended or [`SOON`] has
/// passed.
struct Blocks {
    ended: Option<bool>,
}

impl OutputConsumer for Blocks {
    #[expect(clippy::disallowed_methods, reason = "to block is the point")]
    fn chunk(&mut self, _: StreamId, bytes: &[u8]) -> ConsumerFlow {
        let process = format!("/proc/{}", String::from_utf8_lossy(bytes).trim());
        let looks = SOON.as_millis() / 5;
        self.ended.get_or_insert_with(|| {
            (0..looks).any(|_| {
                std::thread::sleep(Duration::from_millis(5));
                !std::path::Path::new(&process).exists()
            })
        });
        ConsumerFlow::Continue
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn blocking_consumer_does_not_delay_the_end_of_a_command() {
    for session in [None, Some(agent_bash_core::SessionName("blocked".into()))] {
        let spec = spec("echo $BASHPID; sleep 1000")
            .streams(Streams::Merged)
            .timeout(Duration::from_secs(2))
            .session(session);
        let mut consumer = Blocks { ended: None };
        let outcome = cache().run(&spec, &mut consumer, &Cancel::new()).await;
        assert_eq!(consumer.ended, Some(true), "{:?}", spec.session);
        assert!(matches!(
            outcome.unwrap().ending,
            ScriptEnding::TimedOut { .. }
        ));
    }
}

/// The host no longer listens for the supervisor's end.
#[tokio::test(flavor = "multi_thread")]
async fn dropped_call_with_killed_supervisor_leaves_no_process() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let census = Census::new();
    let spec = marked(
        ": >there; until [[ -e go ]]; do sleep .01; done; kill -9 $PPID; sleep 1000",
        &census,
    )
    .cwd(directory.path().to_owned());
    let cache = cache();
    let cancel = Cancel::new();
    let mut call = Box::pin(run_with(&cache, &spec, &cancel));
    while !path("there").exists() {
        let _ = tokio::time::timeout(Duration::from_millis(1), &mut call).await;
    }
    std::fs::write(path("go"), "").unwrap();
    assert!(soon(|| census.supervisors().is_empty()).await);
    census.wait_for("sleep").await;
    drop(call);
    census.assert_empty_soon("the call was dropped").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn result_says_what_ended_the_shell() {
    for (script, grace, signal) in [
        ("sleep 1000; :", SOON, Some(15)),
        (
            "trap '' TERM; sleep 1000; :",
            Duration::from_millis(100),
            Some(9),
        ),
        ("trap 'exit 3' TERM; sleep 1000 & wait", SOON, None),
    ] {
        let spec = spec(script).timeout(Duration::from_secs(2)).grace(grace);
        let outcome = run(&spec).await.outcome;
        assert!(
            matches!(outcome.ending, ScriptEnding::TimedOut { .. }),
            "{script}"
        );
        assert_eq!(outcome.shell_signal, signal, "{script}");
    }
}
