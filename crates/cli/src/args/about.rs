//! The commands that report: `schema`, `env`, `settings`, `doctor`, `sandbox`.

use super::values::{ProfileArg, adapter};
use agent_bash::adapters::Adapter;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The profile of the tool; `standard` unless the settings say otherwise.
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<ProfileArg>,

    /// Print the tools of an adapter instead, in the form that their provider's API takes.
    #[arg(long, value_name = "NAME", value_parser = adapter(), conflicts_with_all = ["profile", "cwd"])]
    pub(crate) adapter: Option<&'static Adapter>,

    /// The working directory named in the description.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// Print the tool that a server offers for another machine: a target as in `run --on`.
    #[arg(long, value_name = "TARGET", conflicts_with_all = ["adapter", "cwd"])]
    pub(crate) on: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct EnvArgs {
    /// Print one JSON object: the variables, and the names of those that were removed.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Settings are read from ~/.config/agent-bash/config.toml, then .agent-bash.toml in the working
directory or above it (a project's file may only tighten), then AGENT_BASH_… variables, then
options. Servers and the interface read the settings only when they start.

  agent-bash settings --default > ~/.config/agent-bash/config.toml
  AGENT_BASH_SAFE_MODE_LEVEL=read_only agent-bash settings")]
pub(crate) struct SettingsArgs {
    /// Print a settings file with every setting explained and commented out.
    #[arg(long, conflicts_with = "json")]
    pub(crate) default: bool,
    /// Print one JSON object: for each setting its value as TOML, and where it came from.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit code 0 if everything works, 1 if something does not.")]
pub(crate) struct DoctorArgs {
    /// Check another machine: a target as in `run --on`.
    #[arg(long, value_name = "TARGET")]
    pub(crate) on: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Each attempt runs without a sandbox first, because an attempt that fails there proves nothing. Only
a temporary directory is changed. Exit code 0 if every promise is kept, 1 if one is broken.

  agent-bash run --sandbox read_only 'make check'
  agent-bash run --sandbox workspace_write --network on 'cargo fetch'")]
pub(crate) struct SandboxArgs {}
