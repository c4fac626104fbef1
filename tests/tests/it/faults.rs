//! Faults of the command line that data cannot express: signals during a call, readers that
//! disappear, the binary killed.
//!
//! Each test runs the real binary in its own world and ends with the census of that world.
//! `census.rs` shows that the census finds leftovers.

use agent_bash_tests::product::{self, CommandResult};
use agent_bash_tests::world::World;
use agent_bash_tests::{poll, procfs};
use rustix::process::{Pid, Signal};
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

/// The time that a slow machine may take to start a process.
const SOON: Duration = Duration::from_secs(30);
/// The deadline for the processes of a killed host.
const AFTER_KILL: Duration = Duration::from_secs(20);

/// A script whose processes use every way to escape: a new session, ignored signals, double fork.
/// Prints when all are running.
const ESCAPES: &str = "echo begun; misbehave ignore-term & setsid misbehave ignore-term & \
    misbehave daemon hold >/dev/null; misbehave daemon close >/dev/null; \
    (setsid sh -c 'misbehave linger & exit' &); env -i PATH=\"$PATH\" setsid misbehave linger & \
    misbehave stop-self & touch started; wait";
/// The minimum number of these processes.
const ESCAPED: usize = 7;

fn world() -> anyhow::Result<World> {
    World::new()?.with_program(Path::new(env!("CARGO_BIN_EXE_misbehave")))
}

fn agent_bash(world: &World, words: &[&str]) -> anyhow::Result<Command> {
    let mut command = world.command(product::agent_bash()?);
    command.args(words);
    Ok(command)
}

/// Starts a call and waits until its script has created the file `started`, and until `processes`
/// helpers are running.
fn started(world: &World, words: &[&str], processes: usize) -> anyhow::Result<Child> {
    let child = product::start(agent_bash(world, words)?, None)?;
    let there = poll::until(SOON, || {
        let enough = helpers(world) >= processes;
        (enough && world.cwd().join("started").exists()).then_some(())
    });
    anyhow::ensure!(there.is_some(), "the command did not start");
    Ok(child)
}

/// The number of helper programs running in the world.
fn helpers(world: &World) -> usize {
    let ours = |process: &procfs::Process| {
        let program = process.command.split(' ').next().unwrap_or_default();
        process.is_alive()
            && Path::new(program).ends_with("misbehave")
            && (process.environment_has(&world.mark()) || process.uses_directory(&world.cwd()))
    };
    procfs::processes()
        .iter()
        .filter(|process| ours(process))
        .count()
}

fn signal(child: &Child, signal: Signal) -> anyhow::Result<()> {
    Ok(rustix::process::kill_process(
        Pid::from_child(child),
        signal,
    )?)
}

fn end_of(child: Child) -> anyhow::Result<CommandResult> {
    Ok(child.wait_with_output()?.into())
}

#[test]
fn signals_cancel_and_the_partial_output_is_printed() -> anyhow::Result<()> {
    for (name, number, code) in [
        ("INT", Signal::INT, 130),
        ("TERM", Signal::TERM, 143),
        ("HUP", Signal::HUP, 129),
    ] {
        let world = world()?;
        let script = "echo partial; touch started; sleep 60; echo never";
        let child = started(&world, &["run", script], 0)?;
        signal(&child, number)?;
        let ran = end_of(child)?;
        assert_eq!(ran.stdout, "[Command cancelled]\npartial\n", "SIG{name}");
        assert_eq!(ran.code, code, "SIG{name}");
        world.assert_nothing_left(SOON);
    }
    Ok(())
}

#[test]
fn cancellation_ends_processes_that_tried_every_escape() -> anyhow::Result<()> {
    let world = world()?;
    let child = started(&world, &["run", ESCAPES], ESCAPED)?;
    signal(&child, Signal::INT)?;
    let ran = end_of(child)?;
    assert!(
        ran.stdout.starts_with("[Command cancelled]\nbegun\n"),
        "{ran:?}"
    );
    assert_eq!(ran.code, 130);
    world.assert_nothing_left(Duration::ZERO);
    Ok(())
}

#[test]
fn timeout_ends_processes_that_tried_every_escape() -> anyhow::Result<()> {
    let world = world()?;
    let child = started(&world, &["run", "--timeout", "10s", ESCAPES], ESCAPED)?;
    let ran = end_of(child)?;
    assert!(
        ran.stdout
            .starts_with("[Command timed out after 10 seconds]\nbegun\n"),
        "{ran:?}"
    );
    assert_eq!(ran.code, 124);
    world.assert_nothing_left(Duration::ZERO);
    Ok(())
}

#[test]
fn killed_host_ends_its_command() -> anyhow::Result<()> {
    for script in [
        ESCAPES,
        "misbehave linger & touch started; misbehave linger",
    ] {
        let processes = if script == ESCAPES { ESCAPED } else { 2 };
        let world = world()?;
        let mut child = started(&world, &["run", script], processes)?;
        child.kill()?;
        child.wait()?;
        world.assert_nothing_left(AFTER_KILL);
    }
    Ok(())
}

#[test]
fn killed_host_ends_a_command_that_is_blocked_in_write() -> anyhow::Result<()> {
    // A command that prints to a host which has stopped reading blocks in `write`.
    let world = world()?;
    let script = "touch started; misbehave endless";
    let mut child = started(&world, &["run", "--stream", script], 1)?;
    child.kill()?;
    child.wait()?;
    world.assert_nothing_left(AFTER_KILL);
    Ok(())
}

#[test]
fn call_does_not_wait_for_processes_that_outlive_it() -> anyhow::Result<()> {
    let world = world()?;
    let script = "misbehave linger gate & echo hi";
    let ran = product::run(agent_bash(&world, &["run", script])?, None)?;
    assert!(
        ran.stdout.starts_with("hi\n\n[Still running: pid "),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("misbehave linger gate]"), "{ran:?}");
    assert_eq!(ran.code, 0);
    // The process is alive, has lost no output, and can exit by itself.
    assert_eq!(helpers(&world), 1);
    std::fs::write(world.cwd().join("gate"), "")?;
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn process_that_outlives_its_call_keeps_writing_its_artifact() -> anyhow::Result<()> {
    let world = world()?;
    let script = "(misbehave linger gate; misbehave lines 3000; touch written; misbehave linger end) & echo first";
    let ran = product::run(agent_bash(&world, &["run", "--json", script])?, None)?;
    let result: serde_json::Value = serde_json::from_str(&ran.stdout)?;
    std::fs::write(world.cwd().join("gate"), "")?;
    let written = poll::until(SOON, || world.cwd().join("written").exists().then_some(()));
    assert!(
        written.is_some(),
        "the survivor died of its output: {result}"
    );
    let path = result["artifacts"][0]["path"].as_str().unwrap_or_default();
    let want = (1..=3000).fold("first\n".to_owned(), |text, n| format!("{text}{n}\n"));
    let whole = poll::until(SOON, || {
        (std::fs::read_to_string(path).ok()? == want).then_some(())
    });
    assert!(whole.is_some(), "the artifact is not whole: {path:?}");
    std::fs::write(world.cwd().join("end"), "")?;
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn closed_stdout_causes_no_panic() -> anyhow::Result<()> {
    // Stdout has no reader for the text that is printed at the end.
    let world = world()?;
    let script = "touch started; misbehave linger gate; misbehave lines 50000";
    let mut child = started(&world, &["run", script], 1)?;
    drop(child.stdout.take());
    std::fs::write(world.cwd().join("gate"), "")?;
    let ran = end_of(child)?;
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn closed_stdout_of_a_stream_ends_the_command() -> anyhow::Result<()> {
    let world = world()?;
    let script = "touch started; misbehave endless";
    let mut child = started(&world, &["run", "--stream", script], 1)?;
    let mut out = child
        .stdout
        .take()
        .ok_or_else(|| anyhow::anyhow!("piped"))?;
    out.read_exact(&mut [0; 1000])?;
    drop(out);
    let ran = end_of(child)?;
    assert!(!ran.stderr.contains("panicked"), "{ran:?}");
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn stream_prints_output_without_delay() -> anyhow::Result<()> {
    let world = world()?;
    let script = "echo early; touch started; misbehave linger gate; echo late";
    let mut child = started(&world, &["run", "--stream", script], 1)?;
    let mut out = child
        .stdout
        .take()
        .ok_or_else(|| anyhow::anyhow!("piped"))?;
    let mut early = [0; 6];
    out.read_exact(&mut early)?;
    assert_eq!(&early, b"early\n");
    std::fs::write(world.cwd().join("gate"), "")?;
    let mut rest = String::new();
    out.read_to_string(&mut rest)?;
    assert_eq!(rest, "late\n");
    assert!(child.wait()?.success());
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn command_has_its_own_session_and_is_in_no_process_arguments() -> anyhow::Result<()> {
    let world = world()?;
    let script = "misbehave identity; touch started; misbehave linger gate; : unmistakable-words";
    let child = product::start(agent_bash(&world, &["run", "-"])?, Some(script))?;
    let id = child.id();
    let there = poll::until(SOON, || world.cwd().join("started").exists().then_some(()));
    assert!(there.is_some());
    let named: Vec<_> = procfs::processes()
        .into_iter()
        .filter(|process| process.command.contains("unmistakable-words"))
        .collect();
    let host = procfs::process(id).ok_or_else(|| anyhow::anyhow!("the host is gone"))?;
    std::fs::write(world.cwd().join("gate"), "")?;
    let ran = end_of(child)?;
    assert!(named.is_empty(), "{named:?}");
    assert!(ran.stdout.contains("session "), "{ran:?}");
    assert!(
        !ran.stdout.contains(&format!("session {}\n", host.session)),
        "{ran:?}"
    );
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn concurrent_calls_do_not_interfere() -> anyhow::Result<()> {
    const CALLS: usize = 16;
    let world = world()?;
    let mut children = Vec::new();
    for number in 0..CALLS {
        let script = format!("for i in $(seq 200); do echo {number}; done; exit {number}");
        children.push(product::start(
            agent_bash(&world, &["run", &script])?,
            None,
        )?);
    }
    for (number, child) in children.into_iter().enumerate() {
        let ran = end_of(child)?;
        let lines = format!("{number}\n").repeat(200);
        assert!(ran.stdout.starts_with(&lines), "call {number}: {ran:?}");
        assert_eq!(ran.code, i32::try_from(number)?);
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn usage_errors_exit_with_2_and_start_nothing() -> anyhow::Result<()> {
    let world = world()?;
    for words in [
        &["run"][..],
        &["run", "--timeout", "soon", "touch started"],
        &["run", "--head", "0", "touch started"],
        &["run", "--profile", "nonsense", "touch started"],
        &["run", "--env", "novalue", "touch started"],
        &["run", "--nonsense", "touch started"],
        &["nonsense"],
    ] {
        let ran = product::run(agent_bash(&world, words)?, None)?;
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{words:?}");
        assert!(!ran.stderr.is_empty(), "{words:?}");
    }
    let not_json = product::run(
        agent_bash(&world, &["run", "--request"])?,
        Some("{nonsense"),
    )?;
    assert_eq!(not_json.code, 2, "{not_json:?}");
    assert!(!world.cwd().join("started").exists());
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn several_words_are_quoted_and_joined() -> anyhow::Result<()> {
    let world = world()?;
    let words = [
        "run", "--", "printf", "[%s]", "two words", "$HOME", "it's", "",
    ];
    let ran = product::run(agent_bash(&world, &words)?, None)?;
    assert_eq!(ran.stdout, "[two words][$HOME][it's][]");
    world.assert_nothing_left(SOON);
    Ok(())
}
