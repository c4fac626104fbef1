//! `agent-bash log` and `agent-bash report`.

use super::values::session_name;
use clap::Args;
use std::path::PathBuf;

/// Which record is read.
#[derive(Debug, Args)]
pub(crate) struct Recorded {
    /// The session; by default the one that was recorded last.
    #[arg(value_name = "SESSION", value_parser = session_name)]
    pub(crate) session: Option<String>,

    /// Everything that is kept of the session, not only of its last process.
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
rpc, mcp and tui record what ran and how it ended; other commands, and outputs, where the
setting journal.level says so. Secrets are taken out.

  agent-bash log                     the calls of the session that was recorded last
  agent-bash log --list              which sessions there are
  agent-bash log mcp-project-1f0a    those of another
  agent-bash log --json | jq         as data")]
pub(crate) struct LogArgs {
    #[command(flatten)]
    pub(crate) recorded: Recorded,

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

  agent-bash report                        report.html, of the session that was recorded last
  agent-bash report mcp-project-1f0a -o -  of another, to stdout")]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) recorded: Recorded,

    /// Where to write the page; `-` is stdout. An existing file is replaced.
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub(crate) output: PathBuf,
}
