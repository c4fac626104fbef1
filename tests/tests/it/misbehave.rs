//! Tests the helper program that other tests rely on.

use agent_bash_tests::poll;
use agent_bash_tests::procfs;
use agent_bash_tests::product;
use agent_bash_tests::world::World;
use std::io::{BufRead as _, BufReader};
use std::process::Command;
use std::time::Duration;

const MISBEHAVE: &str = env!("CARGO_BIN_EXE_misbehave");
const SOON: Duration = Duration::from_secs(20);

fn misbehave(world: &World, words: &[&str]) -> Command {
    let mut command = world.command(MISBEHAVE);
    command.args(words);
    command
}

#[test]
fn misbehave_prints_the_requested_output() {
    let world = World::new().unwrap();
    for (words, want) in [
        (&["flood", "100000"][..], "x".repeat(100_000)),
        (&["nul", "3"], "\0\0\0".to_owned()),
        (&["lines", "3"], "1\n2\n3\n".to_owned()),
        (&["split-utf8", "2"], "€€".to_owned()),
    ] {
        let ran = product::run(misbehave(&world, words), None).unwrap();
        assert!(ran.stdout == want && ran.code == 0, "{words:?}");
    }
    let output = misbehave(&world, &["invalid-utf8"]).output().unwrap();
    assert!(std::str::from_utf8(&output.stdout).is_err());
    let ran = product::run(misbehave(&world, &["stderr", "x"]), None).unwrap();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", "x\n"));
    let ran = product::run(misbehave(&world, &["nonsense"]), None).unwrap();
    assert!(ran.code == 2 && ran.stderr.contains("no such way: `nonsense`"));
}

#[test]
fn misbehave_exits_as_requested() {
    let world = World::new().unwrap();
    let group = |words: &str| {
        let mut command = world.command("setsid");
        let script = format!("{MISBEHAVE} {words}; echo survived");
        command.args(["--wait", "bash", "-c", &script]);
        product::run(command, None).unwrap()
    };
    let ran = group("kill-group");
    assert_eq!((ran.code, ran.stdout.as_str()), (137, "killing\n"));
    let ran = group("kill-parent");
    assert_eq!((ran.code, ran.stdout.as_str()), (137, "killing\n"));
}

#[test]
fn misbehave_ignores_or_handles_signals() {
    use rustix::process::{Pid, Signal, kill_process};
    let world = World::new().unwrap();
    for (words, line, kill) in [
        (&["ignore-term"][..], "", true),
        (&["last-words", "bye"], "bye\n", false),
    ] {
        let mut child = product::start(misbehave(&world, words), None).unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut ready = String::new();
        out.read_line(&mut ready).unwrap();
        assert_eq!(ready, "ready\n");
        let pid = Pid::from_child(&child);
        kill_process(pid, Signal::TERM).unwrap();
        if kill {
            kill_process(pid, Signal::INT).unwrap();
            kill_process(pid, Signal::HUP).unwrap();
            assert!(procfs::process(child.id()).unwrap().is_alive());
            child.kill().unwrap();
        }
        let mut rest = String::new();
        out.read_line(&mut rest).unwrap();
        assert_eq!(rest, line, "{words:?}");
        child.wait().unwrap();
    }
}

#[test]
fn misbehave_stops_itself() {
    use rustix::process::{Pid, Signal, kill_process};
    let world = World::new().unwrap();
    let mut child = product::start(misbehave(&world, &["stop-self"]), None).unwrap();
    let stopped = poll::until(SOON, || {
        (procfs::process(child.id())?.state == 'T').then_some(())
    });
    assert!(stopped.is_some());
    kill_process(Pid::from_child(&child), Signal::CONT).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn misbehave_daemons_leave_session_and_parent() {
    let world = World::new().unwrap();
    for (how, holds) in [("hold", true), ("close", false)] {
        let mut child = product::start(misbehave(&world, &["daemon", how]), None).unwrap();
        let starter = child.id();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert!(child.wait().unwrap().success());
        let daemon: u32 = line.trim().parse().unwrap();
        let orphaned = poll::until(SOON, || {
            let daemon = procfs::process(daemon)?;
            (daemon.parent != starter && daemon.session != starter && daemon.is_alive())
                .then_some(())
        });
        assert!(orphaned.is_some(), "{how}");
        let pipe = procfs::descriptors(daemon)
            .iter()
            .any(|(number, target)| *number == 1 && target.starts_with("pipe:"));
        assert_eq!(pipe, holds, "{how}");
        world.sweep();
    }
}

#[test]
fn misbehave_children_outlive_their_parent() {
    let world = World::new().unwrap();
    let status = misbehave(&world, &["children", "3"]).status().unwrap();
    assert!(status.success());
    assert_eq!(world.leftovers(Duration::ZERO).processes.len(), 3);
    world.sweep();

    let file = world.cwd().join("end");
    let mut child = misbehave(&world, &["linger", "end"]).spawn().unwrap();
    assert!(procfs::process(child.id()).unwrap().is_alive());
    std::fs::write(file, "").unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn misbehave_prints_its_own_state() {
    let world = World::new().unwrap();
    let ran = product::run(misbehave(&world, &["descriptors"]), None).unwrap();
    // The test runner may leak descriptors of its own.
    assert!(ran.stdout.starts_with("0\n1\n2\n"), "{ran:?}");
    let mut leaking = world.command("bash");
    leaking.args(["-c", &format!("exec 77</dev/null; {MISBEHAVE} descriptors")]);
    let leaked = product::run(leaking, None).unwrap();
    assert!(leaked.stdout.contains("\n77\n") && !ran.stdout.contains("\n77\n"));

    let ran = product::run(misbehave(&world, &["environment"]), None).unwrap();
    assert!(ran.stdout.lines().any(|line| line == world.mark()));
    let ran = product::run(misbehave(&world, &["identity"]), None).unwrap();
    assert!(ran.stdout.starts_with("group "), "{ran:?}");

    let mut limited = world.command("bash");
    limited.args([
        "-c",
        &format!("ulimit -n 64; {MISBEHAVE} exhaust-descriptors"),
    ]);
    let ran = product::run(limited, None).unwrap();
    let end = " and then: Too many open files (os error 24)\n";
    assert!(ran.stdout.ends_with(end), "{ran:?}");

    let ran = product::run(misbehave(&world, &["lose-cwd"]), None).unwrap();
    assert!(
        ran.stdout.starts_with("No such file or directory"),
        "{ran:?}"
    );
}
