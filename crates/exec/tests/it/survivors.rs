//! Processes that outlive their call: named, left running, and their output read; or ended or
//! waited for, depending on the policy.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::census::Census;
use crate::support::driven_clock::{DrivenClock, LIMIT};
use crate::support::{SOON, cache, cache_with, command, marked, run, run_in, run_with, soon};
use agent_bash_core::{
    Cancel, Clock, ConsumerFlow, Executor, NoticeKind, OutputConsumer, StreamId, Streams,
    SurvivorPolicy, Timestamp,
};
use agent_bash_process::SystemClock;
use async_trait::async_trait;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Put after a background command: waits until the child has exec'ed the command, and is no longer
/// a fork of the shell.
const UNTIL_SLEEP: &str = "until [[ $(</proc/$!/comm) == sleep ]]; do :; done";

/// Script, command lines of the survivors, whether they hold the output.
const NAMED: &[(&str, &[&str], bool)] = &[
    ("sleep 300 & UNTIL; echo hi", &["sleep 300"], true),
    (
        "sleep 300 > /dev/null 2>&1 & UNTIL; echo hi",
        &["sleep 300"],
        false,
    ),
    (
        "sleep 300 <&- >&- 2>&- & UNTIL; echo hi",
        &["sleep 300"],
        false,
    ),
    (
        "sleep 300 > /dev/null & UNTIL; echo hi",
        &["sleep 300"],
        true,
    ),
    ("setsid sleep 300 & UNTIL; echo hi", &["sleep 300"], true),
    (
        "trap '' HUP TERM; sleep 300 & UNTIL; echo hi",
        &["sleep 300"],
        true,
    ),
    (
        "sleep 300 & UNTIL; sleep 400 & UNTIL; echo hi",
        &["sleep 300", "sleep 400"],
        true,
    ),
    // A subshell is reported neither as our wrapper nor as the script.
    (
        "mkfifo p; { echo > p; read x < p; } & read x < p; echo hi",
        &["bash (subshell)"],
        true,
    ),
    // No survivors.
    ("sleep 300 & kill $!; wait; echo hi", &[], false),
    ("echo hi", &[], false),
];

#[tokio::test(flavor = "multi_thread")]
async fn survivors_are_named_and_keep_running() {
    for (script, commands, holds_output) in NAMED {
        let census = Census::new();
        let dir = tempfile::tempdir().unwrap();
        let spec =
            marked(&script.replace("UNTIL", UNTIL_SLEEP), &census).cwd(dir.path().to_path_buf());
        let cache = cache();
        let cancel = Cancel::new();
        let call = tokio::time::timeout(SOON, run_with(&cache, &spec, &cancel));
        let ran = call.await.unwrap().unwrap();
        assert_eq!(ran.exit_code(), 0, "{script}");
        assert_eq!(ran.out, "hi\n", "{script}: {}", ran.err);
        let survivors = ran.outcome.survivors;
        let mut names: Vec<_> = survivors.iter().map(|one| &*one.command).collect();
        names.sort_unstable();
        assert_eq!(names, *commands, "{script}");
        for survivor in &survivors {
            assert_eq!(survivor.holds_output, *holds_output, "{script}");
        }
        let noticed = ran.outcome.notices.iter().any(|notice| {
            matches!(&notice.kind, NoticeKind::Survivors { survivors: told } if *told == survivors)
        });
        assert_eq!(noticed, !survivors.is_empty(), "{script}");

        // The named processes are the real ones, and outlive the cache.
        drop(cache);
        let mut pids: Vec<_> = survivors.iter().map(|one| one.pid.cast_signed()).collect();
        pids.sort_unstable();
        if !pids.is_empty() {
            let mut living: Vec<_> = census.commands().iter().map(|found| found.pid).collect();
            living.sort_unstable();
            assert_eq!(living, pids, "{script}");
            assert_eq!(census.supervisors().len(), 1, "{script}");
        }
        // Their supervisor ends after the last of them.
        for found in census.commands() {
            found.end();
        }
        census.assert_empty_soon(script).await;
    }
}

/// Keeps output in files, as a sink does, and lends them to survivors.
struct ToFiles {
    out: File,
    err: File,
    hands_out: bool,
}

impl ToFiles {
    fn new(dir: &Path, hands_out: bool) -> Self {
        let create = |name: &str| {
            File::options()
                .append(true)
                .create_new(true)
                .open(dir.join(name))
                .unwrap()
        };
        Self {
            out: create("out"),
            err: create("err"),
            hands_out,
        }
    }

    fn file(&mut self, stream: StreamId) -> &mut File {
        match stream {
            StreamId::Stderr => &mut self.err,
            StreamId::Stdout | StreamId::Merged => &mut self.out,
        }
    }
}

impl OutputConsumer for ToFiles {
    fn chunk(&mut self, stream: StreamId, bytes: &[u8]) -> ConsumerFlow {
        self.file(stream).write_all(bytes).unwrap();
        ConsumerFlow::Continue
    }

    fn file_for_survivors(&mut self, stream: StreamId) -> Option<File> {
        let clone = self.file(stream).try_clone().unwrap();
        self.hands_out.then_some(clone)
    }
}

/// Prints at least 20,000 numbered lines on both streams without a pause that could be taken for
/// quiet, and continues until told to stop: so it prints before, during and after the handover.
const WRITER: &str = "(i=0; until [[ $i -ge 20000 && -e stop ]]; do
    echo line $i; echo line $i >&2
    ((++i % 500)) || sleep 0.01
done; echo end $i; touch ended) &";

/// The number of lines in each stream. Panics unless all of them are there, once each, in order.
fn count_lines(text: &str, of_each: usize) -> usize {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("end"))
        .collect();
    assert!(text.ends_with('\n'));
    for (number, line) in lines.iter().enumerate() {
        assert_eq!(*line, format!("line {}", number / of_each));
    }
    assert_eq!(lines.len() % of_each, 0);
    lines.len() / of_each
}

async fn hand_over(streams: Streams) {
    let census = Census::new();
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let length = |name: &str| fs::metadata(path(name)).unwrap().len();
    let spec = marked(WRITER, &census)
        .cwd(dir.path().to_path_buf())
        .streams(streams);
    let cache = cache_with(|it| it.survivor_quota = u64::MAX);
    let mut consumer = ToFiles::new(dir.path(), true);
    let outcome = cache
        .run(&spec, &mut consumer, &Cancel::new())
        .await
        .unwrap();
    let survivors = &outcome.survivors;
    assert!(
        survivors
            .iter()
            .any(|one| one.command == "bash (subshell)" && one.holds_output),
        "{survivors:?}"
    );
    drop((cache, consumer));
    let handed_over_at = length("out");
    assert!(
        soon(|| length("out") > handed_over_at).await,
        "it stands still"
    );
    File::create(path("stop")).unwrap();
    assert!(soon(|| path("ended").exists()).await, "it did not end");
    census.assert_empty_soon("the writer").await;

    let (out, err) = (
        fs::read_to_string(path("out")).unwrap(),
        fs::read_to_string(path("err")).unwrap(),
    );
    let lines = match streams {
        Streams::Merged => count_lines(&out, 2),
        Streams::Split => {
            assert_eq!(count_lines(&out, 1), count_lines(&err, 1));
            count_lines(&out, 1)
        }
    };
    assert!(lines >= 20_000);
    assert!(out.ends_with(&format!("end {lines}\n")));
}

#[tokio::test(flavor = "multi_thread")]
async fn survivor_output_continues_without_loss_on_one_pipe() {
    hand_over(Streams::Merged).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn survivor_output_continues_without_loss_on_two_pipes() {
    hand_over(Streams::Split).await;
}

/// A survivor that prints a lot after its call has ended, and records that it could.
const LATE_WRITER: &str = "(until [[ -e go ]]; do sleep 0.01; done; for i in {1..20000}; do echo line $i; done; touch ended) & echo hi";

/// Runs the late writer and returns the final contents of its file.
async fn late_output(hands_out: bool, survivor_quota: u64) -> String {
    let census = Census::new();
    let dir = tempfile::tempdir().unwrap();
    let spec = marked(LATE_WRITER, &census).cwd(dir.path().to_path_buf());
    let cache = cache_with(|it| it.survivor_quota = survivor_quota);
    let mut consumer = ToFiles::new(dir.path(), hands_out);
    cache
        .run(&spec, &mut consumer, &Cancel::new())
        .await
        .unwrap();
    drop((cache, consumer));
    File::create(dir.path().join("go")).unwrap();
    let ended = soon(|| dir.path().join("ended").exists()).await;
    assert!(ended, "it died, or hangs: {:?}", census.all());
    census.assert_empty_soon("the late writer").await;
    fs::read_to_string(dir.path().join("out")).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn survivor_output_is_drained_without_an_artifact() {
    assert_eq!(late_output(false, 1 << 20).await, "hi\n");
    assert_eq!(late_output(true, 0).await, "hi\n");
    assert_eq!(late_output(true, 6).await, "hi\nline 1");
    let all = late_output(true, 1 << 20).await;
    assert_eq!(all.lines().count(), 20_001);
}

/// Negative control: writing to a pipe without a reader is fatal.
#[tokio::test(flavor = "multi_thread")]
async fn survivor_without_a_reader_gets_sigpipe() {
    let census = Census::new();
    let dir = tempfile::tempdir().unwrap();
    let (read, write) = std::io::pipe().unwrap();
    let mut bash = command("setsid");
    bash.args(["bash", "-c", LATE_WRITER])
        .envs([census.variable()])
        .current_dir(dir.path())
        .stdout(write);
    let mut shell = bash.spawn().unwrap();
    shell.wait().unwrap();
    drop((bash, read));
    assert!(!census.commands().is_empty());
    File::create(dir.path().join("go")).unwrap();
    census.assert_empty_soon("the late writer").await;
    assert!(!dir.path().join("ended").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_policy_ends_survivors() {
    for script in [
        "sleep 300 & echo hi",
        "sleep 300 > /dev/null 2>&1 & echo hi",
        "trap '' TERM; setsid sleep 300 & echo hi",
        "(setsid sleep 300 <&- >&- 2>&- &); echo hi",
    ] {
        let census = Census::new();
        let spec = marked(script, &census).survivors(SurvivorPolicy::Kill);
        let ran = run(&spec).await;
        assert_eq!(census.commands(), [], "{script}");
        assert_eq!(ran.exit_code(), 0, "{script}");
        assert_eq!(
            (&*ran.out, ran.outcome.survivors.len()),
            ("hi\n", 0),
            "{script}"
        );
        census.assert_empty_soon(script).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_policy_waits_for_survivors_of_a_call() {
    for script in [
        "(sleep 0.4; echo late) & echo hi",
        "setsid bash -c 'sleep 0.4; echo late' & echo hi",
        // One survivor that does not hold the output, and one that does.
        "(sleep 0.8; echo late) & sleep 0.2 > /dev/null 2>&1 & echo hi",
    ] {
        let census = Census::new();
        let spec = marked(script, &census).survivors(SurvivorPolicy::Wait);
        let ran = run(&spec).await;
        assert_eq!(census.commands(), [], "{script}");
        assert_eq!(
            (&*ran.out, ran.outcome.survivors.len()),
            ("hi\nlate\n", 0),
            "{script}"
        );
    }
}

/// The wait is limited by the call's time and by cancellation.
#[tokio::test(flavor = "multi_thread")]
async fn wait_policy_ends_with_the_calls_time_limit() {
    for by_timeout in [true, false] {
        let census = Census::new();
        let clock = Arc::new(DrivenClock::new());
        let cancel = Cancel::new();
        let cache = cache_with(|it| it.clock = clock.clone());
        let spec = marked("sleep 1000 & echo hi", &census)
            .survivors(SurvivorPolicy::Wait)
            .timeout(LIMIT);
        let call = tokio::spawn({
            let cancel = cancel.clone();
            async move { run_with(&cache, &spec, &cancel).await }
        });
        census.wait_for("sleep").await;
        // The shell has ended: only the survivor is waited for.
        assert!(soon(|| census.commands().len() == 1).await);
        if by_timeout {
            clock.pass();
        } else {
            cancel.cancel();
        }
        let ran = tokio::time::timeout(SOON, call)
            .await
            .unwrap()
            .unwrap()
            .unwrap();
        assert_eq!(census.commands(), []);
        assert_eq!((&*ran.out, ran.outcome.survivors.len()), ("hi\n", 0));
        census.assert_empty_soon("waited for").await;
    }
}

/// A clock on which short waits are long, so that processes which end soon have enough time on a
/// busy machine, too.
#[derive(Debug)]
struct PatientClock(SystemClock);

#[async_trait]
impl Clock for PatientClock {
    fn now(&self) -> Duration {
        self.0.now()
    }

    fn wall(&self) -> Timestamp {
        self.0.wall()
    }

    async fn sleep(&self, duration: Duration) {
        self.0.sleep(duration.max(SOON)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn process_that_ends_with_the_call_is_not_a_survivor() {
    for (script, out) in [
        ("echo hi > >(cat)", "hi\n"),
        ("cat <(echo hi)", "hi\n"),
        ("echo hi | tee >(cat > /dev/null)", "hi\n"),
        ("sleep 0.2 & echo hi", "hi\n"),
        ("sleep 0.2 > /dev/null 2>&1 & echo hi", "hi\n"),
        ("(sleep 0.1; echo late) & echo hi", "hi\nlate\n"),
    ] {
        let census = Census::new();
        let cache = cache_with(|it| it.clock = Arc::new(PatientClock(SystemClock::new())));
        let ran = run_in(&cache, &marked(script, &census)).await;
        assert_eq!(ran.outcome.survivors, [], "{script}");
        assert_eq!((&*ran.out, ran.outcome.notices.len()), (out, 0), "{script}");
        assert_eq!(census.commands(), [], "{script}");
    }
}

/// A program that makes one call and exits leaves survivors to their supervisor.
#[tokio::test(flavor = "multi_thread")]
async fn survivors_outlive_the_host() {
    let census = Census::new();
    let host = command(env!("CARGO_BIN_EXE_exec-test-host"))
        .arg("sleep 300 & echo hi; exit 7")
        .envs([census.variable()])
        .output()
        .unwrap();
    assert_eq!((host.status.code(), &*host.stdout), (Some(7), &b"hi\n"[..]));
    let left = census.wait_for("sleep").await;
    assert_eq!(census.supervisors().len(), 1);
    left.end();
    census.assert_empty_soon("the host").await;
}

/// All survivors are named, however many there are.
#[tokio::test(flavor = "multi_thread")]
async fn every_one_of_many_survivors_is_named() {
    let census = Census::new();
    let script = "for i in {1..250}; do sleep 1000 >/dev/null 2>&1 & done";
    let ran = run(&marked(script, &census)).await;
    let named = &ran.outcome.survivors;
    assert_eq!(named.len(), 250);
    assert!(named.iter().all(|one| !one.command.is_empty()));
}
