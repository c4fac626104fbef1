//! `agent-bash run`.

use super::values::{
    ChangesArg, DEFAULT_SESSION, ModeArg, ProfileArg, SafeLevelArg, SandboxArg, ShowArg, StdinArg,
    TrialArg, assignment, duration, kilobytes, lines, session_name,
};
use clap::Args;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(after_help = "\
The text on stdout is what a model would read; `--json` prints the whole result instead.
If the text does not show the whole output, it names the stored output as artifact://ID.

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

    /// How long the command may take: `default`, `slow` (builds, tests), or `background`
    /// (detached).
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<ModeArg>,

    /// Time limit: seconds, or a number with a unit (1500ms, 90s, 2m, 1h).
    #[arg(long, value_name = "DURATION", value_parser = duration, allow_negative_numbers = true)]
    pub(crate) timeout: Option<Duration>,

    /// Wait until the command ends: no time limit unless --timeout sets one.
    #[arg(long)]
    pub(crate) wait: bool,

    /// The directory to run in.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// Keep only the first N lines of stdout.
    #[arg(long, value_name = "N", value_parser = lines, allow_negative_numbers = true)]
    pub(crate) head: Option<NonZeroU64>,

    /// Keep only the last N lines of stdout; after --head, if both are given.
    #[arg(long, value_name = "N", value_parser = lines, allow_negative_numbers = true)]
    pub(crate) tail: Option<NonZeroU64>,

    /// The part of a long output to show: its beginning, end, or both. The default is the
    /// profile's.
    #[arg(long, value_name = "PART")]
    pub(crate) show: Option<ShowArg>,

    /// Show up to N KB of the output, from 1 to 400, instead of what the profile shows.
    #[arg(long, value_name = "N", value_parser = kilobytes, allow_negative_numbers = true)]
    pub(crate) show_kb: Option<NonZeroU64>,

    /// Set a variable for the command; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub(crate) env: Vec<(String, String)>,

    /// Let the command read the stdin of `agent-bash`; without this option, its stdin is empty.
    /// `pipe` is for background jobs that receive input later, through `jobs input`.
    #[arg(long, value_name = "SOURCE", num_args = 0..=1, require_equals = true, default_missing_value = "inherit")]
    pub(crate) stdin: Option<StdinArg>,

    /// Run the command only if it is on safe mode's list: in a read-only sandbox (`read_only`, the
    /// default) or without a sandbox (`listed`).
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "read_only")]
    pub(crate) safe_mode: Option<SafeLevelArg>,

    /// Run the command in a sandbox that the kernel enforces: it may write only in its own
    /// temporary directory, or also in the workspace. If the system has no sandbox, the command is
    /// refused.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) sandbox: Option<SandboxArg>,

    /// The network of the sandbox: `off`, `loopback`, `on`, or a list with commas of the only hosts
    /// to reach and of presets (`npm`, `pypi`, `crates`, `github`, `debian`).
    #[arg(long, value_name = "NETWORK")]
    pub(crate) network: Option<String>,

    /// A directory that the command may write besides the workspace, with `--sandbox
    /// workspace_write`; may be repeated.
    #[arg(long, value_name = "DIR")]
    pub(crate) writable: Vec<PathBuf>,

    /// Run the command on another machine: the NAME of a [targets.NAME] section of the settings,
    /// `ssh:[user@]host[:port]`, docker:NAME, podman:NAME or
    /// kube:[context/]namespace/pod[/container]. The rules are checked on this machine. The first
    /// connection uploads agent-bash.
    #[arg(long, value_name = "TARGET", conflicts_with_all = ["pty", "record"])]
    pub(crate) on: Option<String>,

    /// Hold back the command's changes to the workspace, and show them. You commit or discard them
    /// later with `agent-bash changes`; with `atomic`, exit code 0 commits them at once. If the
    /// system cannot hold back changes, the command is refused.
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "hold")]
    pub(crate) trial: Option<TrialArg>,

    /// How much is recorded of the command's changes to files.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) changes: Option<ChangesArg>,

    /// The model's other tools, such as `read,grep`. If one of them is better suited than a
    /// command, the command is refused or gets a note, depending on the setting `interceptor.mode`.
    #[arg(long, value_name = "TOOL,…", value_delimiter = ',')]
    pub(crate) tools: Option<Vec<String>>,

    /// Store outputs and jobs in the state directory of this name.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_SESSION, value_parser = session_name)]
    pub(crate) state: String,

    /// Print the result as one line of JSON.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print the output as it arrives; with --json, to stderr.
    #[arg(long)]
    pub(crate) stream: bool,

    /// Run the command on its own terminal, which yours shows until the command ends: editors,
    /// pagers and prompts work.
    #[arg(long, conflicts_with_all = ["stdin", "stream", "head", "tail"])]
    pub(crate) pty: bool,

    /// Record the terminal of --pty as asciicast v2, which `asciinema play` shows. Keyboard input
    /// is not recorded.
    #[arg(long, value_name = "FILE", requires = "pty")]
    pub(crate) record: Option<PathBuf>,
}
