//! Targets for `--on`, made of real engines.
//!
//! What a world needs to reach one is in it: a program of the engine's name on its PATH, which knows the tests' own
//! configuration, and `[targets.box]` in its settings. Dropping an engine ends it.

pub mod docker;
mod image;
pub mod kube;
pub mod podman;
pub mod running;
mod sshd;

pub use docker::{Container, Docker};
pub use podman::Podman;
pub use sshd::Sshd;

use crate::poll;
use crate::product::{self, CommandResult};
use crate::world::World;
use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

/// What a target is called in the settings of its world.
pub const NAME: &str = "box";

/// Names the engines that have to run here, with spaces between them: one of them that cannot is a failure. Without it, what
/// is not run is only said.
const REQUIRED: &str = "AGENT_BASH_TEST_ENGINES";

/// What a test is called that stands for all tests of an engine that cannot run here.
pub fn not_run(what: &str, why: &str) -> String {
    format!("{what} is not run here: {why}")
}

/// That test.
///
/// # Errors
/// The engine has to run here.
#[expect(
    clippy::disallowed_methods,
    reason = "a test program is a user of its own environment"
)]
pub fn may_be_left_out(engine: &str) -> Result<()> {
    let required = std::env::var(REQUIRED).unwrap_or_default();
    ensure!(
        required.split_whitespace().all(|name| name != engine),
        "{REQUIRED} says that it has to run"
    );
    Ok(())
}

/// `agent-bash` with these words, and `--on` the world's target.
///
/// # Errors
/// There is no program to test.
pub fn command(world: &World, words: &[&str]) -> Result<Command> {
    let mut command = world.command(product::agent_bash()?);
    let (first, rest) = words.split_at(1);
    command.args(first).args(["--on", NAME]).args(rest);
    Ok(command)
}

/// Runs that to its end.
///
/// # Errors
/// It cannot be started.
pub fn on(world: &World, words: &[&str]) -> Result<CommandResult> {
    product::run(command(world, words)?, None)
}

/// Ends a server in order, so that it can end what it has started; by force after `limit`.
fn stop(server: &mut Child, limit: Duration) -> Result<()> {
    let pid = Pid::from_raw(server.id().cast_signed()).context("a child has a process id")?;
    kill_process(pid, Signal::TERM)?;
    if poll::until(limit, || server.try_wait().transpose()).is_none() {
        server.kill()?;
        server.wait()?;
    }
    Ok(())
}

/// How a target is written into the settings of a world.
#[derive(Debug, Default)]
struct Written<'a> {
    transport: &'a str,
    to: &'a str,
    /// Calls begin in the world's directory.
    is_shared: bool,
    /// Variables of commands.
    env: BTreeMap<String, String>,
    /// Where our program is kept there, so that it is not uploaded to each.
    directory: Option<&'a Path>,
}

impl Written<'_> {
    fn write(&self, world: &World) -> Result<()> {
        let Self { transport, to, .. } = self;
        let mut text = format!("[targets.{NAME}]\ntransport = {transport:?}\nto = {to:?}\n");
        if self.is_shared {
            writeln!(text, "cwd = \"{}\"", world.cwd().display())?;
        }
        if let Some(directory) = self.directory {
            writeln!(text, "directory = \"{}\"", directory.display())?;
        }
        writeln!(text, "[targets.{NAME}.env]")?;
        for (name, value) in &self.env {
            writeln!(text, "{name} = {value:?}")?;
        }
        let config = world.home().join(".config/agent-bash");
        std::fs::create_dir_all(&config)?;
        Ok(std::fs::write(config.join("config.toml"), text)?)
    }
}
