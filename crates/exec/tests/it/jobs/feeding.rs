//! Writing to a job's stdin.

use super::world::{World, all_of};
use crate::support::SOON;
use agent_bash_core::ScriptEnding;
use agent_bash_exec::{JobError, JobStdin};
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn job_reads_input_of_several_hosts_until_one_closes_stdin() {
    let world = World::new();
    let script = "read -r first; echo \"got $first\"; cat; echo end";
    let job = world
        .try_start(&world.spec(script), JobStdin::Pipe)
        .await
        .unwrap();
    assert!(job.stdin);
    world
        .jobs
        .write_stdin(&job.id, b"one\n", SOON)
        .await
        .unwrap();
    world.printed(&job, "got one\n").await;
    let long = "x".repeat(300_000);
    let later = world.again();
    later
        .write_stdin(&job.id, long.as_bytes(), SOON)
        .await
        .unwrap();
    later.close_stdin(&job.id).await.unwrap();
    let end = world.end(&job.id).await;
    assert_eq!(end.ending, ScriptEnding::Exited { code: 0 });
    assert_eq!(all_of(&job), format!("got one\n{long}end\n"));
    let closed = later.close_stdin(&job.id).await;
    assert!(
        matches!(closed, Err(JobError::NoStdin { .. })),
        "{closed:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn job_stdin_stays_open_without_a_writer() {
    let world = World::new();
    let script = "read -r -t 0.3 x; echo $?; cat; echo end";
    let job = world
        .try_start(&world.spec(script), JobStdin::Pipe)
        .await
        .unwrap();
    // `read` returns more than 128 on a timeout, 1 at EOF.
    world.printed(&job, "142\n").await;
    world.jobs.close_stdin(&job.id).await.unwrap();
    world.end(&job.id).await;
    assert!(all_of(&job).starts_with("142\nend\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn write_to_a_job_without_stdin_is_refused() {
    let world = World::new();
    let job = world.start("read -r x; echo $?; sleep 1000").await;
    // EOF at once.
    world.printed(&job, "1\n").await;
    assert!(!job.stdin);
    let written = world.jobs.write_stdin(&job.id, b"x", SOON).await;
    assert!(
        matches!(written, Err(JobError::NoStdin { .. })),
        "{written:?}"
    );
    world.kill(&job.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn write_to_a_closed_stdin_returns_an_error() {
    let world = World::new();
    let script = "exec <&-; echo closed; sleep 1000 <&-";
    let job = world
        .try_start(&world.spec(script), JobStdin::Pipe)
        .await
        .unwrap();
    world.printed(&job, "closed").await;
    // A child that another test has forked holds the pipe's other end until it executes its
    // program.
    let refused = async {
        loop {
            match world.jobs.write_stdin(&job.id, b"x", SOON).await {
                Ok(()) => tokio::time::sleep(Duration::from_millis(5)).await,
                Err(error) => return error,
            }
        }
    };
    let error = tokio::time::timeout(SOON, refused).await.unwrap();
    assert!(matches!(error, JobError::NoStdin { .. }), "{error:?}");
    world.kill(&job.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn job_that_stops_reading_does_not_block_its_client() {
    let world = World::new();
    let job = world
        .try_start(&world.spec("sleep 1000"), JobStdin::Pipe)
        .await
        .unwrap();
    let long = vec![b'x'; 1 << 20];
    let written = world
        .jobs
        .write_stdin(&job.id, &long, Duration::from_secs(2))
        .await;
    let Err(JobError::NotRead {
        written, length, ..
    }) = written
    else {
        panic!("{written:?}");
    };
    assert_eq!(length, 1 << 20);
    // The capacity of a pipe.
    assert_eq!(written, 64 << 10);
    world.kill(&job.id).await;
}
