//! The way to a target is cut, on purpose or not: what is said here, and what is left there.

use super::{SOON, command, on};
use agent_bash_tests::targets::{NAME, Sshd};
use agent_bash_tests::world::World;
use agent_bash_tests::{poll, procfs, product};
use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::process::{Child, Stdio};
use std::time::Duration;

/// What the target may take to end a call once it knows: its grace period and 2 s.
const ENDING: Duration = Duration::from_secs(2 + 2);

/// Allowed on top on a busy machine.
const SLACK: Duration = Duration::from_secs(10);

/// A call that says its shell's pid in the file `pid`, and stays.
const STAYS: &str = "echo $$ > pid.part; mv pid.part pid; while :; do sleep 1; done";

fn signal(pid: u32, signal: Signal) -> Result<()> {
    let pid = Pid::from_raw(pid.cast_signed()).context("a pid")?;
    Ok(kill_process(pid, signal)?)
}

fn is_alive(pid: u32) -> bool {
    procfs::process(pid).is_some_and(|process| process.is_alive())
}

fn gone(pid: u32, patience: Duration) -> bool {
    poll::until(patience, || (!is_alive(pid)).then_some(())).is_some()
}

/// A running call, and its shell's pid.
fn running(world: &World, lease: &str) -> Result<(Child, u32)> {
    let config = world.home().join(".config/agent-bash/config.toml");
    let text = fs::read_to_string(&config)?;
    let text = text.replace(
        &format!("[targets.{NAME}]\n"),
        &format!("[targets.{NAME}]\nlease = {lease:?}\n"),
    );
    fs::write(config, text)?;
    let mut command = command(world, &["run", "--json", STAYS])?;
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let pid = world.cwd().join("pid");
    poll::exists(&pid, SOON)?;
    let shell = fs::read_to_string(pid)?.trim().parse()?;
    Ok((child, shell))
}

/// The `ssh` that a process has started.
fn ssh_of(host: u32) -> Result<u32> {
    let is_it =
        |process: &procfs::Process| process.parent == host && process.command.contains("ssh");
    let found = procfs::processes().into_iter().find(is_it);
    Ok(found.context("no ssh")?.pid)
}

#[test]
fn what_is_cancelled_here_ends_there() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    let (host, shell) = running(&world, "60s")?;
    signal(host.id(), Signal::INT)?;
    let ended = product::Ran::from(host.wait_with_output()?);
    assert_eq!(ended.code, 130, "{ended:?}");
    assert!(!is_alive(shell), "the call goes on");
    drop(sshd);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn a_killed_host_leaves_nothing_there() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    let (mut host, shell) = running(&world, "60s")?;
    host.kill()?;
    host.wait()?;
    assert!(gone(shell, ENDING + SLACK), "the call goes on");
    drop(sshd);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn a_killed_ssh_is_a_lost_call_and_never_an_end() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    let (host, shell) = running(&world, "60s")?;
    signal(ssh_of(host.id())?, Signal::KILL)?;
    let ended = product::Ran::from(host.wait_with_output()?);
    assert_eq!(ended.code, 70, "{ended:?}");
    let result: serde_json::Value = serde_json::from_str(&ended.stdout)?;
    assert_eq!(result["status"]["kind"], "lost", "{result}");
    assert_eq!(result["status"]["may_have_run"], true, "{result}");
    assert!(gone(shell, ENDING + SLACK), "the call goes on");
    // Where a way there is again, so is the target.
    assert_eq!(on(&world, &["run", "exit 4"])?.code, 4);
    drop(sshd);
    world.assert_nothing_left(SOON);
    Ok(())
}

/// A host whose machine has frozen, with the way to the target.
fn freeze(host: &Child) -> Result<u32> {
    let ssh = ssh_of(host.id())?;
    for pid in [host.id(), ssh] {
        signal(pid, Signal::STOP)?;
    }
    Ok(ssh)
}

#[test]
fn silence_is_a_cut_at_both_ends() -> Result<()> {
    /// The shortest that there is, and what a host waits itself.
    const SILENCE: Duration = Duration::from_secs(25);
    let worlds = [World::new()?, World::new()?, World::new()?];
    let mut servers = Vec::new();
    for world in &worlds {
        servers.push(Sshd::start(world, None)?);
    }
    let [frozen, unleased, silent] = &worlds;
    let (mut frozen_host, frozen_shell) = running(frozen, "25s")?;
    let (mut unleased_host, unleased_shell) = running(unleased, "600s")?;
    let (silent_host, silent_shell) = running(silent, "600s")?;
    let frozen_ssh = freeze(&frozen_host)?;
    let unleased_ssh = freeze(&unleased_host)?;
    let silent_ssh = ssh_of(silent_host.id())?;
    signal(silent_ssh, Signal::STOP)?;

    // There: the lease ends it, though nobody has closed anything.
    assert!(
        gone(frozen_shell, SILENCE + ENDING + SLACK),
        "the call goes on"
    );
    // The control: as long with a long lease.
    assert!(is_alive(unleased_shell), "it needed no lease");
    // Here: it is lost, and the way there is closed, which ends it there.
    let ended = product::Ran::from(silent_host.wait_with_output()?);
    assert_eq!(ended.code, 70, "{ended:?}");
    assert!(
        ended.stdout.contains("nothing was heard of the target"),
        "{ended:?}"
    );
    assert!(gone(silent_ssh, SOON), "ssh is left");
    assert!(gone(silent_shell, ENDING + SLACK), "the call goes on");

    for (host, ssh) in [
        (&mut frozen_host, frozen_ssh),
        (&mut unleased_host, unleased_ssh),
    ] {
        host.kill()?;
        host.wait()?;
        signal(ssh, Signal::KILL)?;
    }
    drop(servers);
    for world in worlds {
        world.assert_nothing_left(SOON);
    }
    Ok(())
}
