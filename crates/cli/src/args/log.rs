//! `agent-bash log` and `agent-bash report`.

use super::values::{RecordName, recorded_name};
use clap::Args;
use std::path::PathBuf;

// Selects a record. Not a doc comment, because clap would use it as the help of the command.
#[derive(Debug, Args)]
pub(crate) struct RecordSelection {
    /// The session, or one of its records, as `--list` names them; by default the record that was
    /// last written to.
    #[arg(value_name = "SESSION[@NUMBER]", value_parser = recorded_name)]
    pub(crate) session: Option<RecordName>,

    /// Everything that is kept of the session, not only of one of its processes.
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
rpc, mcp and tui record what ran and how it ended; other commands, and outputs, where the
setting journal.level says so. Secrets are taken out.

  agent-bash log                     the record that was last written to
  agent-bash log --list              which sessions there are
  agent-bash log mcp-project-1f0a    that of another session
  agent-bash log mcp-project-1f0a@2  the second that is kept of it
  agent-bash log --json | jq         as data")]
pub(crate) struct LogArgs {
    #[command(flatten)]
    pub(crate) recorded: RecordSelection,

    /// List what is recorded, oldest first.
    #[arg(long, conflicts_with_all = ["session", "all"])]
    pub(crate) list: bool,

    /// Only the last calls.
    #[arg(short = 'n', long, value_name = "COUNT", conflicts_with = "list")]
    pub(crate) last: Option<usize>,

    /// Print JSON, one object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The page is one file that loads nothing. To have outputs on it, record them:
AGENT_BASH_JOURNAL_LEVEL=full, or level = \"full\" in the section [journal] of the settings.

  agent-bash report                        report.html, of what was last recorded
  agent-bash report mcp-project-1f0a -o -  of another, to stdout")]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) recorded: RecordSelection,

    /// The file for the page; `-` is stdout. A file that exists is replaced, a pipe or a device is
    /// written to.
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub(crate) output: PathBuf,
}
