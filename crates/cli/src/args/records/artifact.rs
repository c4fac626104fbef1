//! `agent-bash artifact`.

use crate::args::values::{lines, session_name};
use clap::{Args, Subcommand};
use std::num::NonZeroU64;

#[derive(Debug, Args)]
#[command(after_help = "\
Outputs of one-shot commands are kept for 24 hours.

Without --state, the command reads the state of `agent-bash run` (`cli`) or of the agent
conversation that was last recorded in this project (`agent-bash shell`), whichever has the newer
output. The conversation is named on stderr.

  agent-bash artifact show 3 --offset 2000     lines 2000 and on
  agent-bash artifact show artifact://3 --tail 50
  agent-bash artifact grep 'error(\\[E\\d+\\])?:' 3 -C 2")]
pub(crate) struct ArtifactArgs {
    #[command(subcommand)]
    pub(crate) action: ArtifactAction,

    /// The state directory to look in; see below for the default.
    #[arg(long, global = true, value_name = "NAME", value_parser = session_name)]
    pub(crate) state: Option<String>,

    /// Use another machine: a target as in `run --on`.
    #[arg(long, global = true, value_name = "TARGET")]
    pub(crate) on: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ArtifactAction {
    /// List the stored outputs, oldest first.
    List {
        /// Print one JSON object per line.
        #[arg(long)]
        json: bool,
    },
    /// Print a page of a stored output.
    Show {
        /// The artifact's number, its link (`artifact://3`), or its path.
        id: String,
        /// First line, from 1.
        #[arg(
            long,
            value_name = "LINE",
            default_value = "1",
            value_parser = lines,
            allow_negative_numbers = true,
            conflicts_with = "tail"
        )]
        offset: NonZeroU64,
        /// Number of lines; 2000 if omitted. A page has at most 250 KB.
        #[arg(long, value_name = "N", conflicts_with = "tail", value_parser = lines, allow_negative_numbers = true)]
        limit: Option<NonZeroU64>,
        /// Start at this byte of the file instead, where a page ended inside a line.
        #[arg(long, value_name = "OFFSET", conflicts_with_all = ["offset", "limit", "tail"])]
        byte: Option<u64>,
        /// Show the last N lines instead.
        #[arg(long, value_name = "N", value_parser = lines, allow_negative_numbers = true)]
        tail: Option<NonZeroU64>,
    },
    /// Print the lines of a stored output that match a regular expression. Exit code 1 if no line
    /// matches.
    Grep {
        /// The expression; `(?i)` in front ignores case.
        pattern: String,
        /// The artifact's number, its link (`artifact://3`), or its path.
        id: String,
        /// Lines of context around each match.
        #[arg(long, short = 'C', value_name = "N", default_value_t = 0)]
        context: usize,
        /// Search from this line on.
        #[arg(long, value_name = "LINE", default_value = "1", value_parser = lines, allow_negative_numbers = true)]
        offset: NonZeroU64,
        /// Show at most this many matches.
        #[arg(long, value_name = "N", default_value_t = 200)]
        limit: usize,
    },
}
