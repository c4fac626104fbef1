//! The result of a start, what the command finds, and when starting is refused.

use super::world::{Early, World, all_of};
use crate::support::{Collect, run_in};
use agent_bash_core::ScriptEnding;
use agent_bash_core::{Cancel, Executor, Streams};
use agent_bash_exec::{JobError, JobKind, JobState, JobStdin, JobsOptions, ShellCache};
use agent_bash_process::ProcessInfo;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

#[tokio::test(flavor = "multi_thread")]
async fn start_returns_process_group_and_output_file() {
    let world = World::new();
    let job = world.start("echo $$ $BASHPID; sleep 1000").await;
    assert_eq!((&*job.id.0, job.kind), ("1", JobKind::Started));
    assert_eq!(job.state, JobState::Running);
    assert_eq!(job.command, "echo $$ $BASHPID; sleep 1000");
    assert_eq!(Path::new(&job.cwd), world.dir.path());
    assert_eq!(job.output, Some(world.registry().join("1/output")));
    let line = format!("{0} {0}\n", job.pid);
    world.printed(&job, &line).await;
    let shell = ProcessInfo::read(i32::try_from(job.pid).unwrap()).unwrap();
    assert_eq!(shell.group, i32::try_from(job.pgid).unwrap());
    assert_eq!(world.again().list().unwrap(), std::slice::from_ref(&job));
    assert_eq!(world.again().show(&job.id).unwrap(), job);
    world.kill(&job.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn job_that_ends_early_is_reported_as_ended() {
    let world = World::with(Early::Never, |options| options);
    let job = world.start("echo no; exit 7").await;
    let JobState::Ended(end) = &job.state else {
        panic!("{job:?}");
    };
    assert_eq!(end.ending, ScriptEnding::Exited { code: 7 });
    assert_eq!(all_of(&job), "no\n");
    // A job that outlives its first moments is reported as running.
    let world = World::new();
    let job = world.start("sleep 1000").await;
    assert_eq!(job.state, JobState::Running);
    world.kill(&job.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_start_leaves_no_files() {
    let world = World::with(Early::Never, |options| options);
    let plain = world.spec("touch ran");
    let missing = |path: &str| plain.clone().cwd(path);
    let mut no_shell = plain.clone();
    no_shell.shell.path = "/nonexistent/bash".into();
    for (spec, reason) in [
        (
            missing("/nonexistent"),
            "`/nonexistent` could not be entered",
        ),
        (missing("/dev/null"), "`/dev/null` could not be entered"),
        (no_shell, "/nonexistent/bash"),
    ] {
        let error = world.try_start(&spec, JobStdin::Null).await.unwrap_err();
        assert!(matches!(&error, JobError::NotStarted(_)), "{error:?}");
        assert!(error.to_string().contains(reason), "{error}");
    }
    assert_eq!(world.jobs.list().unwrap(), []);
    let left: Vec<String> = fs::read_dir(world.registry())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(
        !left.iter().any(|name| name.parse::<u64>().is_ok()),
        "{left:?}"
    );
    assert!(!world.dir.path().join("ran").exists());
    world.census.assert_empty_soon("nothing was started").await;
    // With a working command it does run.
    let job = world.try_start(&plain, JobStdin::Null).await.unwrap();
    world.end(&job.id).await;
    assert!(world.dir.path().join("ran").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_start_starts_nothing() {
    let world = World::new();
    let cancel = Cancel::new();
    cancel.cancel();
    let spec = world.spec("touch ran");
    let error = world.cache.start_job(&spec, JobStdin::Null, &cancel).await;
    assert!(matches!(error, Err(JobError::Cancelled)));
    assert_eq!(world.jobs.list().unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn cache_without_jobs_refuses_a_job() {
    let world = World::new();
    let cache = ShellCache::new(crate::support::options());
    let started = cache
        .start_job(&world.spec("true"), JobStdin::Null, &Cancel::new())
        .await;
    assert!(matches!(started, Err(JobError::NoDirectory)));
}

#[tokio::test(flavor = "multi_thread")]
async fn job_has_the_environment_of_a_call() {
    const SCRIPT: &str = "env | grep -v ^_= | sort; pwd; echo \"$-|$0|$#\"; umask; readlink /proc/$$/fd/0; \
                          ls /proc/$$/fd; grep -e SigIgn -e SigBlk /proc/self/status; shopt; caller; false; echo $? $LINENO";
    let world = World::new();
    let mut spec = world.spec(SCRIPT);
    spec.env
        .changes
        .insert("A".into(), Some("it's \"$x\"\n".into()));
    spec.env.changes.insert("HOME".into(), None);
    spec.streams = Streams::Merged;
    let called = run_in(&world.cache, &spec).await;
    let job = world.try_start(&spec, JobStdin::Null).await.unwrap();
    world.end(&job.id).await;
    let text = all_of(&job);
    assert!(called.out.contains("it's"), "{}", called.out);
    assert_eq!(text, called.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn job_uses_a_warm_shell_unless_it_was_killed() {
    let world = World::with(Early::Never, |options| options);
    let warm = ShellCache::new(agent_bash_exec::ShellCacheOptions {
        jobs: Some(world.jobs.clone()),
        warm_shells: 1,
        ..crate::support::options()
    });
    let spec = world.spec("echo $$").streams(Streams::Merged);
    for kill in [false, true] {
        let mut out = Collect::default();
        warm.run(&spec, &mut out, &Cancel::new()).await.unwrap();
        assert!(crate::support::soon(|| warm.warm_shells() == 1).await);
        let waiting = world.census.wait_for("bash").await;
        if kill {
            waiting.end();
        }
        let job = warm
            .start_job(&spec, JobStdin::Null, &Cancel::new())
            .await
            .unwrap();
        let end = world.end(&job.id).await;
        assert_eq!(end.ending, ScriptEnding::Exited { code: 0 });
        let same = all_of(&job).starts_with(&format!("{}\n", waiting.pid));
        assert_eq!(same, !kill, "{}", all_of(&job));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn seventeenth_job_is_refused_until_one_ends() {
    let world = World::new();
    for _ in 0..16 {
        world.start("sleep 1000").await;
    }
    let refused = world
        .try_start(&world.spec("touch ran"), JobStdin::Null)
        .await
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "16 background jobs are running, which is the limit (16); end one with `kill` or wait for one"
    );
    assert!(!world.dir.path().join("ran").exists());
    let all = world.jobs.list().unwrap();
    assert_eq!(all.len(), 16);
    world.kill(&all[3].id).await;
    let next = world.start("sleep 1000").await;
    // The refused job did not use up a number.
    assert_eq!(next.id.0, "17");
    for job in world.jobs.list().unwrap() {
        world.kill(&job.id).await;
    }
    world.census.assert_empty_soon("all were killed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn adopted_survivors_do_not_count_towards_the_limit() {
    let world = World::with(Early::AtOnce, |options| JobsOptions {
        max_running: 1,
        ..options
    });
    let spec = world.spec("sleep 1000 & until [[ $(</proc/$!/comm) == sleep ]]; do :; done");
    let ran = run_in(&world.cache, &spec).await;
    assert!(ran.outcome.survivors[0].job.is_some());
    let job = world.start("sleep 1000").await;
    assert!(world.try_start(&spec, JobStdin::Null).await.is_err());
    world.kill(&job.id).await;
    world
        .kill(ran.outcome.survivors[0].job.as_ref().unwrap())
        .await;
    world.census.assert_empty_soon("both were killed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn job_files_are_private() {
    let world = World::new();
    let job = world.start("sleep 1000").await;
    let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777;
    let registry = world.registry();
    assert_eq!(mode(registry.parent().unwrap()), 0o700);
    assert_eq!(mode(&registry), 0o700);
    assert_eq!(mode(&registry.join("1")), 0o700);
    for name in ["next", "lock", "1/job.json", "1/end.new", "1/output"] {
        assert_eq!(mode(&registry.join(name)), 0o600, "{name}");
    }
    world.kill(&job.id).await;
}
