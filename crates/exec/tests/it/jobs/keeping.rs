//! Jobs stay listed for their time, and their numbers are not reused.

use super::world::{DAY, World};
use agent_bash_core::JobId;
use std::fs;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn clean_removes_expired_jobs_and_never_reuses_numbers() {
    let world = World::new();
    let old = world.start("true").await;
    world.end(&old.id).await;
    let running = world.start("sleep 1000").await;
    world.census.wait_for("sleep").await;
    world.clock.age(Duration::from_secs(24 * 60 * 60 - 60));
    assert_eq!(world.jobs.clean().await.unwrap(), 0);
    world.clock.age(Duration::from_secs(120));
    // A running job is kept however old it is.
    assert_eq!(world.jobs.clean().await.unwrap(), 1);
    let left = world.jobs.list().unwrap();
    assert_eq!(
        left.iter().map(|job| &job.id).collect::<Vec<_>>(),
        [&running.id]
    );
    assert!(!world.registry().join(&old.id.0).exists());

    world.kill(&running.id).await;
    world.clock.age(2 * DAY);
    // Starting a job also cleans up.
    let next = world.start("true").await;
    assert_eq!(next.id, JobId("3".into()));
    assert_eq!(world.jobs.list().unwrap().len(), 1);
    world.end(&next.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clean_removes_directories_of_jobs_that_never_started() {
    let world = World::new();
    let job = world.start("true").await;
    world.end(&job.id).await;
    let half = world.registry().join("7");
    fs::create_dir(&half).unwrap();
    fs::write(half.join("job.new"), "{}").unwrap();
    assert_eq!(world.jobs.list().unwrap().len(), 1);
    assert_eq!(world.jobs.clean().await.unwrap(), 0);
    assert!(!half.exists());
    assert!(world.registry().join(&job.id.0).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn clean_keeps_unreadable_directories() {
    let world = World::new();
    let job = world.start("true").await;
    world.end(&job.id).await;
    let broken = world.registry().join("9");
    fs::create_dir(&broken).unwrap();
    fs::write(broken.join("job.json"), "{").unwrap();
    world.clock.age(2 * DAY);
    assert_eq!(world.jobs.list().unwrap().len(), 1);
    assert_eq!(world.jobs.clean().await.unwrap(), 1);
    assert!(broken.exists());
    // Its number is taken into account.
    assert_eq!(world.start("true").await.id, JobId("10".into()));
    world.end(&JobId("10".into())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clean_keeps_a_job_while_its_daemon_runs() {
    let world = World::new();
    let job = world
        .start(
            "setsid sleep 1000 <&- >&- 2>&- & until [[ $(</proc/$!/comm) == sleep ]]; do :; done",
        )
        .await;
    assert!(world.end(&job.id).await.has_remaining);
    world.clock.age(2 * DAY);
    assert_eq!(world.jobs.clean().await.unwrap(), 0);
    world.kill(&job.id).await;
    assert_eq!(world.jobs.clean().await.unwrap(), 1);
    world.census.assert_empty_soon("a kill").await;
}
