//! Targets for `--on`, made of real engines.
//!
//! A world contains everything to reach its target: a program with the engine's name on its PATH,
//! which uses the tests' configuration, and `[targets.box]` in its settings. Dropping an engine
//! stops it.

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

/// The name of the target in the settings of its world.
pub const NAME: &str = "box";

/// The variable with the engines that must run, separated by spaces: an engine that cannot run is
/// then a failure. Otherwise the tests only report skipped engines.
const REQUIRED_ENGINES_VARIABLE: &str = "AGENT_BASH_TEST_ENGINES";

/// Returns the name of the test that represents all tests of an engine that cannot run.
pub fn not_run(tests: &str, why: &str) -> String {
    format!("{tests} is not run here: {why}")
}

/// Reports a skipped engine.
///
/// # Errors
/// The engine must run.
#[expect(
    clippy::disallowed_methods,
    reason = "a test program is a user of its own environment"
)]
pub fn may_be_skipped(engine: &str) -> Result<()> {
    let required = std::env::var(REQUIRED_ENGINES_VARIABLE).unwrap_or_default();
    ensure!(
        required.split_whitespace().all(|name| name != engine),
        "{REQUIRED_ENGINES_VARIABLE} says that it has to run"
    );
    Ok(())
}

/// Returns `agent-bash` with these words, and `--on` the world's target.
///
/// # Errors
/// The binary under test is missing.
pub fn command(world: &World, words: &[&str]) -> Result<Command> {
    let mut command = world.command(product::agent_bash()?);
    let (first, rest) = words.split_at(1);
    command.args(first).args(["--on", NAME]).args(rest);
    Ok(command)
}

/// Runs [`command`] to its end.
///
/// # Errors
/// The command cannot be started.
pub fn on(world: &World, words: &[&str]) -> Result<CommandResult> {
    product::run(command(world, words)?, None)
}

/// Stops a server with SIGTERM, so that the server stops its children. Sends SIGKILL after `limit`.
fn stop(server: &mut Child, limit: Duration) -> Result<()> {
    let pid = Pid::from_raw(server.id().cast_signed()).context("a child has a process id")?;
    kill_process(pid, Signal::TERM)?;
    if poll::until(limit, || server.try_wait().transpose()).is_none() {
        server.kill()?;
        server.wait()?;
    }
    Ok(())
}

/// The entry of a target in the settings of a world.
#[derive(Debug, Default)]
struct TargetSettings<'a> {
    transport: &'a str,
    to: &'a str,
    /// True if calls start in the world's directory.
    is_shared: bool,
    /// The environment variables of commands.
    env: BTreeMap<String, String>,
    /// The program's directory on the target, so that not every target needs an upload.
    directory: Option<&'a Path>,
}

impl TargetSettings<'_> {
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
