//! `agent-bash jobs`.

use crate::args::values::{duration, lines, session_name};
use clap::{Args, Subcommand};
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(after_help = "\
`agent-bash run --mode background 'SCRIPT'` starts a job, which continues after `agent-bash` exits.
A job that has ended is stored for 24 hours.

Without --state, the command reads the state of `agent-bash run` (`cli`) or of the agent
conversation that was last recorded in this project (`agent-bash shell`), whichever has the newer
job. The conversation is named on stderr. If both have a job with that number, and the job of
`agent-bash run` still runs, input and kill do nothing: choose one with --state.

  agent-bash jobs output 3 --tail 20
  agent-bash jobs output 3 --follow     until the job ends; Ctrl-C does not end the job
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

    /// Use another machine: a target as in `run --on`.
    #[arg(long, global = true, value_name = "TARGET")]
    pub(crate) on: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum JobsAction {
    /// List the jobs, oldest first.
    List {
        /// Print one JSON object per line.
        #[arg(long)]
        json: bool,
        /// Only jobs that listen on this TCP port.
        #[arg(long, value_name = "PORT")]
        port: Option<u16>,
    },
    /// Print the details of a job as JSON.
    Show {
        /// The job's number.
        id: String,
    },
    /// Print the output of a job.
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
    /// Write to the stdin of a job that was started with `--stdin=pipe`.
    Input {
        /// The job's number.
        id: String,
        /// The text; a newline is appended. Without a text and without --close, the stdin of
        /// `agent-bash` is copied unchanged.
        text: Option<String>,
        /// Append no newline.
        #[arg(long, short = 'n', requires = "text")]
        no_newline: bool,
        /// Close the job's stdin afterwards.
        #[arg(long)]
        close: bool,
    },
    /// Wait until a job ends. Exit code 0, or 124 if the job still runs when --timeout is over.
    ///
    /// With --until-…, wait until one of these conditions is met, then print the last output. Exit
    /// code 0 if a condition is met, 1 if the job ends before, 124 if neither happens within
    /// --timeout.
    #[command(visible_alias = "await")]
    Wait {
        /// The job's number.
        id: String,
        /// Wait until a line of the output matches this regular expression.
        #[arg(long, value_name = "REGEX")]
        until_line: Option<String>,
        /// Wait until this TCP port accepts connections in the job's network.
        #[arg(long, value_name = "PORT")]
        until_port: Option<u16>,
        /// Wait until this file exists. A relative path starts at the job's directory.
        #[arg(long, value_name = "PATH")]
        until_file: Option<PathBuf>,
        /// Wait until the job has printed nothing for this long.
        #[arg(long, value_name = "DURATION", value_parser = duration, allow_negative_numbers = true)]
        until_quiet: Option<Duration>,
        /// Maximum time to wait.
        #[arg(long, value_name = "DURATION", value_parser = duration, allow_negative_numbers = true)]
        timeout: Option<Duration>,
    },
    /// End a job and all its processes: SIGTERM, then SIGKILL.
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
    /// Returns the job that the action writes to or ends; `None` for an action that only reads.
    pub(crate) fn modified_job(&self) -> Option<&str> {
        match self {
            Self::Input { id, .. } => Some(id),
            Self::Kill { id, .. } => id.as_deref(),
            Self::List { .. } | Self::Show { .. } | Self::Output { .. } | Self::Wait { .. } => None,
        }
    }
}

/// A job whose output is followed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FollowedJob<'a> {
    /// The number of the job.
    pub(crate) job: &'a str,
    /// The number of last lines to begin with; `None`: all lines.
    pub(crate) tail: Option<NonZeroU64>,
}

impl JobsArgs {
    /// True if the command copies the stdin of this process to the job.
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

    /// Returns the job whose output the command follows; `None` for other commands.
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
