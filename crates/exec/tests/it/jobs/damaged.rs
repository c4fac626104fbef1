//! Running jobs whose files a command damaged, replaced or removed are listed and can be ended.

use super::world::World;
use crate::support::SOON;
use agent_bash_core::{Cancel, JobId, ScriptEnding};
use agent_bash_exec::{Job, JobError, JobState, WaitOutcome};
use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

const SCRIPT: &str = "trap '' TERM; sleep 1000 & sleep 1000";

fn remove_description(job: &Path) {
    fs::remove_file(job.join("job.json")).unwrap();
}

fn damage_description(job: &Path) {
    fs::write(job.join("job.json"), "{").unwrap();
}

fn replace_description_by_a_directory(job: &Path) {
    fs::remove_file(job.join("job.json")).unwrap();
    fs::create_dir(job.join("job.json")).unwrap();
}

fn name_a_dead_supervisor(job: &Path) {
    let text = fs::read_to_string(job.join("job.json")).unwrap();
    let mut entry: serde_json::Value = serde_json::from_str(&text).unwrap();
    entry["supervisor"]["start_time"] = 1.into();
    fs::write(job.join("job.json"), entry.to_string()).unwrap();
}

fn damage_the_record_of_the_end(job: &Path) {
    fs::write(job.join("end.json"), "[]").unwrap();
}

fn remove_socket(job: &Path) {
    fs::remove_file(job.join("control")).unwrap();
}

fn replace_socket(job: &Path) {
    fs::remove_file(job.join("control")).unwrap();
    // A short path leads to the directory, as the address of a socket has a limit.
    let short = tempfile::tempdir().unwrap();
    let link = short.path().join("job");
    std::os::unix::fs::symlink(job, &link).unwrap();
    let listener = UnixListener::bind(link.join("control")).unwrap();
    std::mem::forget(listener);
}

fn remove_directory(job: &Path) {
    fs::remove_dir_all(job).unwrap();
}

fn move_directory(job: &Path) {
    fs::rename(job, job.with_extension("moved")).unwrap();
}

fn mark_as_unstarted(job: &Path) {
    fs::rename(job.join("job.json"), job.join("job.new")).unwrap();
}

fn remove_all_jobs(job: &Path) {
    fs::remove_dir_all(job.parent().unwrap()).unwrap();
}

async fn listed(world: &World) -> Vec<Job> {
    world.again().list_with_ports(None).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn running_job_is_listed_and_ended_whatever_happened_to_its_files() {
    for damage in [
        remove_description,
        damage_description,
        replace_description_by_a_directory,
        name_a_dead_supervisor,
        damage_the_record_of_the_end,
        remove_socket,
        replace_socket,
        remove_directory,
        move_directory,
        mark_as_unstarted,
        remove_all_jobs,
    ] {
        let world = World::new();
        let first = world.start("sleep 1000").await;
        let job = world.start(SCRIPT).await;
        assert_eq!((&*first.id.0, &*job.id.0), ("1", "2"));
        damage(&world.registry().join("2"));
        let jobs = listed(&world).await;
        let ids: Vec<&str> = jobs.iter().map(|job| &*job.id.0).collect();
        assert_eq!(ids, ["1", "2"]);
        assert_eq!(jobs[1].state, JobState::Running);
        assert_eq!(jobs[1].command, SCRIPT);
        // Starting a job removes the directories of jobs that were not started.
        world.again().clean().await.unwrap();
        assert_eq!(listed(&world).await.len(), 2);

        let jobs = world.again();
        let killed = jobs.kill(&job.id, Duration::from_millis(50)).await.unwrap();
        assert_eq!(killed.survivors, []);
        assert_ne!(killed.job.state, JobState::Running);
        world.kill(&first.id).await;
        world.census.assert_empty_soon("both jobs ended").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn end_of_a_job_without_a_description_is_reported() {
    let world = World::new();
    let job = world.start("sleep 1000").await;
    remove_description(&world.registry().join("1"));
    let jobs = world.again();
    let cancel = Cancel::new();
    let wait = jobs.wait(&job.id, Some(SOON), &cancel);
    let killed = world.kill(&job.id);
    let (waited, killed) = tokio::join!(wait, killed);
    assert!(matches!(killed.state, JobState::Ended(_)), "{killed:?}");
    let WaitOutcome::Over(over) = waited.unwrap() else {
        panic!("the job has not ended");
    };
    let JobState::Ended(end) = over.state else {
        panic!("{:?}", over.state);
    };
    assert!(
        matches!(end.ending, ScriptEnding::Signaled { .. }),
        "{end:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn job_of_a_removed_directory_is_unknown_when_it_has_ended() {
    let world = World::new();
    let job = world.start("sleep 1000").await;
    remove_directory(&world.registry().join("1"));
    world.kill(&job.id).await;
    world.census.assert_empty_soon("the job ended").await;
    let unknown = world.again().show(&JobId("1".to_owned()));
    assert!(
        matches!(unknown, Err(JobError::Unknown { .. })),
        "{unknown:?}"
    );
    assert!(listed(&world).await.is_empty());
}
