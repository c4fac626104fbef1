//! Targets for `--on`, made of real engines.
//!
//! What a world needs to reach one is in it: a program of the engine's name on its PATH, which knows the tests' own
//! configuration, and `[targets.box]` in its settings. Dropping an engine ends it.

pub mod docker;
mod sshd;

pub use docker::{Container, Docker};
pub use sshd::Sshd;

use crate::poll;
use crate::world::World;
use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

/// What a target is called in the settings of its world.
pub const NAME: &str = "box";

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
