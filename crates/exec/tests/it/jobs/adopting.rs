//! Survivors of a call become a job.

use super::world::{World, signaled};
use crate::support::{Collect, SOON, options, soon};
use agent_bash_core::{
    Cancel, Executor, NoticeKind, Outcome, RunSpec, ScriptEnding, SessionName, Streams, Survivor,
};
use agent_bash_exec::{JobKind, JobState, ShellCache};
use std::fs::{self, OpenOptions};
use std::path::PathBuf;
use std::time::Duration;

const UNTIL_SLEEP: &str = "until [[ $(</proc/$!/comm) == sleep ]]; do :; done";

/// Runs a call that stores its output in a file. Returns the outcome and the file.
async fn call(world: &World, script: &str) -> (Outcome, PathBuf) {
    run(world, world.spec(script)).await
}

/// Runs a call like [`call`], in a session.
async fn in_session(world: &World, script: &str) -> (Outcome, PathBuf) {
    let session = Some(SessionName("a".into()));
    let spec = world.spec(script);
    run(world, spec.session(session)).await
}

async fn run(world: &World, spec: RunSpec) -> (Outcome, PathBuf) {
    let path = world.dir.path().join("artifact");
    let script = spec.script.replace("UNTIL", UNTIL_SLEEP);
    let spec = spec.streams(Streams::Merged).script(script);
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .unwrap();
    let mut out = Collect {
        survivors_file: Some(file),
        ..Collect::default()
    };
    let cancel = Cancel::new();
    let run = world.cache.run(&spec, &mut out, &cancel);
    let outcome = tokio::time::timeout(SOON, run).await.unwrap().unwrap();
    (outcome, path)
}

fn survivor(outcome: &Outcome) -> &Survivor {
    outcome.survivors.first().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn survivors_become_one_job_that_ends_with_the_last_of_them() {
    let world = World::new();
    let (outcome, path) = call(&world, "sleep 1000 & UNTIL; sleep 2000 & UNTIL; echo hi").await;
    let jobs: Vec<_> = outcome
        .survivors
        .iter()
        .map(|one| one.job.clone())
        .collect();
    assert_eq!(jobs.len(), 2);
    assert_eq!(jobs[0], jobs[1]);
    let id = jobs[0].clone().unwrap();
    // The notice names the job, too.
    let NoticeKind::Survivors { survivors } = &outcome.notices[0].kind else {
        panic!("{outcome:?}");
    };
    assert_eq!(survivors, &outcome.survivors);

    let later = world.again();
    let job = later.show(&id).unwrap();
    assert_eq!(
        (job.kind, &job.state),
        (JobKind::Adopted, &JobState::Running)
    );
    assert_eq!(job.pid, outcome.survivors[0].pid);
    assert_eq!(job.output, Some(path));
    assert!(job.command.starts_with("sleep 1000 &"));
    assert_eq!(later.processes(&id).await.unwrap().len(), 2);

    let sleeps = world.census.commands();
    assert_eq!(sleeps.len(), 2);
    sleeps[0].end();
    assert!(soon(|| !sleeps[0].lives()).await);
    assert_eq!(later.show(&id).unwrap().state, JobState::Running);
    sleeps[1].end();
    assert_eq!(world.end(&id).await.ending, ScriptEnding::AllEnded);
    world.census.assert_empty_soon("the last one's end").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn survivors_output_is_appended_to_the_calls_file_unchanged() {
    let world = World::new();
    let (outcome, path) = call(
        &world,
        "(until [[ -e go ]]; do sleep .01; done; echo late) & echo hi",
    )
    .await;
    let id = survivor(&outcome).job.clone().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "");
    world.touch("go");
    assert_eq!(world.end(&id).await.ending, ScriptEnding::AllEnded);
    assert_eq!(fs::read_to_string(&path).unwrap(), "late\n");
    let job = world.jobs.show(&id).unwrap();
    assert!(!job.is_asked_to_end && job.adopted_at >= Some(job.started_at));
    let part = world.jobs.output(&id, super::world::from(0, 100)).unwrap();
    assert_eq!((&part.bytes[..], part.complete), (&b"late\n"[..], true));
}

#[tokio::test(flavor = "multi_thread")]
async fn adopted_survivors_can_be_killed_as_a_job() {
    let (terminated, killed) = (signaled(15, "SIGTERM"), signaled(9, "SIGKILL"));
    for (script, ending) in [
        ("sleep 1000 & UNTIL; echo hi", &terminated),
        (
            "setsid sleep 1000 <&- >&- 2>&- & UNTIL; echo hi",
            &terminated,
        ),
        ("trap '' TERM; sleep 1000 & UNTIL; echo hi", &killed),
    ] {
        let world = World::new();
        let (outcome, _) = call(&world, script).await;
        let id = survivor(&outcome).job.clone().unwrap();
        assert_eq!(world.census.commands().len(), 1);
        let JobState::Ended(end) = world.kill(&id).await.state else {
            panic!("{script}");
        };
        assert_eq!(end.ending, *ending, "{script}");
        // Their exit status is not known, but the registry records the request to end them, and
        // they are listed however soon they ended.
        let job = world.jobs.show(&id).unwrap();
        assert!(
            job.is_asked_to_end && !job.ended_within_a_second(),
            "{script}"
        );
        assert_eq!(world.census.all(), [], "{script}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn survivors_continue_without_a_job_if_there_is_no_registry() {
    let world = World::new();
    let cache = ShellCache::new(options());
    let spec = world.spec(&format!("sleep 1000 & {UNTIL_SLEEP}"));
    let outcome = cache
        .run(&spec, &mut Collect::default(), &Cancel::new())
        .await;
    assert_eq!(survivor(&outcome.unwrap()).job, None);
    assert_eq!(world.jobs.list().unwrap(), []);
    assert_eq!(world.census.commands().len(), 1);
    world.census.end_all();
}

#[tokio::test(flavor = "multi_thread")]
async fn survivors_continue_if_the_registry_is_unusable() {
    let world = World::new();
    fs::create_dir_all(world.registry().parent().unwrap()).unwrap();
    fs::write(world.registry(), "no directory").unwrap();
    let (outcome, path) = call(
        &world,
        "(until [[ -e go ]]; do sleep .01; done; echo late) & echo hi",
    )
    .await;
    assert_eq!(survivor(&outcome).job, None);
    world.touch("go");
    assert!(soon(|| fs::read_to_string(&path).unwrap() == "late\n").await);
    world.census.assert_empty_soon("its end").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn call_without_survivors_creates_no_job() {
    let world = World::new();
    let (outcome, _) = call(&world, "echo hi").await;
    assert_eq!(outcome.survivors, []);
    assert_eq!(world.jobs.list().unwrap(), []);
}

/// Survivors of a session's call are a separate job, which can be ended without the shell.
#[tokio::test(flavor = "multi_thread")]
async fn session_survivors_become_jobs_without_the_shell() {
    let world = World::new();
    let read = |name: &str| fs::read_to_string(world.dir.path().join(name)).unwrap();
    let (first, _) = in_session(&world, "x=5; sleep 1000 & UNTIL; echo $$ $x >first").await;
    let survivors = &first.survivors;
    assert_eq!((survivors.len(), survivors[0].holds_output), (1, true));
    let id = survivors[0].job.clone().unwrap();
    assert_eq!(world.jobs.processes(&id).await.unwrap().len(), 1);
    // Survivors of the previous call belong neither to this call nor to its job.
    let script = "(trap '' TERM; sleep 2000 >/dev/null 2>&1 & wait $! 2>/dev/null) >/dev/null 2>&1 & until pgrep -P $! sleep >/dev/null; do :; done";
    let (second, _) = in_session(&world, script).await;
    assert_eq!(second.survivors.len(), 2, "{second:?}");
    assert!(second.survivors.iter().all(|one| !one.holds_output));
    let other = survivor(&second).job.clone().unwrap();
    assert_ne!(id, other);

    for (id, left) in [(&other, 1), (&id, 0)] {
        let JobState::Ended(end) = world.kill(id).await.state else {
            panic!("{id:?}");
        };
        assert!(
            matches!(end.ending, ScriptEnding::Signaled { .. }),
            "{end:?}"
        );
        assert!(!end.has_remaining);
        let sleeps = world.census.commands();
        let sleeps = sleeps.iter().filter(|found| found.name == "sleep");
        assert_eq!(sleeps.count(), left);
        // Killing again is harmless.
        world.kill(id).await;
    }
    in_session(&world, "echo $$ $x >last").await;
    assert_eq!(read("first"), read("last"), "it is the same shell");
}

#[tokio::test(flavor = "multi_thread")]
async fn session_survivors_append_to_their_calls_file() {
    let world = World::new();
    let script = "(until [[ -e go ]]; do sleep .01; done; echo late) & echo early";
    let (outcome, path) = in_session(&world, script).await;
    let id = survivor(&outcome).job.clone().unwrap();
    assert_eq!(world.jobs.show(&id).unwrap().output, Some(path.clone()));
    world.touch("go");
    assert_eq!(world.end(&id).await.ending, ScriptEnding::AllEnded);
    assert_eq!(fs::read_to_string(&path).unwrap(), "late\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn session_survivors_outlive_the_session() {
    for last in ["", "exit 3", "kill -9 $$", "sleep 3000"] {
        let mut world = World::new();
        let (outcome, _) = in_session(&world, "sleep 1000 & UNTIL").await;
        let id = survivor(&outcome).job.clone().unwrap();
        if !last.is_empty() {
            let session = Some(SessionName("a".into()));
            let timeout = Some(Duration::from_millis(300));
            let spec = world.spec(last);
            let spec = spec.session(session).timeout(timeout);
            let (ended, _) = run(&world, spec).await;
            assert_ne!(ended.ending, ScriptEnding::Exited { code: 0 }, "{last}");
            assert_eq!(ended.survivors, [], "{last}");
        }
        world.cache = ShellCache::new(options());
        let alone = || world.census.commands().len() == 1;
        assert!(soon(alone).await, "{last}: {:?}", world.census.commands());
        assert_eq!(world.census.commands()[0].name, "sleep", "{last}");
        let later = world.again();
        assert_eq!(later.show(&id).unwrap().state, JobState::Running, "{last}");
        later.kill(&id, Duration::from_secs(1)).await.unwrap();
        let ending = world.end(&id).await.ending;
        assert_eq!(ending, signaled(15, "SIGTERM"), "{last}");
        world.census.assert_empty_soon(last).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn survivors_of_a_sessions_last_call_become_a_job() {
    let mut world = World::new();
    let (outcome, _) = in_session(&world, "sleep 1000 & UNTIL; exit 3").await;
    assert_eq!(outcome.ending, ScriptEnding::Exited { code: 3 });
    let id = survivor(&outcome).job.clone().unwrap();
    world.cache = ShellCache::new(options());
    assert_eq!(
        world.kill(&id).await.state,
        world.jobs.show(&id).unwrap().state
    );
    world.census.assert_empty_soon("its end").await;
}

/// Negative control: without a registry they belong to the session, and end with it.
#[tokio::test(flavor = "multi_thread")]
async fn session_survivors_end_with_the_session_without_a_registry() {
    let mut world = World::new();
    world.cache = ShellCache::new(options());
    let (outcome, _) = in_session(&world, "sleep 1000 & UNTIL").await;
    assert_eq!(survivor(&outcome).job, None);
    assert_eq!(world.census.commands().len(), 2);
    world.cache = ShellCache::new(options());
    world.census.assert_empty_soon("the session").await;
}
