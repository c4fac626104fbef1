//! Several hosts: killed halfway, started later, concurrent.

use super::world::{World, all_of, from, read_on};
use crate::support::{command, soon};
use agent_bash_core::ScriptEnding;
use agent_bash_core::{Cancel, JobId};
use agent_bash_exec::{JobError, JobOutput, JobState, OutputRange, WaitOutcome};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

/// Another host that starts these jobs, and runs until it is killed.
fn host(world: &World, count: u32, script: &str) -> Child {
    host_with(world, count, script, &[])
}

/// Starts a host like [`host`], with further arguments.
pub(crate) fn host_with(world: &World, count: u32, script: &str, more: &[&str]) -> Child {
    command(env!("CARGO_BIN_EXE_exec-test-jobs"))
        .arg(world.registry())
        .arg(count.to_string())
        .arg(script)
        .args(more)
        .envs([world.census.variable()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

pub(crate) fn lines(host: &mut Child, count: usize) -> Vec<String> {
    let out = BufReader::new(host.stdout.as_mut().unwrap());
    out.lines().take(count).map(Result::unwrap).collect()
}

/// Prints numbers, waits for a file, prints more numbers.
fn two_halves(world: &World) -> String {
    let go = world.dir.path().join("go");
    format!(
        "for i in {{1..3000}}; do echo $i; done; until [[ -e {} ]]; do sleep .01; done; for i in {{3001..6000}}; do echo $i; done; exit 3",
        go.display()
    )
}

fn numbers(to: u32) -> String {
    (1..=to)
        .flat_map(|n| [n.to_string(), "\n".to_owned()])
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn job_outlives_its_host_and_the_next_host_reads_its_output() {
    let world = World::new();
    let mut host = host(&world, 1, &two_halves(&world));
    let printed = lines(&mut host, 1);
    assert!(printed[0].starts_with("job 1 "), "{printed:?}");
    let id = JobId("1".into());

    // The first reader has read a part when the host is killed.
    let first = world.again();
    let half = numbers(3000);
    assert!(
        soon(|| first
            .output(&id, from(0, 5000))
            .is_ok_and(|part| part.next == 5000))
        .await
    );
    let JobOutput { bytes, next, .. } = first.output(&id, from(0, 5000)).unwrap();
    host.kill().unwrap();
    host.wait().unwrap();
    // A foreground command would have ended by now; see `containment`.
    let alive = world.again();
    assert!(
        soon(|| alive.output(&id, from(0, usize::MAX)).unwrap().next == half.len() as u64).await
    );
    assert_eq!(alive.show(&id).unwrap().state, JobState::Running);
    assert!(!alive.output(&id, from(0, usize::MAX)).unwrap().complete);

    world.touch("go");
    let later = world.again();
    let rest = read_on(&later, &id, next, 777).await;
    let all = String::from_utf8([bytes, rest].concat()).unwrap();
    assert_eq!(all, numbers(6000));
    let WaitOutcome::Over(job) = later.wait(&id, None, &Cancel::new()).await.unwrap() else {
        panic!("it is over");
    };
    let JobState::Ended(end) = job.state else {
        panic!("{job:?}");
    };
    assert_eq!(end.ending, ScriptEnding::Exited { code: 3 });
    world
        .census
        .assert_empty_soon("the end of job and host")
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_reader_sees_no_gap_and_no_duplicate() {
    let world = World::new();
    let job = world.start("for i in {1..20000}; do echo $i; done").await;
    let want = numbers(20_000);
    for max in [100_000, 1000] {
        let read = read_on(&world.jobs, &job.id, 0, max).await;
        assert_eq!(String::from_utf8(read).unwrap(), want, "{max}");
    }
    // An off-by-one error of the reader would show.
    let read = read_on(&world.jobs, &job.id, 1, 1000).await;
    assert_ne!(String::from_utf8(read).unwrap(), want);
}

#[tokio::test(flavor = "multi_thread")]
async fn output_returns_tails_and_lines() {
    let world = World::new();
    let job = world.start("seq 1000").await;
    world.end(&job.id).await;
    let text = |range| {
        let part = world.jobs.output(&job.id, range).unwrap();
        String::from_utf8(part.bytes).unwrap()
    };
    let max_bytes = 1000;
    assert_eq!(
        text(OutputRange::Lines {
            first: 999,
            last: 1000,
            max_bytes
        }),
        "999\n1000\n"
    );
    assert_eq!(
        text(OutputRange::Tail {
            lines: 2,
            max_bytes
        }),
        "999\n1000\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn truncated_output_is_not_the_end() {
    let world = World::new();
    let job = world
        .start("echo one; until [[ -e go ]]; do sleep .01; done; echo two")
        .await;
    world.printed(&job, "one").await;
    let read = world.jobs.output(&job.id, from(0, 100)).unwrap();
    std::fs::write(job.output.as_ref().unwrap(), "").unwrap();
    let cut = world.jobs.output(&job.id, from(read.next, 100));
    assert!(
        matches!(cut, Err(JobError::Shortened { length: 0, .. })),
        "{cut:?}"
    );
    world.touch("go");
    world.end(&job.id).await;
    assert_eq!(all_of(&job), "two\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_hosts_share_job_numbers_and_the_limit() {
    let world = World::new();
    let mut hosts = [
        host(&world, 10, "sleep 1000"),
        host(&world, 10, "sleep 1000"),
    ];
    let mut printed: Vec<String> = Vec::new();
    for host in &mut hosts {
        printed.extend(lines(host, 10));
    }
    let started: BTreeSet<&str> = printed
        .iter()
        .filter_map(|line| line.strip_prefix("job ")?.split(' ').next())
        .collect();
    let refused = printed
        .iter()
        .filter(|line| line.contains("the limit (16)"))
        .count();
    assert_eq!((started.len(), refused), (16, 4), "{printed:?}");
    let listed = world.jobs.list().unwrap();
    let ids: BTreeSet<&str> = listed.iter().map(|job| &*job.id.0).collect();
    assert_eq!(ids, started);
    for host in &mut hosts {
        host.kill().unwrap();
        host.wait().unwrap();
    }
    assert!(
        world
            .jobs
            .list()
            .unwrap()
            .iter()
            .all(|job| job.state == JobState::Running)
    );
    let kills = listed.iter().map(|job| world.kill(&job.id));
    for kill in kills {
        kill.await;
    }
    world.census.assert_empty_soon("all were killed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn job_end_is_recorded_on_a_full_disk() {
    // A full disk is simulated by a limit of 8 KiB on file sizes, for this host and everything it
    // starts.
    let world = World::new();
    let script = "ulimit -f 8; exec \"$@\"";
    let mut host = command("bash")
        .args(["-c", script, "-", env!("CARGO_BIN_EXE_exec-test-jobs")])
        .arg(world.registry())
        .args(["1", "head -c 100000 /dev/zero | tr '\\0' x; exit 6"])
        .envs([world.census.variable()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let printed = lines(&mut host, 1);
    assert!(printed[0].starts_with("job 1 "), "{printed:?}");
    let end = world.end(&JobId("1".into())).await;
    assert_eq!(end.ending, ScriptEnding::Exited { code: 6 });
    let job = world.jobs.show(&JobId("1".into())).unwrap();
    let kept = std::fs::read(job.output.unwrap()).unwrap();
    assert_eq!(kept, vec![b'x'; 8 << 10]);
    assert_eq!(end.dropped_bytes, 100_000 - (8 << 10));
    host.kill().unwrap();
    host.wait().unwrap();
    world
        .census
        .assert_empty_soon("the end of job and host")
        .await;
}
