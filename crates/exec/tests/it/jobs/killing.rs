//! Ending jobs, waiting for them, and jobs whose supervisor was killed.

use super::world::{World, all_of, signaled};
use crate::support::{SOON, soon};
use agent_bash_core::ScriptEnding;
use agent_bash_core::{Cancel, JobId};
use agent_bash_exec::{Job, JobError, JobState, JobStdin, WaitOutcome};
use agent_bash_process::{ProcessIdentity, ProcessInfo};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Ways of surviving. Each leaves a `sleep` somewhere and prints `up`.
const SHAPES: &[(&str, &str)] = &[
    ("plain", "echo up; sleep 1000"),
    ("in the background", "sleep 1000 & echo up"),
    ("session of its own", "setsid sleep 1000 & echo up; wait"),
    (
        "daemon",
        "(setsid sleep 1000 <&- >&- 2>&- &); echo up; tail -f /dev/null",
    ),
    (
        "deaf",
        "trap '' TERM HUP; echo up; while :; do sleep 1000; done",
    ),
    (
        "stopped",
        "sleep 1000 & until [[ $(</proc/$!/comm) == sleep ]]; do :; done; echo up; kill -STOP $! $$",
    ),
    (
        "with its supervisor stopped",
        "sleep 1000 & echo up; until [[ -e go ]]; do :; done; kill -STOP $PPID; wait",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn kill_from_any_host_leaves_no_process() {
    for (name, script) in SHAPES {
        let world = World::new();
        let job = world.start(script).await;
        world.printed(&job, "up").await;
        world.touch("go");
        if script.contains("PPID") {
            assert!(soon(|| world.census.supervisors()[0].state == 'T').await);
        }
        // The job is running, and does not end by itself.
        world.census.wait_for("sleep").await;
        assert_eq!(
            world.jobs.show(&job.id).unwrap().state,
            JobState::Running,
            "{name}"
        );
        let grace = Duration::from_millis(300);
        let killed = tokio::time::timeout(SOON, world.again().kill(&job.id, grace)).await;
        let killed = killed.unwrap().unwrap();
        assert_eq!(killed.survivors, [], "{name}");
        assert_eq!(world.census.all(), [], "{name}");
        let JobState::Ended(end) = &killed.job.state else {
            panic!("{name}: {killed:?}");
        };
        assert!(!end.has_remaining, "{name}");
        assert_eq!(all_of(&job), "up\n", "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_runs_the_trap_and_stores_its_output() {
    let world = World::new();
    let script = "trap 'echo bye; exit 9' TERM; echo hi; sleep 1000 & wait";
    let job = world.start(script).await;
    world.printed(&job, "hi").await;
    // A long grace period does not cause a delay.
    let killed = world.jobs.kill(&job.id, Duration::from_secs(1000));
    let killed = tokio::time::timeout(SOON, killed).await.unwrap().unwrap();
    let JobState::Ended(end) = killed.job.state else {
        panic!("{killed:?}");
    };
    assert_eq!(end.ending, ScriptEnding::Exited { code: 9 });
    assert_eq!(all_of(&job), "hi\nbye\n");
}

/// Both the time limit and a kill start with SIGTERM. A process that ignores it is killed at the
/// earlier of the two deadlines.
#[tokio::test(flavor = "multi_thread")]
async fn shorter_grace_period_of_kill_and_time_limit_applies() {
    const LONG: Duration = Duration::from_secs(1000);
    const SHORT: Duration = Duration::from_millis(100);
    const TIME_LIMIT: Duration = Duration::from_secs(2);
    let script = "trap 'echo told' TERM; echo up; while :; do sleep .01; done";
    for (of_limit, of_kill) in [(LONG, SHORT), (SHORT, LONG)] {
        let world = World::new();
        let is_first = of_limit == LONG;
        let spec = world.spec(script).timeout(TIME_LIMIT).grace(of_limit);
        let job = world.try_start(&spec, JobStdin::Null).await.unwrap();
        world
            .printed(&job, if is_first { "told" } else { "up" })
            .await;
        let killed = tokio::time::timeout(SOON, world.jobs.kill(&job.id, of_kill)).await;
        let killed = killed.expect("the longer one was waited for").unwrap();
        assert_eq!(killed.survivors, []);
        let JobState::Ended(end) = killed.job.state else {
            panic!("{killed:?}");
        };
        assert_eq!(
            (end.ending, end.has_remaining),
            (ScriptEnding::TimedOut { after: TIME_LIMIT }, false)
        );
        world.census.assert_empty_soon("a kill").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_without_grace_runs_no_trap() {
    let world = World::new();
    let script = "trap 'echo bye' TERM; echo hi; while :; do sleep .01; done";
    let job = world.start(script).await;
    world.printed(&job, "hi").await;
    world.jobs.kill(&job.id, Duration::ZERO).await.unwrap();
    assert_eq!(world.end(&job.id).await.ending, signaled(9, "SIGKILL"));
    assert!(!all_of(&job).contains("bye"));
}

#[tokio::test(flavor = "multi_thread")]
async fn killing_twice_changes_nothing() {
    let world = World::new();
    let job = world.start("exit 5").await;
    let end = world.end(&job.id).await;
    world.census.assert_empty_soon("its end").await;
    for _ in 0..2 {
        assert_eq!(
            world.kill(&job.id).await.state,
            JobState::Ended(end.clone())
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_returns_at_end_deadline_or_cancel_without_killing() {
    let world = World::new();
    let job = world
        .start("until [[ -e go ]]; do sleep .01; done; exit 4")
        .await;
    let jobs = world.again();
    let short = Some(Duration::from_millis(30));
    let waited = jobs.wait(&job.id, short, &Cancel::new()).await.unwrap();
    assert!(matches!(waited, WaitOutcome::StillRunning(_)), "{waited:?}");
    let cancel = Cancel::new();
    let waiting = jobs.wait(&job.id, None, &cancel);
    let (waited, ()) = tokio::join!(waiting, async { cancel.cancel() });
    assert!(
        matches!(waited, Ok(WaitOutcome::Cancelled(_))),
        "{waited:?}"
    );
    assert_eq!(jobs.show(&job.id).unwrap().state, JobState::Running);

    let cancel = Cancel::new();
    let waiting = jobs.wait(&job.id, Some(SOON), &cancel);
    let (waited, ()) = tokio::join!(waiting, async { world.touch("go") });
    let Ok(WaitOutcome::Over(Job {
        state: JobState::Ended(end),
        ..
    })) = waited
    else {
        panic!("{waited:?}");
    };
    assert_eq!(end.ending, ScriptEnding::Exited { code: 4 });
}

#[tokio::test(flavor = "multi_thread")]
async fn job_with_killed_supervisor_is_lost_and_can_be_ended() {
    let world = World::new();
    let script = "setsid sleep 1000 & (trap '' TERM; while :; do sleep 2000; done) & echo up; wait";
    let job = world.start(script).await;
    world.printed(&job, "up").await;
    let two = || {
        world
            .census
            .commands()
            .iter()
            .filter(|found| found.name == "sleep")
            .count()
            == 2
    };
    assert!(soon(two).await);
    for supervisor in world.census.supervisors() {
        supervisor.end();
    }
    let jobs = world.again();
    assert!(soon(|| matches!(jobs.show(&job.id).unwrap().state, JobState::Lost { .. })).await);
    let waited = jobs.wait(&job.id, None, &Cancel::new()).await.unwrap();
    assert!(matches!(waited, WaitOutcome::Over(_)), "{waited:?}");
    // No end was observed, so none is reported.
    assert_eq!(all_of(&job), "up\n");
    // The processes are alive and found: in the job's process session, or by the output that they
    // hold.
    let left = jobs.processes(&job.id).await.unwrap();
    let sleeps = left
        .iter()
        .filter(|left| left.command.starts_with("sleep"))
        .count();
    assert_eq!(sleeps, 2, "{left:?}");
    assert!(two());
    let grace = Duration::from_millis(100);
    let killed = tokio::time::timeout(SOON, jobs.kill(&job.id, grace)).await;
    assert!(matches!(
        killed.unwrap().unwrap().job.state,
        JobState::Lost { .. }
    ));
    world.census.assert_empty_soon("leftovers were ended").await;
}

/// Changes the supervisor's identity in a job's entry.
fn forge(directory: &Path, change: impl FnOnce(&mut Value)) {
    let path = directory.join("job.json");
    let mut entry: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut entry["supervisor"]);
    fs::write(path, entry.to_string()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn process_with_a_reused_pid_is_not_the_job() {
    let world = World::new();
    let job = world.start("true").await;
    world.end(&job.id).await;
    world.census.assert_empty_soon("its end").await;
    let directory = world.registry().join(&job.id.0);
    fs::remove_file(directory.join("end.json")).unwrap();

    // An unrelated session, with the pid that the supervisor had.
    let mut other = crate::support::command("setsid")
        .args(["bash", "-c", "sleep 1000 & wait"])
        .envs([world.census.variable()])
        .spawn()
        .unwrap();
    // Its leader has that pid, and a member is in that session.
    let member = world.census.wait_for("sleep").await;
    let session = ProcessInfo::read(member.pid).unwrap().session;
    let stranger = world.census.wait_for("bash").await;
    let info = ProcessInfo::read(stranger.pid).unwrap();
    assert_eq!((info.session, info.pid), (session, session));
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let namespace = ProcessIdentity::current().namespace;
    let identity = |start_time: u64, boot: &str| json!({"pid": stranger.pid, "start_time": start_time, "boot": boot.trim(), "namespace": namespace});
    for (forged, state) in [
        (
            identity(info.start_time - 1, &boot),
            "supervisor was killed",
        ),
        (identity(info.start_time, "another"), "system restarted"),
    ] {
        forge(&directory, |supervisor| *supervisor = forged);
        let found = world.jobs.show(&job.id).unwrap().state;
        let JobState::Lost { reason } = &found else {
            panic!("{found:?}");
        };
        assert!(reason.contains(state), "{reason}");
        assert_eq!(world.jobs.processes(&job.id).await.unwrap(), []);
        world.jobs.kill(&job.id, Duration::ZERO).await.unwrap();
        assert!(stranger.lives() && member.lives());
    }
    // A process with the same pid, start time and boot id is the same process, as far as the system
    // tells.
    forge(&directory, |supervisor| {
        *supervisor = identity(info.start_time, &boot);
    });
    assert_eq!(world.jobs.show(&job.id).unwrap().state, JobState::Running);
    let unreachable = world.jobs.kill(&job.id, Duration::ZERO).await;
    assert!(
        matches!(unreachable, Err(JobError::Unreachable { .. })),
        "{unreachable:?}"
    );
    // The numbers of another pid namespace cannot be checked here: the process may be alive.
    forge(&directory, |supervisor| supervisor["namespace"] = json!(1));
    assert_eq!(world.jobs.show(&job.id).unwrap().state, JobState::Running);
    assert!(stranger.lives() && member.lives());
    stranger.end();
    member.end();
    other.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_job_is_an_error() {
    let world = World::new();
    for id in [
        "1", "0", "01", "-1", "", "x", "../1", "1/", "99999999999999999999",
    ] {
        let id = JobId(id.to_owned());
        let error = world.jobs.show(&id).unwrap_err();
        assert!(matches!(error, JobError::Unknown { .. }), "{error:?}");
        assert!(world.jobs.kill(&id, Duration::ZERO).await.is_err());
        assert!(world.jobs.wait(&id, None, &Cancel::new()).await.is_err());
    }
    let job = world.start("true").await;
    assert!(world.jobs.show(&JobId("1".into())).is_ok());
    assert!(world.jobs.show(&JobId("01".into())).is_err());
    world.end(&job.id).await;
}
