//! Survivors of a session's call are ended, or awaited, as the policy says; the shell and survivors
//! of earlier calls are not affected.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::census::Census;
use crate::support::driven_clock::{DrivenClock, LIMIT};
use crate::support::{
    Collect, FinishedRun, SOON, cache, cache_with, marked, run_in, run_with, soon,
};
use agent_bash_core::{
    Cancel, ConsumerFlow, Executor, Notice, NoticeKind, OutputConsumer, RunSpec, SessionName,
    StreamId, Streams, SurvivorPolicy,
};
use agent_bash_exec::{Jobs, JobsOptions, ShellCache};
use agent_bash_process::supervisor::Supervisor;
use agent_bash_process::{ProcessInfo, SystemClock};
use std::sync::Arc;
use std::time::Duration;

fn spec(script: &str, survivors: SurvivorPolicy, census: &Census) -> RunSpec {
    marked(script, census)
        .session(SessionName("a".into()))
        .survivors(survivors)
}

async fn say(cache: &ShellCache, spec: &RunSpec) -> FinishedRun {
    run_in(cache, spec).await
}

/// True if the process with a printed pid is alive.
fn is_alive(pid: &str) -> bool {
    let process = ProcessInfo::read(pid.trim().parse().unwrap());
    process.is_some_and(|process| !process.zombie)
}

/// A consumer that ends the survivor when it is asked for the file of the output. The survivor then
/// seems to have ended by itself, after it was named and before it became a job.
struct EndsSurvivor<'a> {
    census: &'a Census,
    is_in_time: bool,
    pid: Option<i32>,
}

impl OutputConsumer for EndsSurvivor<'_> {
    fn chunk(&mut self, _: StreamId, _: &[u8]) -> ConsumerFlow {
        ConsumerFlow::Continue
    }

    fn file_for_survivors(&mut self, _: StreamId) -> Option<std::fs::File> {
        if self.pid.is_some() {
            return None;
        }
        let sleep = loop {
            let commands = self.census.commands();
            if let Some(sleep) = commands.into_iter().find(|found| found.name == "sleep") {
                break sleep;
            }
        };
        self.pid = Some(sleep.pid);
        if self.is_in_time {
            sleep.end();
            while ProcessInfo::read(sleep.pid).is_some() {
                std::thread::yield_now();
            }
        }
        None
    }
}

/// git's maintenance after a commit ends this soon: its end would not be reported.
#[tokio::test(flavor = "multi_thread")]
async fn exited_process_is_not_reported_as_running() {
    let directory = tempfile::tempdir().unwrap();
    let [with_jobs, without, _] = caches(&directory);
    for (cache, has_jobs) in [(with_jobs, true), (without, false)] {
        for is_in_time in [true, false] {
            let census = Census::new();
            // The process is reparented, so that it is reaped at once.
            let spec = spec("(sleep 1000 &)", SurvivorPolicy::Adopt, &census);
            let mut ends = EndsSurvivor {
                census: &census,
                is_in_time,
                pid: None,
            };
            let outcome = cache.run(&spec, &mut ends, &Cancel::new()).await.unwrap();
            let named = outcome.survivors.iter();
            let named: Vec<_> = named.map(|it| (it.pid, it.job.is_some())).collect();
            let wanted = ends.pid.filter(|_| !is_in_time);
            let wanted = wanted.map(|pid| (pid.unsigned_abs(), has_jobs));
            assert!(ends.pid.is_some());
            assert_eq!(named, Vec::from_iter(wanted), "{has_jobs}");
            let is_noticed = |notice: &Notice| matches!(notice.kind, NoticeKind::Survivors { .. });
            assert_eq!(outcome.notices.iter().any(is_noticed), !is_in_time);
            census.end_all();
        }
    }
}

/// Scripts that leave a process behind and print its pid.
const LEAVES: &[&str] = &[
    "sleep 1000 & echo $!",
    "sleep 1000 >/dev/null 2>&1 & echo $!",
    "trap '' TERM; setsid sleep 1000 & echo $!",
    "f=$(mktemp); (setsid bash -c 'echo $$ >$0; exec sleep 1000' $f <&- >&- 2>&- &); \
     until [[ -s $f ]]; do sleep .01; done; cat $f; rm $f",
];

/// The ways of running: with a registry, in which survivors become jobs; without a registry; and
/// without a supervisor process.
fn caches(directory: &tempfile::TempDir) -> [ShellCache; 3] {
    let clock = Arc::new(SystemClock::new());
    let jobs = JobsOptions::new(directory.path().join("jobs"), clock);
    [
        cache_with(|it| it.jobs = Some(Arc::new(Jobs::new(jobs)))),
        cache(),
        cache_with(|it| it.supervisor = Supervisor::fallback()),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_policy_ends_only_survivors_of_the_call() {
    let directory = tempfile::tempdir().unwrap();
    for cache in caches(&directory) {
        let census = Census::new();
        let mut kept = Vec::new();
        for script in LEAVES {
            kept.push(
                say(&cache, &spec(script, SurvivorPolicy::Adopt, &census))
                    .await
                    .out,
            );
        }
        let shell = say(&cache, &spec("echo $$", SurvivorPolicy::Kill, &census)).await;
        for script in LEAVES {
            let ran = say(&cache, &spec(script, SurvivorPolicy::Kill, &census)).await;
            assert!(!is_alive(&ran.out), "{script}");
            assert_eq!(ran.outcome.survivors, [], "{script}");
            assert_eq!(ran.exit_code(), 0, "{script}");
            assert!(kept.iter().all(|pid| is_alive(pid)), "{script}");
        }
        let after = say(&cache, &spec("echo $$", SurvivorPolicy::Kill, &census)).await;
        assert_eq!(after.out, shell.out);
    }
}

/// Including processes that closed the output and were not started by the shell itself.
#[tokio::test(flavor = "multi_thread")]
async fn survivor_is_named_once() {
    let directory = tempfile::tempdir().unwrap();
    for cache in caches(&directory) {
        let census = Census::new();
        for script in LEAVES {
            let ran = say(&cache, &spec(script, SurvivorPolicy::Adopt, &census)).await;
            let pid: u32 = ran.out.trim().parse().unwrap();
            let named = &ran.outcome.survivors;
            let own = named.iter().find(|one| one.pid == pid);
            assert!(
                own.is_some_and(|own| !own.command.is_empty()),
                "{script}: {named:?}"
            );
            let next = say(&cache, &spec(":", SurvivorPolicy::Adopt, &census)).await;
            let again = next.outcome.survivors.iter().any(|one| one.pid == pid);
            assert!(!again, "{script}");
        }
    }
}

/// Output that goes to an earlier call's file continues when a later call ends its own survivors.
#[tokio::test(flavor = "multi_thread")]
async fn adopted_survivor_keeps_printing_when_later_ones_are_killed() {
    let census = Census::new();
    let cache = cache();
    let directory = tempfile::tempdir().unwrap();
    let (go, file) = (directory.path().join("go"), directory.path().join("file"));
    let mut collect = Collect {
        survivors_file: Some(std::fs::File::create(&file).unwrap()),
        ..Collect::default()
    };
    let go = go.display();
    let script = format!("(until [[ -e {go} ]]; do sleep .01; done; echo late) & echo hi");
    let kept = spec(&script, SurvivorPolicy::Adopt, &census).streams(Streams::Merged);
    let outcome = cache
        .run(&kept, &mut collect, &Cancel::new())
        .await
        .unwrap();
    assert!(!outcome.survivors.is_empty());
    let ended = spec("sleep 1000 & echo $!", SurvivorPolicy::Kill, &census);
    assert!(!is_alive(&say(&cache, &ended).await.out));
    say(
        &cache,
        &spec(&format!(": >{go}"), SurvivorPolicy::Adopt, &census),
    )
    .await;
    let printed = soon(|| std::fs::read_to_string(&file).unwrap() == "late\n");
    assert!(printed.await, "{:?}", std::fs::read_to_string(&file));
}

/// The negative control.
#[tokio::test(flavor = "multi_thread")]
async fn adopt_policy_keeps_survivors_running() {
    let directory = tempfile::tempdir().unwrap();
    for cache in caches(&directory) {
        let census = Census::new();
        for script in LEAVES {
            let ran = say(&cache, &spec(script, SurvivorPolicy::Adopt, &census)).await;
            assert!(is_alive(&ran.out), "{script}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_policy_ends_survivors_of_the_shells_last_call() {
    let directory = tempfile::tempdir().unwrap();
    let [with_jobs, without, _] = caches(&directory);
    for cache in [with_jobs, without] {
        let census = Census::new();
        for script in LEAVES {
            let script = format!("{script}; exit 3");
            let ran = say(&cache, &spec(&script, SurvivorPolicy::Kill, &census)).await;
            assert!(!is_alive(&ran.out), "{script}");
            assert_eq!(ran.exit_code(), 3, "{script}");
            assert_eq!(census.commands(), [], "{script}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_policy_waits_for_survivors() {
    let directory = tempfile::tempdir().unwrap();
    for cache in caches(&directory) {
        let census = Census::new();
        let kept = say(
            &cache,
            &spec("sleep 1000 & echo $!", SurvivorPolicy::Adopt, &census),
        )
        .await;
        for (script, out, code) in [
            ("(sleep 0.4; echo late) & echo hi", "hi\nlate\n", 0),
            (
                "setsid bash -c 'sleep 0.4; echo late' & echo hi",
                "hi\nlate\n",
                0,
            ),
            (
                "(sleep 0.8; echo late) & sleep 0.2 > /dev/null 2>&1 & echo hi; false",
                "hi\nlate\n",
                1,
            ),
            (
                "exec 3>&1; (sleep 0.4; echo late) & echo hi",
                "hi\nlate\n",
                0,
            ),
            ("echo none; true &", "none\n", 0),
        ] {
            let ran = say(&cache, &spec(script, SurvivorPolicy::Wait, &census)).await;
            assert_eq!(ran.out, out, "{script}");
            assert_eq!(ran.exit_code(), code, "{script}");
            assert_eq!(ran.outcome.survivors, [], "{script}");
        }
        assert!(is_alive(&kept.out));
    }
}

/// The wait is limited by the call's time and by cancellation. The shell continues.
#[tokio::test(flavor = "multi_thread")]
async fn wait_policy_ends_with_the_time_limit_and_the_shell_continues() {
    for by_timeout in [true, false] {
        let census = Census::new();
        let clock = Arc::new(DrivenClock::new());
        let cancel = Cancel::new();
        let cache = Arc::new(cache_with(|it| it.clock = clock.clone()));
        let directory = tempfile::tempdir().unwrap();
        let returned = directory.path().join("returned");
        let script = format!("x=5; sleep 1000 & echo $!; : >{}", returned.display());
        let spec_of = |script: &str| spec(script, SurvivorPolicy::Wait, &census).timeout(LIMIT);
        let call = tokio::spawn({
            let (cache, cancel, spec) = (cache.clone(), cancel.clone(), spec_of(&script));
            async move { run_with(&cache, &spec, &cancel).await }
        });
        assert!(soon(|| returned.exists()).await);
        // The script is over; only its survivors are waited for.
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(!call.is_finished());
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
        assert!(!is_alive(&ran.out));
        assert_eq!(ran.exit_code(), 0);
        let next = spec("echo $x", SurvivorPolicy::Wait, &census);
        assert_eq!(say(&cache, &next).await.out, "5\n");
    }
}
