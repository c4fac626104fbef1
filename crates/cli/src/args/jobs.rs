//! `agent-bash jobs`.

use super::values::{duration, lines, session_name};
use crate::commands::remote_output::FollowedJob;
use clap::{Args, Subcommand};
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(after_help = "\
A job is started by `agent-bash run --mode background 'SCRIPT'`; it goes on when this program has
ended. Jobs that have ended are kept for 24 hours.

Without --state, the command reads the state of `agent-bash run` (`cli`) or of the agent
conversation that was last recorded in this project (`agent-bash shell`), whichever has the newer
job. The conversation is named on stderr. If both have the number, and the job of `agent-bash run`
still runs, input and kill refuse to act on the conversation: name the state.

  agent-bash jobs output 3 --tail 20
  agent-bash jobs output 3 --follow     until it ends; Ctrl-C ends the watching, not the job
  agent-bash jobs wait 3 --timeout 2m && echo done
  agent-bash run --mode background --stdin=pipe 'python3 -i'
  agent-bash jobs input 4 'print(6 * 7)'
  agent-bash jobs input 4 --close")]
pub(crate) struct JobsArgs {
    #[command(subcommand)]
    pub(crate) action: JobsAction,

    /// The state directory to look in; see below for the default.
    #[arg(long, global = true, value_name = "NAME", value_parser = session_name)]
    pub(crate) state: Option<String>,

    /// Look on another machine: a target as `run --on` takes it.
    #[arg(long, global = true, value_name = "TARGET")]
    pub(crate) on: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum JobsAction {
    /// List them in the order in which they started.
    List {
        /// One line of JSON each.
        #[arg(long)]
        json: bool,
        /// Only jobs that listen on this TCP port.
        #[arg(long, value_name = "PORT")]
        port: Option<u16>,
    },
    /// Print the details of one as JSON.
    Show {
        /// The job's number.
        id: String,
    },
    /// Print the output of one.
    Output {
        /// The job's number.
        id: String,
        /// Only the last N lines.
        #[arg(long, value_name = "N", value_parser = lines, allow_negative_numbers = true)]
        tail: Option<NonZeroU64>,
        /// Keep printing new output until the job ends.
        #[arg(long, short = 'f')]
        follow: bool,
    },
    /// Write to the stdin of one that was started with `--stdin=pipe`.
    Input {
        /// The job's number.
        id: String,
        /// The text; a newline is appended. Without it, and without --close, our own stdin is
        /// copied unchanged.
        text: Option<String>,
        /// Append no newline.
        #[arg(long, short = 'n', requires = "text")]
        no_newline: bool,
        /// Close its stdin afterwards.
        #[arg(long)]
        close: bool,
    },
    /// Wait until one has ended, without ending it. Exit code 0, or 124 if it is still running.
    ///
    /// With --until-…, wait for the first of these conditions, and print the last output so far.
    /// Exit code 0 if one is met, 1 if the job ends before, 124 if the time is over.
    #[command(visible_alias = "await")]
    Wait {
        /// The job's number.
        id: String,
        /// Until a line of its output matches this regular expression.
        #[arg(long, value_name = "REGEX")]
        until_line: Option<String>,
        /// Until a TCP port accepts connections in its network.
        #[arg(long, value_name = "PORT")]
        until_port: Option<u16>,
        /// Until a file exists; relative to its directory.
        #[arg(long, value_name = "PATH")]
        until_file: Option<PathBuf>,
        /// Until it has printed nothing for this long.
        #[arg(long, value_name = "DURATION", value_parser = duration, allow_negative_numbers = true)]
        until_quiet: Option<Duration>,
        /// Maximum time to wait.
        #[arg(long, value_name = "DURATION", value_parser = duration, allow_negative_numbers = true)]
        timeout: Option<Duration>,
    },
    /// End one and all its processes: SIGTERM, then SIGKILL.
    Kill {
        /// The job's number.
        #[arg(required_unless_present = "port")]
        id: Option<String>,
        /// End the job that listens on this TCP port.
        #[arg(long, value_name = "PORT", conflicts_with = "id")]
        port: Option<u16>,
        /// Time between SIGTERM and SIGKILL.
        #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "2s", allow_negative_numbers = true)]
        grace: Duration,
    },
}

impl JobsAction {
    /// Returns the job if the action writes to it or ends it.
    pub(crate) fn job_id(&self) -> Option<&str> {
        match self {
            Self::Input { id, .. } => Some(id),
            Self::Kill { id, .. } => id.as_deref(),
            Self::List { .. } | Self::Show { .. } | Self::Output { .. } | Self::Wait { .. } => None,
        }
    }
}

impl JobsArgs {
    /// True if the command copies our own stdin to the job.
    pub(crate) fn reads_stdin(&self) -> bool {
        matches!(
            self.action,
            JobsAction::Input {
                text: None,
                close: false,
                ..
            }
        )
    }

    /// Returns the job that the command follows, if it does.
    pub(crate) fn followed_job(&self) -> Option<FollowedJob<'_>> {
        match &self.action {
            JobsAction::Output {
                id,
                tail,
                follow: true,
            } => Some(FollowedJob {
                job: id,
                tail: *tail,
            }),
            _ => None,
        }
    }
}
