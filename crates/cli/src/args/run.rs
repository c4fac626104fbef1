//! `agent-bash run`.

use super::values::{
    ChangesArg, DEFAULT_SESSION, ModeArg, NetworkArg, ProfileArg, SafeLevelArg, SandboxArg,
    ShowArg, StdinArg, TrialArg, assignment, duration, kilobytes, lines, session_name,
};
use clap::Args;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(after_help = "\
The text on stdout is what a model would read; `--json` prints the whole result instead.
Output that is not shown is kept: the text names it as artifact://ID.

  agent-bash run --timeout 90s --mode slow 'cargo build'
  agent-bash run --tail 20 'make'
  echo 'echo from stdin' | agent-bash run -
  echo '{\"command\": \"ls\", \"cwd\": \"src\"}' | agent-bash run --request")]
pub(crate) struct RunArgs {
    /// The script; several words are quoted and joined (put `--` before them); `-` reads the script
    /// from stdin.
    #[arg(
        value_name = "SCRIPT",
        required_unless_present = "request",
        conflicts_with = "request"
    )]
    pub(crate) script: Vec<String>,

    /// Read the call as a JSON object from stdin: {"command": "…", "timeout": 90, …}.
    #[arg(
        long,
        conflicts_with_all = ["mode", "timeout", "wait", "cwd", "head", "tail", "show", "show_kb", "env", "stdin"]
    )]
    pub(crate) request: bool,

    /// How the call behaves and how its result reads; `standard` unless the settings say otherwise.
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<ProfileArg>,

    /// How long it may take: `default`, `slow` (builds, tests), or `background` (detached).
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<ModeArg>,

    /// Time limit: seconds, or a number with a unit (1500ms, 90s, 2m, 1h).
    #[arg(long, value_name = "DURATION", value_parser = duration, allow_negative_numbers = true)]
    pub(crate) timeout: Option<Duration>,

    /// Wait for its end however long: no time limit unless --timeout names one.
    #[arg(long)]
    pub(crate) wait: bool,

    /// Directory to run in.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// Keep only the first N lines of stdout.
    #[arg(long, value_name = "N", value_parser = lines, allow_negative_numbers = true)]
    pub(crate) head: Option<NonZeroU64>,

    /// Keep only the last N lines of stdout; after --head, if both are given.
    #[arg(long, value_name = "N", value_parser = lines, allow_negative_numbers = true)]
    pub(crate) tail: Option<NonZeroU64>,

    /// The part of a long output to show, instead of the profile's: its beginning, end, or both.
    #[arg(long, value_name = "PART")]
    pub(crate) show: Option<ShowArg>,

    /// Show up to N KB of the output, from 1 to 400, instead of what the profile shows.
    #[arg(long, value_name = "N", value_parser = kilobytes, allow_negative_numbers = true)]
    pub(crate) show_kb: Option<NonZeroU64>,

    /// Set a variable for the command; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub(crate) env: Vec<(String, String)>,

    /// Let the command read our own stdin; without this it reads nothing. `pipe` is for background
    /// jobs that receive input later through `jobs input`.
    #[arg(long, value_name = "SOURCE", num_args = 0..=1, require_equals = true, default_missing_value = "inherit")]
    pub(crate) stdin: Option<StdinArg>,

    /// Run it only if safe mode's list allows it, in a sandbox that holds it to reading
    /// (`read_only`, the default) or without (`listed`).
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "read_only")]
    pub(crate) safe_mode: Option<SafeLevelArg>,

    /// Run it in a sandbox that the kernel holds: it may write in its own temporary directory only,
    /// or in the workspace too. Refused where the system cannot.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) sandbox: Option<SandboxArg>,

    /// The network of the sandbox.
    #[arg(long, value_name = "NETWORK")]
    pub(crate) network: Option<NetworkArg>,

    /// A directory that `--sandbox workspace_write` may write besides the workspace; may be
    /// repeated.
    #[arg(long, value_name = "DIR")]
    pub(crate) writable: Vec<PathBuf>,

    /// Run it on another machine: a name of the settings' [targets.NAME], `ssh:[user@]host[:port]`,
    /// docker:NAME, podman:NAME or kube:[context/]namespace/pod[/container]. What may run is judged
    /// here; what it needs is uploaded there once.
    #[arg(long, value_name = "TARGET", conflicts_with_all = ["pty", "record"])]
    pub(crate) on: Option<String>,

    /// Hold back what it changes in the workspace: show it, and commit or discard it later
    /// (`changes`), or commit it at once if it exits with 0 (`atomic`). Refused where the system
    /// cannot; never run for real instead.
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "hold")]
    pub(crate) trial: Option<TrialArg>,

    /// How much is recorded of its changes to files: nothing, the list, or all that an undo needs.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) changes: Option<ChangesArg>,

    /// The other tools that the model has, such as `read,grep`: commands for which one of them is
    /// better suited are refused or commented on, depending on the setting `interceptor.mode`.
    #[arg(long, value_name = "TOOL,…", value_delimiter = ',')]
    pub(crate) tools: Option<Vec<String>>,

    /// Keep artifacts in the on-disk session of this name.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_SESSION, value_parser = session_name)]
    pub(crate) state: String,

    /// Print the result as one line of JSON.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print the output as it comes; with --json to stderr.
    #[arg(long)]
    pub(crate) stream: bool,

    /// Run it on a terminal of its own, shown on ours until it ends: editors, pagers and prompts
    /// work.
    #[arg(long, conflicts_with_all = ["stdin", "stream", "head", "tail"])]
    pub(crate) pty: bool,

    /// Record that terminal as asciicast v2, which `asciinema play` shows. Keyboard input is not
    /// recorded.
    #[arg(long, value_name = "FILE", requires = "pty")]
    pub(crate) record: Option<PathBuf>,
}
