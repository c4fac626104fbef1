//! How jobs end, and what stands at the end of their output.

use crate::support::soon;
use crate::world::{World, all_of, signaled};
use agent_bash_core::RunSpec;
use agent_bash_exec::{JobState, JobStdin};
use agent_bash_process::ProcessInfo;
use agent_bash_process::supervisor::JobEnding;
use rustix::process::{Pid, Signal};
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn the_last_line_says_how_it_ended() {
    for (script, ending, text) in [
        (
            "echo hi",
            JobEnding::Exited { code: 0 },
            "hi\n\n\n[background process completed]\n",
        ),
        (
            "printf hi; exit 3",
            JobEnding::Exited { code: 3 },
            "hi\n\n[background process failed: exit status: 3]\n",
        ),
        (
            "echo hi >&2; kill -9 $$",
            signaled(9, "SIGKILL"),
            "hi\n\n\n[background process failed: signal: 9]\n",
        ),
        (
            "kill -TERM $$",
            signaled(15, "SIGTERM"),
            "\n\n[background process failed: signal: 15]\n",
        ),
        (
            "nosuchcommand",
            JobEnding::Exited { code: 127 },
            "bash: line 1: nosuchcommand: command not found\n\n\n[background process failed: exit status: 127]\n",
        ),
        // Its output is open as long as somebody holds it, and what that prints stands before the line.
        (
            "(until [[ -e go ]]; do :; done; echo late) & echo first; : > go",
            JobEnding::Exited { code: 0 },
            "first\nlate\n\n\n[background process completed]\n",
        ),
    ] {
        let world = World::new();
        let job = world.start(script).await;
        let end = world.end(&job.id).await;
        assert_eq!(end.ending, ending, "{script}");
        assert_eq!(all_of(&job), text, "{script}");
        // What it printed itself can be told from what we added.
        let printed = usize::try_from(end.length).unwrap();
        assert!(
            text[printed..].starts_with("\n\n[background process "),
            "{script}"
        );
        world.census.assert_empty_soon(script).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_no_line_while_it_runs() {
    let world = World::new();
    let job = world
        .start("echo hi; until [[ -e go ]]; do sleep .01; done")
        .await;
    world.printed(&job, "hi").await;
    assert_eq!(world.jobs.show(&job.id).unwrap().state, JobState::Running);
    assert_eq!(all_of(&job), "hi\n");
    world.touch("go");
    world.end(&job.id).await;
    assert!(all_of(&job).contains("[background"));
}

#[tokio::test(flavor = "multi_thread")]
async fn killing_the_group_as_the_model_is_told_leaves_the_line() {
    let world = World::new();
    // Whoever would write the line from within the group is ended with it.
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
    assert_eq!(
        all_of(&job),
        "hi\n\n\n[background process failed: signal: 9]\n"
    );
    world.census.assert_empty_soon("a group kill").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_takes_too_long_is_ended_by_the_ladder() {
    for (script, text) in [
        (
            "echo hi; sleep 1000",
            "hi\n\n\n[background process error: time limit of 300ms reached]\n",
        ),
        (
            "trap 'echo bye; exit 0' TERM; echo hi; sleep 1000 & wait",
            "hi\nbye\n\n\n[background process error: time limit of 300ms reached]\n",
        ),
        (
            "trap '' TERM; echo hi; while :; do sleep 1000; done",
            "hi\n\n\n[background process error: time limit of 300ms reached]\n",
        ),
        (
            "setsid sleep 1000 & echo hi",
            "hi\n\n\n[background process error: time limit of 300ms reached]\n",
        ),
    ] {
        let world = World::new();
        let spec = RunSpec {
            timeout: Some(Duration::from_millis(300)),
            ..world.spec(script)
        };
        let job = world.try_start(&spec, JobStdin::Null).await.unwrap();
        let ending = world.end(&job.id).await.ending;
        assert_eq!(ending, JobEnding::TimedOut { after_ms: 300 }, "{script}");
        assert_eq!(all_of(&job), text, "{script}");
        world.census.assert_empty_soon(script).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_ends_in_time_is_not() {
    let world = World::new();
    let spec = RunSpec {
        timeout: Some(Duration::from_secs(1000)),
        ..world.spec("exit 0")
    };
    let job = world.try_start(&spec, JobStdin::Null).await.unwrap();
    let end = world.end(&job.id).await;
    assert_eq!(end.ending, JobEnding::Exited { code: 0 });
}

#[tokio::test(flavor = "multi_thread")]
async fn beyond_the_quota_output_is_counted_and_dropped_with_a_mark() {
    const SCRIPT: &str = "head -c 100000 /dev/zero | tr '\\0' x; echo end";
    for (quota, dropped, beginning, rest) in [
        (
            10_000,
            90_004,
            10_000,
            "\n[output limit reached: what follows is not kept]\n\
             \n[90004 bytes of output were not kept]\n\n[background process completed]\n",
        ),
        (
            1 << 20,
            0,
            100_000,
            "end\n\n\n[background process completed]\n",
        ),
    ] {
        let world = World::with(crate::world::Early::AtOnce, |options| {
            agent_bash_exec::JobsOptions { quota, ..options }
        });
        let job = world.start(SCRIPT).await;
        let end = world.end(&job.id).await;
        assert_eq!(end.ending, JobEnding::Exited { code: 0 });
        assert_eq!(end.dropped_bytes, dropped);
        let text = all_of(&job);
        assert_eq!(&text[..beginning], "x".repeat(beginning));
        assert_eq!(&text[beginning..], rest);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_lives_on_and_can_be_ended_afterwards() {
    let world = World::new();
    let script = "setsid sleep 1000 <&- >&- 2>&- & until [[ $(</proc/$!/comm) == sleep ]]; do :; done; echo up";
    let job = world.start(script).await;
    let end = world.end(&job.id).await;
    assert_eq!(
        (end.ending, end.left),
        (JobEnding::Exited { code: 0 }, true)
    );
    assert_eq!(all_of(&job), "up\n\n\n[background process completed]\n");
    let processes = world.again().processes(&job.id).await.unwrap();
    assert_eq!(processes.len(), 1);
    assert_eq!(processes[0].command, "sleep 1000");
    let JobState::Ended(end) = world.kill(&job.id).await.state else {
        panic!("it had ended");
    };
    assert!(!end.left);
    world
        .census
        .assert_empty_soon("a kill of what was left")
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn supervisors_go_with_their_jobs_and_take_their_sockets() {
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
