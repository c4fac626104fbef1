//! Arguments of `rpc`, and those that all servers share.

use super::values::{ProfileArg, SafeLevelArg, session_name};
use crate::start::ChosenSettings;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
One JSON object a line: requests on stdin, responses and updates on stdout. Requests run beside
each other.

  {\"id\": 1, \"type\": \"tool_call\", \"request\": {\"command\": \"make\"}, \"stream\": true}
  {\"id\": 2, \"type\": \"cancel\", \"target\": 1}
  {\"id\": 3, \"type\": \"ping\"}

The end of stdin and SIGTERM end it: running commands are cancelled, background jobs live on.
All messages: agent-bash man --guide rpc.")]
pub(crate) struct RpcArgs {
    #[command(flatten)]
    pub(crate) serving: ServingArgs,

    /// Run what a host on another machine has judged, as its first message `hello` says: settings,
    /// session, directory and lease come from there, and this machine's settings do not count.
    #[arg(long, conflicts_with_all = ["profile", "safe_mode", "tools", "state", "on"])]
    pub(crate) worker: bool,
}

// Options of a server. Not a doc comment, because clap would use it as the help of the command.
#[derive(Debug, Args)]
pub(crate) struct ServingArgs {
    /// How calls behave and how their results read; `standard` unless the settings say otherwise.
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<ProfileArg>,

    /// Allow only what is on safe mode's list, in a sandbox that holds it to reading (`read_only`,
    /// the default) or without (`listed`).
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "read_only")]
    pub(crate) safe_mode: Option<SafeLevelArg>,

    /// The other tools that the model has, such as `read,grep`: commands for which one of them is
    /// better suited are refused or commented on, depending on the setting `interceptor.mode`.
    #[arg(long, value_name = "TOOL,…", value_delimiter = ',')]
    pub(crate) tools: Option<Vec<String>>,

    /// Run calls on another machine: a name of the settings' [targets.NAME],
    /// `ssh:[user@]host[:port]`, docker:NAME, podman:NAME or
    /// kube:[context/]namespace/pod[/container]. What may run is judged here; what it needs is
    /// uploaded there once.
    #[arg(long, value_name = "TARGET")]
    pub(crate) on: Option<String>,

    /// Keep jobs and artifacts in the on-disk session of this name; by default in one for this
    /// directory, where the next server started here finds live jobs again.
    #[arg(long, value_name = "NAME", value_parser = session_name)]
    pub(crate) state: Option<String>,
}

impl ServingArgs {
    /// Returns the settings that these options override.
    pub(crate) fn chosen(&self) -> ChosenSettings<'_> {
        ChosenSettings {
            profile: self.profile,
            safe_mode: self.safe_mode,
            tools: self.tools.as_deref(),
            ..ChosenSettings::default()
        }
    }
}
