//! Without a supervisor: what the fallback thread can do all the same, and what it cannot.
//! `containment.rs` runs both ways of ending calls.

use crate::support::census::Census;
use crate::support::{
    self, FinishedRun, SOON, cache_with, command, long_lived, marked, options, run_in, soon, spec,
};
use agent_bash_core::{
    Cancel, Clock, NoticeKind, Outcome, RunSpec, ScriptEnding, SessionName, Shell, Streams,
    SurvivorPolicy,
};
use agent_bash_exec::{JobError, JobStdin, Jobs, JobsOptions, ShellCache};
use agent_bash_process::SystemClock;
use agent_bash_process::supervisor::{ShellStart, Supervisor, TerminalStart};
use rustix::process::{Pid, Signal};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

/// Exit code of `exec-test-host` if the script did not exit by itself.
const OTHER_ENDING: i32 = 99;

fn cache() -> ShellCache {
    cache_with(|it| it.supervisor = Supervisor::fallback())
}

async fn run(spec: &RunSpec) -> FinishedRun {
    run_in(&cache(), spec).await
}

fn reason(outcome: &Outcome) -> Option<&str> {
    outcome
        .notices
        .iter()
        .find_map(|notice| match &notice.kind {
            NoticeKind::WithoutSupervisor { reason } => Some(reason.as_str()),
            _ => None,
        })
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_run_and_report_the_missing_supervisor() {
    let ran = run(&spec("echo out; echo err >&2; cd /; exit 3")).await;
    assert_eq!((&*ran.out, &*ran.err), ("out\n", "err\n"));
    assert_eq!(ran.exit_code(), 3);
    let printed = reason(&ran.outcome).unwrap();
    assert!(printed.contains("supervisor::init()"), "{printed}");
    let killed = run(&spec("kill -KILL $$")).await.outcome.ending;
    assert!(matches!(killed, ScriptEnding::Signaled { number: 9, .. }));
    // As with a supervisor: a session of its own, only three descriptors, no ignored signals, no
    // terminal.
    let leads = run(&spec("[ $(ps -o sid= $$) = $$ ] && echo leads")).await;
    assert_eq!(leads.out, "leads\n");
    let state = spec("ls /proc/$$/fd; grep Sig[BIC] /proc/self/status; : </dev/tty");
    let (with, without) = (support::run(&state).await, run(&state).await);
    assert_eq!((with.out, with.err), (without.out, without.err));
}

#[tokio::test(flavor = "multi_thread")]
async fn warm_shells_and_sessions_work() {
    let cache = ShellCache::new(long_lived(Supervisor::fallback()));
    for number in 0..20 {
        let ran = run_in(&cache, &spec(&format!("echo {number}"))).await;
        assert_eq!(ran.out, format!("{number}\n"));
    }
    for expected in ["1\n", "2\n", "3\n"] {
        let spec = spec("echo $((++n))").session(SessionName("a".into()));
        let ran = run_in(&cache, &spec).await;
        assert_eq!(ran.out, expected);
        assert!(reason(&ran.outcome).is_some());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn survivors_keep_their_output_or_are_ended() {
    let script = "echo early; (setsid bash -c 'echo $$; until [[ -e go ]]; do sleep .01; done; echo late' &)";
    let directory = tempfile::tempdir().unwrap();
    let census = Census::new();
    let adopt = marked(script, &census)
        .streams(Streams::Merged)
        .cwd(directory.path().to_owned());
    let file = directory.path().join("later");
    let mut consumer = support::Collect {
        survivors_file: Some(std::fs::File::create(&file).unwrap()),
        ..Default::default()
    };
    let cache = cache();
    let outcome = agent_bash_core::Executor::run(&cache, &adopt, &mut consumer, &Cancel::new())
        .await
        .unwrap();
    assert!(!outcome.survivors.is_empty());
    std::fs::write(directory.path().join("go"), "").unwrap();
    assert!(soon(|| std::fs::read_to_string(&file).unwrap().contains("late")).await);

    let kill = marked(
        "(setsid sleep 1000 &); (sleep 1000 &); sleep 1000 & echo done",
        &census,
    )
    .survivors(SurvivorPolicy::Kill);
    assert_eq!(run(&kill).await.out, "done\n");
    census.assert_empty_soon("policy kill").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_cache_ends_its_processes() {
    let census = Census::new();
    let cache = ShellCache::new(long_lived(Supervisor::fallback()));
    let session =
        marked("sleep 1000 & setsid sleep 1000 & true", &census).session(SessionName("a".into()));
    run_in(&cache, &session).await;
    run_in(&cache, &marked("true", &census)).await;
    assert!(!census.all().is_empty());
    drop(cache);
    census.assert_empty_soon("the cache is gone").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn program_that_is_not_a_supervisor_is_replaced_by_the_fallback() {
    let cache = cache_with(|it| it.supervisor = Supervisor::at("/bin/true"));
    let ran = run_in(&cache, &spec("echo $AGENT_BASH_CALL")).await;
    assert!(
        ran.out.starts_with(&std::process::id().to_string()),
        "{}",
        ran.out
    );
    let printed = reason(&ran.outcome).unwrap();
    assert!(printed.contains("ended before it answered"), "{printed}");
    let missing = cache_with(|it| it.supervisor = Supervisor::at("/nope/supervisor"));
    let ran = run_in(&missing, &spec("echo hi")).await;
    assert_eq!(ran.out, "hi\n");
    assert!(
        reason(&ran.outcome)
            .unwrap()
            .contains("could not be started")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn background_jobs_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(SystemClock::new());
    let jobs = Jobs::new(JobsOptions::new(directory.path(), clock));
    let cache = cache_with(|it| {
        it.supervisor = Supervisor::fallback();
        it.jobs = Some(Arc::new(jobs));
    });
    let marker = directory.path().join("ran");
    let started = cache
        .start_job(
            &spec(&format!(": >{}", marker.display())),
            JobStdin::Null,
            &Cancel::new(),
        )
        .await;
    let Err(JobError::NotStarted(error)) = started else {
        unreachable!("{started:?}");
    };
    assert!(
        matches!(
            error,
            agent_bash_core::NotStarted::JobNeedsSupervisor { .. }
        ),
        "{error}"
    );
    assert!(!marker.exists());
}

/// Ends once a daemon runs that has left everything by which it could be identified, except the
/// mark of a census.
fn daemon(census: &Census, directory: &Path) -> RunSpec {
    let (name, value) = census.variable();
    let script = format!(
        "(env -i {}={} setsid bash -c ': >{directory}/there; exec sleep 1000' <&- >/dev/null 2>&1 &)
         until [[ -e {directory}/there ]]; do sleep .01; done; echo done",
        name.display(),
        value.display(),
        directory = directory.display(),
    );
    spec(&script).survivors(SurvivorPolicy::Kill)
}

/// A limit of the fallback: a process without any mark escapes.
#[tokio::test(flavor = "multi_thread")]
async fn process_without_marks_is_not_found() {
    let directory = tempfile::tempdir().unwrap();
    let census = Census::new();
    assert_eq!(run(&daemon(&census, directory.path())).await.out, "done\n");
    census.wait_for("sleep").await;
}

/// The negative control.
#[tokio::test(flavor = "multi_thread")]
async fn supervisor_finds_every_process() {
    let directory = tempfile::tempdir().unwrap();
    let census = Census::new();
    let spec = daemon(&census, directory.path());
    assert_eq!(support::run(&spec).await.out, "done\n");
    assert_eq!(census.commands(), []);
}

/// A limit of the fallback: the thread dies with its host.
#[tokio::test(flavor = "multi_thread")]
async fn killed_host_leaves_its_command_running() {
    let census = Census::new();
    let mut host = command(env!("CARGO_BIN_EXE_exec-test-host"))
        .args(["sleep 1000; :", "fallback"])
        .envs([census.variable()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    census.wait_for("sleep").await;
    rustix::process::kill_process(Pid::from_child(&host), Signal::KILL).unwrap();
    host.wait().unwrap();
    assert!(census.commands().iter().any(|found| found.name == "sleep"));
}

#[tokio::test(flavor = "multi_thread")]
async fn time_limit_stops_the_shell_of_a_session_first() {
    let directory = tempfile::tempdir().unwrap();
    let next = directory.path().join("next");
    let spec = spec(&format!("sleep 1000; : >{}", next.display()))
        .session(SessionName("a".into()))
        .timeout(Duration::from_millis(100));
    let ran = tokio::time::timeout(SOON, run(&spec)).await.unwrap();
    assert!(matches!(ran.outcome.ending, ScriptEnding::TimedOut { .. }));
    assert!(!next.exists());
}

/// A limit of the fallback: no terminals. Control: a supervisor does look for it.
#[tokio::test(flavor = "multi_thread")]
async fn terminal_is_refused() {
    let start = || TerminalStart {
        start: ShellStart::of(&Shell::bash("/bin/bash"), Vec::new()),
        terminal: "/nonexistent/terminal".into(),
        commit: String::new(),
    };
    for (supervisor, reason) in [
        (Supervisor::fallback(), "a supervisor of its own"),
        (options().supervisor, "No such file"),
    ] {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let env = support::environment();
        let mut supervised = supervisor.launch(&env, &clock).await.unwrap();
        let script = tempfile::tempfile().unwrap();
        let refused = supervised.start_on_terminal(start(), script.as_fd()).await;
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(reason), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parent_of_a_shell_is_the_host() {
    let own = format!("{}\n", std::process::id());
    assert_eq!(run(&spec("echo $PPID")).await.out, own);
    let supervised = support::run(&spec("echo $PPID")).await;
    assert_ne!(supervised.out, own);
}

/// A limit of the fallback: a host that reaps all children takes the shell's status, too. With a
/// supervisor this has no effect.
#[tokio::test(flavor = "multi_thread")]
async fn host_that_ignores_sigchld_loses_the_status() {
    for (how, code) in [("fallback", OTHER_ENDING), ("", 7)] {
        let census = Census::new();
        let script = r#"trap '' CHLD; exec "$0" 'sleep 1000 & exit 7' "$1""#;
        let host = command("bash")
            .args(["-c", script, env!("CARGO_BIN_EXE_exec-test-host"), how])
            .envs([census.variable()])
            .output()
            .unwrap();
        assert_eq!(host.status.code(), Some(code), "{how}: {host:?}");
        let lives = census.commands().iter().any(|found| found.name == "sleep");
        assert_eq!(lives, how.is_empty(), "its tree is ended with it");
    }
}
