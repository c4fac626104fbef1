//! A call that runs on a target while the connection is disturbed.

use super::{NAME, command};
use crate::world::World;
use crate::{poll, procfs};
use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::process::{Child, Stdio};
use std::time::Duration;

/// The time that processes may take to end on a busy machine.
pub const SOON: Duration = Duration::from_secs(30);

/// The time that the target may take to end a call after the signal: its grace period and 2 s, and
/// 10 s for a busy machine.
pub const ENDING: Duration = Duration::from_secs(2 + 2 + 10);

/// A call that writes its shell's pid into the file `pid` and keeps running.
const LONG_CALL: &str = "echo $$ > pid.part; mv pid.part pid; while :; do sleep 1; done";

/// Sends a signal.
///
/// # Errors
/// There is no such process.
pub fn signal(pid: u32, signal: Signal) -> Result<()> {
    let pid = Pid::from_raw(pid.cast_signed()).context("a pid")?;
    Ok(kill_process(pid, signal)?)
}

/// True if a process exists and is not a zombie.
pub fn is_alive(pid: u32) -> bool {
    procfs::process(pid).is_some_and(|process| process.is_alive())
}

/// True if the process ends within `patience`.
pub fn has_ended(pid: u32, patience: Duration) -> bool {
    poll::until(patience, || (!is_alive(pid)).then_some(())).is_some()
}

/// Starts a long call on the target with this lease, in the world's directory. Returns the local
/// program, and the pid of the remote shell.
///
/// # Errors
/// The call does not start.
pub fn start_call(world: &World, lease: &str) -> Result<(Child, u32)> {
    set_lease(world, lease)?;
    let mut command = command(world, &["run", "--json", LONG_CALL])?;
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let pid = world.cwd().join("pid");
    poll::exists(&pid, SOON)?;
    let shell = fs::read_to_string(pid)?.trim().parse()?;
    Ok((child, shell))
}

/// Writes the target's lease into the settings.
///
/// # Errors
/// The settings cannot be written.
pub fn set_lease(world: &World, lease: &str) -> Result<()> {
    let config = world.home().join(".config/agent-bash/config.toml");
    let text = fs::read_to_string(&config)?;
    let text = text.replace(
        &format!("[targets.{NAME}]\n"),
        &format!("[targets.{NAME}]\nlease = {lease:?}\n"),
    );
    Ok(fs::write(config, text)?)
}

/// Returns the pid of an engine's client that a process has started.
///
/// # Errors
/// The process has no such child.
pub fn client_of(host: u32, engine: &str) -> Result<u32> {
    let is_client =
        |process: &procfs::Process| process.parent == host && process.command.contains(engine);
    let found = procfs::processes().into_iter().find(is_client);
    Ok(found.with_context(|| format!("no {engine}"))?.pid)
}
