//! A call that runs on a target while something becomes of the way there.

use super::{NAME, command};
use crate::world::World;
use crate::{poll, procfs};
use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::process::{Child, Stdio};
use std::time::Duration;

/// What processes may take to end on a busy machine.
pub const SOON: Duration = Duration::from_secs(30);

/// What the target may take to end a call once it knows: its grace period and 2 s; and what a busy machine takes on top.
pub const ENDING: Duration = Duration::from_secs(2 + 2 + 10);

/// A call that says its shell's pid in the file `pid`, and stays.
const STAYS: &str = "echo $$ > pid.part; mv pid.part pid; while :; do sleep 1; done";

/// Sends a signal.
///
/// # Errors
/// There is no such process.
pub fn signal(pid: u32, signal: Signal) -> Result<()> {
    let pid = Pid::from_raw(pid.cast_signed()).context("a pid")?;
    Ok(kill_process(pid, signal)?)
}

/// Whether a process is there, and no zombie.
pub fn is_alive(pid: u32) -> bool {
    procfs::process(pid).is_some_and(|process| process.is_alive())
}

/// Whether it has ended within `patience`.
pub fn has_ended(pid: u32, patience: Duration) -> bool {
    poll::until(patience, || (!is_alive(pid)).then_some(())).is_some()
}

/// Starts a call on the target of that lease, which stays, whose directory is this world's. Returns the program here, and the
/// pid of the shell there.
///
/// # Errors
/// It does not begin.
pub fn running(world: &World, lease: &str) -> Result<(Child, u32)> {
    set_lease(world, lease)?;
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

/// Writes the target's lease into the settings.
///
/// # Errors
/// They cannot be written.
pub fn set_lease(world: &World, lease: &str) -> Result<()> {
    let config = world.home().join(".config/agent-bash/config.toml");
    let text = fs::read_to_string(&config)?;
    let text = text.replace(
        &format!("[targets.{NAME}]\n"),
        &format!("[targets.{NAME}]\nlease = {lease:?}\n"),
    );
    Ok(fs::write(config, text)?)
}

/// The client of an engine that a process has started.
///
/// # Errors
/// There is none.
pub fn client_of(host: u32, engine: &str) -> Result<u32> {
    let is_it =
        |process: &procfs::Process| process.parent == host && process.command.contains(engine);
    let found = procfs::processes().into_iter().find(is_it);
    Ok(found.with_context(|| format!("no {engine}"))?.pid)
}
