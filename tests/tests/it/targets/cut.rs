//! The connection to the target is cut, on purpose or not: the local result, and the remote
//! leftovers.

use super::SOON;
use agent_bash_tests::product;
use agent_bash_tests::targets::running::{
    ENDING, client_of, has_ended, is_alive, signal, start_call,
};
use agent_bash_tests::targets::{Sshd, on};
use agent_bash_tests::world::World;
use anyhow::Result;
use rustix::process::Signal;
use std::process::Child;
use std::time::Duration;

#[test]
fn local_cancellation_ends_the_remote_call() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    let (host, shell) = start_call(&world, "60s")?;
    signal(host.id(), Signal::INT)?;
    let ended = product::CommandResult::from(host.wait_with_output()?);
    assert_eq!(ended.code, 130, "{ended:?}");
    assert!(!is_alive(shell), "the call goes on");
    drop(sshd);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn killed_host_leaves_no_remote_processes() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    let (mut host, shell) = start_call(&world, "60s")?;
    host.kill()?;
    host.wait()?;
    assert!(has_ended(shell, ENDING), "the call goes on");
    drop(sshd);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn killed_ssh_makes_the_call_lost() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    let (host, shell) = start_call(&world, "60s")?;
    signal(client_of(host.id(), "ssh")?, Signal::KILL)?;
    let ended = product::CommandResult::from(host.wait_with_output()?);
    assert_eq!(ended.code, 70, "{ended:?}");
    let result: serde_json::Value = serde_json::from_str(&ended.stdout)?;
    assert_eq!(result["status"]["kind"], "lost", "{result}");
    assert_eq!(result["status"]["may_have_run"], true, "{result}");
    assert!(has_ended(shell, ENDING), "the call goes on");
    // Once the connection works again, the target does, too.
    assert_eq!(on(&world, &["run", "exit 4"])?.code, 4);
    drop(sshd);
    world.assert_nothing_left(SOON);
    Ok(())
}

/// Stops the host and the connection to the target, as on a frozen machine.
fn freeze(host: &Child) -> Result<u32> {
    let ssh = client_of(host.id(), "ssh")?;
    for pid in [host.id(), ssh] {
        signal(pid, Signal::STOP)?;
    }
    Ok(ssh)
}

#[test]
fn silent_connection_is_lost_at_both_ends() -> Result<()> {
    /// The shortest lease; also the host's own deadline.
    const SILENCE: Duration = Duration::from_secs(25);
    let worlds = [World::new()?, World::new()?, World::new()?];
    let mut servers = Vec::new();
    for world in &worlds {
        servers.push(Sshd::start(world, None)?);
    }
    let [frozen, unleased, silent] = &worlds;
    let (mut frozen_host, frozen_shell) = start_call(frozen, "25s")?;
    let (mut unleased_host, unleased_shell) = start_call(unleased, "600s")?;
    let (silent_host, silent_shell) = start_call(silent, "600s")?;
    let frozen_ssh = freeze(&frozen_host)?;
    let unleased_ssh = freeze(&unleased_host)?;
    let silent_ssh = client_of(silent_host.id(), "ssh")?;
    signal(silent_ssh, Signal::STOP)?;

    // On the target, the lease ends the call, although no connection was closed.
    assert!(
        has_ended(frozen_shell, SILENCE + ENDING),
        "the call goes on"
    );
    // Control: the same time with a long lease.
    assert!(is_alive(unleased_shell), "it needed no lease");
    // Locally, the call is lost, and its connection is closed, which ends it on the target.
    let ended = product::CommandResult::from(silent_host.wait_with_output()?);
    assert_eq!(ended.code, 70, "{ended:?}");
    assert!(
        ended.stdout.contains("the target sent nothing for"),
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
