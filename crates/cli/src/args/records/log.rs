//! `agent-bash log` and `agent-bash report`.

use crate::args::values::{RecordName, recorded_name};
use clap::Args;
use std::path::PathBuf;

// Selects a record. Not a doc comment, because clap would use it as the help of the command.
#[derive(Debug, Args)]
pub(crate) struct RecordSelection {
    /// The session, or one of its records, as `--list` names them; by default the record that was
    /// last written to, in this project if it has one.
    #[arg(value_name = "SESSION[@NUMBER]", value_parser = recorded_name)]
    pub(crate) session: Option<RecordName>,

    /// All stored records of the session, instead of the record of one process.
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
rpc, mcp, shell and tui record each command and how it ended. The setting journal.level turns the
record on for `run`, and adds outputs. Secrets are masked.

  agent-bash log                     the last record of this project
  agent-bash log --list              all sessions with a record
  agent-bash log mcp-project-1f0a    the last record of another session
  agent-bash log mcp-project-1f0a@2  the second record of that session
  agent-bash log --json | jq         as data")]
pub(crate) struct LogArgs {
    #[command(flatten)]
    pub(crate) recorded: RecordSelection,

    /// List the stored records, oldest first.
    #[arg(long, conflicts_with_all = ["session", "all"])]
    pub(crate) list: bool,

    /// Only the last COUNT calls.
    #[arg(short = 'n', long, value_name = "COUNT", conflicts_with = "list")]
    pub(crate) last: Option<usize>,

    /// Print one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The page is one file that loads no others. To show outputs on it, record them:
AGENT_BASH_JOURNAL_LEVEL=full, or level = \"full\" in the section [journal] of the settings.

  agent-bash report                        write report.html from the last record
  agent-bash report mcp-project-1f0a -o -  print the page of another session")]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) recorded: RecordSelection,

    /// The file for the page; `-` is stdout. An existing file is replaced; a pipe or a device is
    /// written to. Without this option, the file is `report.html`, unless a link has this name.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
