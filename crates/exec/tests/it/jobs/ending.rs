//! How jobs end: the recorded end, and their output.

use super::world::{World, all_of, signaled};
use crate::support::{SOON, soon};
use agent_bash_core::ScriptEnding;
use agent_bash_exec::{JobState, JobStdin, OutputRange};
use agent_bash_process::ProcessInfo;
use rustix::process::{Pid, Signal};
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn job_end_is_recorded_and_output_is_unchanged() {
    for (script, ending, text) in [
        ("echo hi", ScriptEnding::Exited { code: 0 }, "hi\n"),
        ("printf hi; exit 3", ScriptEnding::Exited { code: 3 }, "hi"),
        ("echo hi >&2; kill -9 $$", signaled(9, "SIGKILL"), "hi\n"),
        ("kill -TERM $$", signaled(15, "SIGTERM"), ""),
        (
            "nosuchcommand",
            ScriptEnding::Exited { code: 127 },
            "bash: line 1: nosuchcommand: command not found\n",
        ),
        // The job has not ended while a process holds its output.
        (
            "(until [[ -e go ]]; do :; done; echo late) & echo first; : > go",
            ScriptEnding::Exited { code: 0 },
            "first\nlate\n",
        ),
    ] {
        let world = World::new();
        let job = world.start(script).await;
        let end = world.end(&job.id).await;
        assert_eq!(end.ending, ending, "{script}");
        assert_eq!(all_of(&job), text, "{script}");
        assert_eq!(end.length, text.len() as u64, "{script}");
        world.census.assert_empty_soon(script).await;
    }
}

/// A job runs for as long as a process has its output open, so its shell may have exited before a
/// kill.
#[tokio::test(flavor = "multi_thread")]
async fn kill_after_the_shells_exit_reports_the_signal() {
    for (script, grace, ending) in [
        ("sleep 1000 & exit 0", 60_000, signaled(15, "SIGTERM")),
        (
            "setsid sleep 1000 & exit 3",
            60_000,
            signaled(15, "SIGTERM"),
        ),
        (
            "(trap '' TERM; echo ready; while :; do sleep 1000; done) & exit 0",
            200,
            signaled(9, "SIGKILL"),
        ),
        ("sleep 1000 & exit 0", 0, signaled(9, "SIGKILL")),
        // A living shell decides how the job ends.
        (
            "trap 'exit 4' TERM; sleep 1000 & wait",
            60_000,
            ScriptEnding::Exited { code: 4 },
        ),
    ] {
        let world = World::new();
        let job = world.start(script).await;
        world.census.wait_for("sleep").await;
        let is_over = || ProcessInfo::has_ended(job.pid.cast_signed());
        let has_exit = script.contains("exit 0") || script.contains("exit 3");
        assert!(soon(|| !has_exit || is_over()).await, "{script}");
        let grace = Duration::from_millis(grace);
        let killed = world.jobs.kill(&job.id, grace).await.unwrap();
        let JobState::Ended(end) = &killed.job.state else {
            panic!("{script}: {killed:?}");
        };
        assert_eq!(end.ending, ending, "{script}");
        world.census.assert_empty_soon(script).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn completion_status_is_appended_if_requested() {
    for (script, limit, status) in [
        ("echo hi", 60_000, "[background process completed]"),
        (
            "echo hi; exit 5",
            60_000,
            "[background process failed: exit status: 5]",
        ),
        (
            "echo hi; kill -9 $$",
            60_000,
            "[background process failed: signal: 9 (SIGKILL)]",
        ),
        (
            "echo hi; sleep 1000",
            3000,
            "[background process failed: timed out after 3s]",
        ),
    ] {
        let world = World::new();
        let spec = world.spec(script).completion_status(true);
        let spec = spec.timeout(Duration::from_millis(limit));
        let job = world.try_start(&spec, JobStdin::Null).await.unwrap();
        let end = world.end(&job.id).await;
        assert_eq!(all_of(&job), format!("hi\n\n\n{status}\n"), "{script}");
        assert_eq!(end.length, 3, "the output's own");
    }
}

/// A job's files and lists show the script without secrets.
#[tokio::test(flavor = "multi_thread")]
async fn job_is_recorded_with_the_script_without_secrets() {
    let world = World::new();
    let spec = world.spec("echo s3cret-1; exit 0");
    let spec = spec.recorded_script(Some("echo [hidden]; exit 0".to_owned()));
    let job = world.try_start(&spec, JobStdin::Null).await.unwrap();
    world.end(&job.id).await;
    assert_eq!(job.command, "echo [hidden]; exit 0");
    let entry = std::fs::read_to_string(world.registry().join(&job.id.0).join("job.json"));
    assert!(!entry.unwrap().contains("s3cret"));
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_of_the_process_group_is_observed() {
    let world = World::new();
    // A waiter inside the process group would be killed, too.
    let script =
        "echo hi; (trap '' TERM; until [[ -e never ]]; do sleep .01; done; echo line) & sleep 1000";
    let job = world.start(script).await;
    world.printed(&job, "hi").await;
    world.census.wait_for("sleep").await;
    let supervisors = world.census.supervisors();
    assert_eq!(supervisors.len(), 1);
    let group = i32::try_from(job.pgid).unwrap();
    let keeper = ProcessInfo::read(supervisors[0].pid).unwrap();
    assert!(keeper.group != group && keeper.session == keeper.pid);

    rustix::process::kill_process_group(Pid::from_raw(group).unwrap(), Signal::KILL).unwrap();
    assert_eq!(world.end(&job.id).await.ending, signaled(9, "SIGKILL"));
    assert_eq!(all_of(&job), "hi\n");
    world.census.assert_empty_soon("a group kill").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn job_beyond_its_time_limit_is_terminated_then_killed() {
    const TIME_LIMIT: Duration = Duration::from_secs(2);
    for (script, grace, text) in [
        ("echo hi; sleep 1000", SOON, "hi\n"),
        (
            "trap 'echo bye; exit 0' TERM; echo hi; sleep 1000 & wait",
            SOON,
            "hi\nbye\n",
        ),
        (
            "trap '' TERM; echo hi; while :; do sleep 1000; done",
            Duration::from_millis(300),
            "hi\n",
        ),
        ("setsid sleep 1000 & echo hi", SOON, "hi\n"),
    ] {
        let world = World::new();
        let spec = world.spec(script).timeout(TIME_LIMIT).grace(grace);
        let job = world.try_start(&spec, JobStdin::Null).await.unwrap();
        let ending = world.end(&job.id).await.ending;
        assert_eq!(
            ending,
            ScriptEnding::TimedOut { after: TIME_LIMIT },
            "{script}"
        );
        assert_eq!(all_of(&job), text, "{script}");
        world.census.assert_empty_soon(script).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn job_within_its_time_limit_is_not_killed() {
    let world = World::new();
    let spec = world.spec("exit 0").timeout(Duration::from_secs(1000));
    let job = world.try_start(&spec, JobStdin::Null).await.unwrap();
    let end = world.end(&job.id).await;
    assert_eq!(end.ending, ScriptEnding::Exited { code: 0 });
}

#[tokio::test(flavor = "multi_thread")]
async fn output_beyond_the_quota_is_counted_and_dropped() {
    const SCRIPT: &str = "head -c 100000 /dev/zero | tr '\\0' x; echo end";
    for (quota, dropped, beginning, rest) in
        [(10_000, 90_004, 10_000, ""), (1 << 20, 0, 100_000, "end\n")]
    {
        let world = World::with(super::world::Early::AtOnce, |options| {
            agent_bash_exec::JobsOptions { quota, ..options }
        });
        let job = world.start(SCRIPT).await;
        let end = world.end(&job.id).await;
        assert_eq!(end.ending, ScriptEnding::Exited { code: 0 });
        assert_eq!(end.dropped_bytes, dropped);
        let text = all_of(&job);
        assert_eq!(&text[..beginning], "x".repeat(beginning));
        assert_eq!(&text[beginning..], rest);
    }
}

/// `kill` with the pid that the model knows ends only the shell.
#[tokio::test(flavor = "multi_thread")]
async fn job_with_a_killed_shell_has_ended_and_processes_that_hold_its_output_are_named() {
    let world = World::new();
    let child = "trap '' TERM; until [[ -e go ]]; do sleep .01; done; echo late; sleep 1000";
    let job = world
        .start(&format!("bash -c '{child}' child & echo up; wait"))
        .await;
    world.printed(&job, "up").await;
    let shell = Pid::from_raw(job.pid.cast_signed()).unwrap();
    rustix::process::kill_process(shell, Signal::KILL).unwrap();
    let end = world.end(&job.id).await;
    assert_eq!(
        (end.ending, end.has_remaining),
        (signaled(9, "SIGKILL"), true)
    );
    let ended = world.again().show(&job.id).unwrap();
    let holds = |name: &str| {
        let mut left = ended.remaining.iter();
        left.any(|left| left.command.contains(name) && left.holds_output)
    };
    assert!(holds("child"), "{ended:?}");
    // Its output is still being read, so nothing is complete yet.
    let all = || {
        let range = OutputRange::Tail {
            lines: 100,
            max_bytes: 1000,
        };
        world.jobs.output(&job.id, range).unwrap()
    };
    assert!(!all().complete);
    world.touch("go");
    world.printed(&job, "late").await;
    let killed = world.again().kill(&job.id, Duration::ZERO).await.unwrap();
    assert_eq!((killed.survivors, killed.job.remaining), (vec![], vec![]));
    assert!(all().complete);
    assert_eq!(all_of(&job), "up\nlate\n");
    world.census.assert_empty_soon("a kill of its child").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn daemon_outlives_its_job_and_can_be_killed_later() {
    let world = World::new();
    let script = "setsid sleep 1000 <&- >&- 2>&- & until [[ $(</proc/$!/comm) == sleep ]]; do :; done; echo up";
    let job = world.start(script).await;
    let end = world.end(&job.id).await;
    assert_eq!(
        (end.ending, end.has_remaining),
        (ScriptEnding::Exited { code: 0 }, true)
    );
    assert_eq!(all_of(&job), "up\n");
    let processes = world.again().processes(&job.id).await.unwrap();
    assert_eq!(processes.len(), 1);
    assert_eq!(processes[0].command, "sleep 1000");
    let JobState::Ended(end) = world.kill(&job.id).await.state else {
        panic!("it had ended");
    };
    assert!(!end.has_remaining);
    world
        .census
        .assert_empty_soon("a kill of what was left")
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn supervisor_exits_with_its_job_and_removes_its_socket() {
    let world = World::new();
    let job = world.start("until [[ -e go ]]; do sleep .01; done").await;
    let socket = job.output.as_ref().unwrap().with_file_name("control");
    assert!(socket.exists());
    assert_eq!(world.census.supervisors().len(), 1);
    world.touch("go");
    world.end(&job.id).await;
    world.census.assert_empty_soon("its end").await;
    assert!(soon(|| !socket.exists()).await);
}
