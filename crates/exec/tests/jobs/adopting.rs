//! What a call leaves behind becomes a job.

use crate::support::{Collect, SOON, options, soon};
use crate::world::World;
use agent_bash_core::{Cancel, Executor, NoticeKind, Outcome, RunSpec, Streams, Survivor};
use agent_bash_exec::{JobKind, JobState, ShellCache};
use agent_bash_process::supervisor::JobEnding;
use std::fs::{self, OpenOptions};
use std::path::PathBuf;

const UNTIL_SLEEP: &str = "until [[ $(</proc/$!/comm) == sleep ]]; do :; done";

/// Runs a call whose output is kept in a file, as a pipeline keeps it.
async fn call(world: &World, script: &str) -> (Outcome, PathBuf) {
    let path = world.dir.path().join("artifact");
    let spec = RunSpec {
        streams: Streams::Merged,
        ..world.spec(&script.replace("UNTIL", UNTIL_SLEEP))
    };
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
async fn survivors_are_one_job_that_ends_with_the_last() {
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
    // The notice names it, too.
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
    assert_eq!(world.end(&id).await.ending, JobEnding::Gone);
    world.census.assert_empty_soon("the last one's end").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn their_output_goes_on_in_the_calls_file_without_a_line_of_ours() {
    let world = World::new();
    let (outcome, path) = call(
        &world,
        "(until [[ -e go ]]; do sleep .01; done; echo late) & echo hi",
    )
    .await;
    let id = survivor(&outcome).job.clone().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "");
    world.touch("go");
    assert_eq!(world.end(&id).await.ending, JobEnding::Gone);
    assert_eq!(fs::read_to_string(&path).unwrap(), "late\n");
    let part = world.jobs.output(&id, crate::world::from(0, 100)).unwrap();
    assert_eq!((&part.bytes[..], part.complete), (&b"late\n"[..], true));
}

#[tokio::test(flavor = "multi_thread")]
async fn they_are_ended_like_any_job() {
    for script in [
        "sleep 1000 & UNTIL; echo hi",
        "setsid sleep 1000 <&- >&- 2>&- & UNTIL; echo hi",
        "trap '' TERM; sleep 1000 & UNTIL; echo hi",
    ] {
        let world = World::new();
        let (outcome, _) = call(&world, script).await;
        let id = survivor(&outcome).job.clone().unwrap();
        assert_eq!(world.census.commands().len(), 1);
        let JobState::Ended(end) = world.kill(&id).await.state else {
            panic!("{script}");
        };
        assert_eq!(end.ending, JobEnding::Gone);
        assert_eq!(world.census.everybody(), [], "{script}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_registry_they_live_on_without_an_entry() {
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
async fn a_registry_that_cannot_be_used_costs_nobody_his_life() {
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
async fn a_call_that_leaves_nobody_makes_no_job() {
    let world = World::new();
    let (outcome, _) = call(&world, "echo hi").await;
    assert_eq!(outcome.survivors, []);
    assert_eq!(world.jobs.list().unwrap(), []);
}
