//! `agent-bash check` and `explain`.

use super::values::SafeLevelArg;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 the script may run, 1 it is refused, 2 it cannot be read.

The checks are guard rails against accidents, not a sandbox.
Groups of rules: core, inline_code and system are on; data_loss, remote_code and services are off.

  agent-bash check 'rm -rf \"$DIR\"'
  agent-bash check --groups core,inline_code,data_loss 'git reset --hard'
  agent-bash check --safe-mode read_only 'git log | head -5'
  agent-bash check --tools read,grep 'cat notes.txt'")]
pub(crate) struct CheckArgs {
    /// The script; `-` reads it from stdin.
    #[arg(
        value_name = "SCRIPT",
        required_unless_present = "batch",
        conflicts_with = "batch"
    )]
    pub(crate) script: Option<String>,

    #[command(flatten)]
    pub(crate) options: CheckOptions,

    /// Print the verdict as one line of JSON.
    #[arg(long)]
    pub(crate) json: bool,

    /// Read scripts from stdin, each as a JSON string on a line; print one JSON verdict per line.
    /// Exit code 0.
    #[arg(long)]
    pub(crate) batch: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes as of `check`: 0 the script may run, 1 it is refused, 2 it cannot be read.

  agent-bash explain 'cd /tmp && sudo rm -rf *'")]
pub(crate) struct ExplainArgs {
    /// The script; `-` reads it from stdin.
    #[arg(value_name = "SCRIPT")]
    pub(crate) script: String,

    #[command(flatten)]
    pub(crate) options: CheckOptions,

    /// Print everything as one line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

// The checks of a script. Not a doc comment, because clap would use it as the help of the command.
#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// Do only this check.
    #[arg(long, value_name = "CHECK")]
    pub(crate) only: Option<CheckArg>,

    /// Groups of safety rules to apply, instead of the default ones.
    #[arg(long, value_name = "GROUP,…", value_delimiter = ',')]
    pub(crate) groups: Option<Vec<String>>,

    /// Check the script against safe mode's list, too. Both levels have the same list.
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "read_only")]
    pub(crate) safe_mode: Option<SafeLevelArg>,

    /// Check whether one of these tools is better suited, too. Without this option, the tools of
    /// the settings are checked if `interceptor.mode` is `block`.
    #[arg(long, value_name = "TOOL,…", value_delimiter = ',')]
    pub(crate) tools: Option<Vec<String>>,

    /// Check the script as if it ran in this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
}

/// One of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckArg {
    /// Check for unintended harm.
    Safety,
    /// Check by safe mode's list.
    Safemode,
    /// Check for a better tool.
    Interceptor,
}
