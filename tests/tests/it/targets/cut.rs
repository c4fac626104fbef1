//! The way to a target is cut, on purpose or not: what is said here, and what is left there.

use super::SOON;
use agent_bash_tests::product;
use agent_bash_tests::targets::running::{ENDING, client_of, has_ended, is_alive, running, signal};
use agent_bash_tests::targets::{Sshd, on};
use agent_bash_tests::world::World;
use anyhow::Result;
use rustix::process::Signal;
use std::process::Child;
use std::time::Duration;

#[test]
fn what_is_cancelled_here_ends_there() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    let (host, shell) = running(&world, "60s")?;
    signal(host.id(), Signal::INT)?;
    let ended = product::CommandResult::from(host.wait_with_output()?);
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
    assert!(has_ended(shell, ENDING), "the call goes on");
    drop(sshd);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn a_killed_ssh_is_a_lost_call_and_never_an_end() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    let (host, shell) = running(&world, "60s")?;
    signal(client_of(host.id(), "ssh")?, Signal::KILL)?;
    let ended = product::CommandResult::from(host.wait_with_output()?);
    assert_eq!(ended.code, 70, "{ended:?}");
    let result: serde_json::Value = serde_json::from_str(&ended.stdout)?;
    assert_eq!(result["status"]["kind"], "lost", "{result}");
    assert_eq!(result["status"]["may_have_run"], true, "{result}");
    assert!(has_ended(shell, ENDING), "the call goes on");
    // Where a way there is again, so is the target.
    assert_eq!(on(&world, &["run", "exit 4"])?.code, 4);
    drop(sshd);
    world.assert_nothing_left(SOON);
    Ok(())
}

/// A host whose machine has frozen, with the way to the target.
fn freeze(host: &Child) -> Result<u32> {
    let ssh = client_of(host.id(), "ssh")?;
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
    let silent_ssh = client_of(silent_host.id(), "ssh")?;
    signal(silent_ssh, Signal::STOP)?;

    // There: the lease ends it, though nobody has closed anything.
    assert!(
        has_ended(frozen_shell, SILENCE + ENDING),
        "the call goes on"
    );
    // The control: as long with a long lease.
    assert!(is_alive(unleased_shell), "it needed no lease");
    // Here: it is lost, and the way there is closed, which ends it there.
    let ended = product::CommandResult::from(silent_host.wait_with_output()?);
    assert_eq!(ended.code, 70, "{ended:?}");
    assert!(
        ended.stdout.contains("nothing was heard of the target"),
        "{ended:?}"
    );
    assert!(has_ended(silent_ssh, SOON), "ssh is left");
    assert!(has_ended(silent_shell, ENDING), "the call goes on");

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
