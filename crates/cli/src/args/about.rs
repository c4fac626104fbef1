//! The commands that report, and `sandbox run`: `schema`, `env`, `settings`, `doctor`, `sandbox`.

use super::values::{ProfileArg, SandboxArg, adapter};
use agent_bash::tools::adapter::Adapter;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use std::ffi::OsString;
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
  agent-bash run --sandbox workspace_write --network on 'cargo fetch'
  agent-bash sandbox run -- claude")]
pub(crate) struct SandboxArgs {
    #[command(subcommand)]
    pub(crate) action: Option<SandboxAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SandboxAction {
    /// Run a program, such as an agent, on this terminal in a sandbox.
    Run(SandboxRunArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
The program has this terminal, the whole environment and no limits of time or output. The sandbox
also holds for everything that the program starts, until these processes end. It may write the
workspace, its own temporary files, and the files that the named agent needs; its network reaches
the hosts that the agent needs. A change is not recorded, and `agent-bash shell` within it is plain
bash.

  agent-bash sandbox run -- claude
  agent-bash sandbox run --network npm,github -- codex --full-auto
  agent-bash sandbox run --level read_only --network off -- bash")]
pub(crate) struct SandboxRunArgs {
    /// The files that the program may write.
    #[arg(long, value_name = "LEVEL", default_value = "workspace_write")]
    pub(crate) level: SandboxArg,

    /// The network: `off`, `loopback`, `on`, or a list with commas of hosts and presets, to which
    /// the agent's hosts are added.
    #[arg(long, value_name = "NETWORK")]
    pub(crate) network: Option<String>,

    /// A directory or a file that the program may write; may be repeated.
    #[arg(long, value_name = "PATH")]
    pub(crate) writable: Vec<PathBuf>,

    /// The agent whose files and hosts the sandbox allows. Without this option, the agent with the
    /// program's name; `none` for none.
    #[arg(long, value_name = "AGENT", value_parser = agents_in_sandbox())]
    pub(crate) agent: Option<String>,

    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) program: Vec<OsString>,
}

/// Accepts the agents whose needs are known, and `none`.
fn agents_in_sandbox() -> PossibleValuesParser {
    PossibleValuesParser::new(agent_bash_hooks::sandboxed_programs().chain(["none"]))
}
