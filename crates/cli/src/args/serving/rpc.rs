//! Arguments of `rpc`, and those that all servers share.

use crate::args::chosen_settings::ChosenSettings;
use crate::args::values::{ProfileArg, SafeLevelArg, session_name};
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
One JSON object per line: requests on stdin, responses and updates on stdout. Requests run
concurrently.

  {\"id\": 1, \"type\": \"tool_call\", \"request\": {\"command\": \"make\"}, \"stream\": true}
  {\"id\": 2, \"type\": \"cancel\", \"target\": 1}
  {\"id\": 3, \"type\": \"ping\"}

The server ends at the end of stdin or at SIGTERM: running commands are cancelled, jobs continue.
All messages: agent-bash man --guide rpc.")]
pub(crate) struct RpcArgs {
    #[command(flatten)]
    pub(crate) serving: ServingArgs,

    /// Run the calls of a host on another machine, which has already checked them. Its first
    /// message, `hello`, brings settings, session, directory and lease; the settings of this
    /// machine are ignored.
    #[arg(long, conflicts_with_all = ["profile", "safe_mode", "tools", "state", "on"])]
    pub(crate) worker: bool,
}

// Options of a server. Not a doc comment, because clap would use it as the help of the command.
#[derive(Debug, Args)]
pub(crate) struct ServingArgs {
    /// How calls behave and how their results read; `standard` unless the settings say otherwise.
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<ProfileArg>,

    /// Allow only the commands on safe mode's list: in a read-only sandbox (`read_only`, the
    /// default) or without a sandbox (`listed`).
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "read_only")]
    pub(crate) safe_mode: Option<SafeLevelArg>,

    /// The model's other tools, such as `read,grep`. If one of them is better suited than a
    /// command, the command is refused or gets a note, depending on the setting `interceptor.mode`.
    #[arg(long, value_name = "TOOL,…", value_delimiter = ',')]
    pub(crate) tools: Option<Vec<String>>,

    /// Run calls on another machine: the NAME of a [targets.NAME] section of the settings,
    /// `ssh:[user@]host[:port]`, docker:NAME, podman:NAME or
    /// kube:[context/]namespace/pod[/container]. The rules are checked on this machine. The first
    /// connection uploads agent-bash.
    #[arg(long, value_name = "TARGET")]
    pub(crate) on: Option<String>,

    /// Store jobs and artifacts in the state directory of this name. The default belongs to the
    /// working directory, so that the next server that starts there finds running jobs again.
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
