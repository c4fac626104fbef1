//! The command line as clap reads it: names, help, and what goes with what. What the commands do is in
//! [`crate::commands`].

use agent_bash::core::{Mode, ProfileName, parse_duration};
use agent_bash::policy::SafeLevel;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  agent-bash run 'cargo test 2>&1'              run a script, read its result
  agent-bash run -- grep -n 'two words' a.txt   run words, quoted for you
  agent-bash run --json 'make' | jq .status     the result as data
  agent-bash check 'git push --force'           would it be run? exit code 0, 1 or 2
  agent-bash schema --profile modes             what a model is told about the tool

Exit codes of `run`: the command's own; 128 + n if signal n ended it; 124 after a timeout;
125 if it was refused or could not be started; 130 if it was cancelled (Ctrl-C).
2 is a mistake on this command line.

Logs go to stderr where AGENT_BASH_LOG is set (AGENT_BASH_LOG=debug).";

/// The session of one-shot commands below the state directory.
pub(crate) const DEFAULT_SESSION: &str = "cli";

/// The shell runtime for coding agents: one call in, one honest result out.
#[derive(Debug, Parser)]
#[command(name = "agent-bash", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one command through the pipeline and print its result.
    Run(RunArgs),
    /// Say whether a script would be run, and why not.
    Check(CheckArgs),
    /// Say how a script is read: its commands, each rule's answer, and how to say it so that it passes.
    Explain(ExplainArgs),
    /// Print what a model is told about the tool: description and JSON Schema.
    Schema(SchemaArgs),
    /// Read the full outputs that were kept.
    Artifact(ArtifactArgs),
    /// See, read, await and end background jobs.
    Jobs(JobsArgs),
    /// Print the environment as a command would see it.
    Env(EnvArgs),
    /// Print the settings in force, and where each came from.
    Settings(SettingsArgs),
    /// Say what works here, and try it with a harmless command.
    Doctor(DoctorArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
The text on stdout is what a model would read; `--json` prints the whole result instead.
Output that is not shown is kept: the text names it as artifact://ID.

  agent-bash run --timeout 90s --mode slow 'cargo build'
  agent-bash run --tail 20 'make'
  echo 'echo from stdin' | agent-bash run -
  echo '{\"command\": \"ls\", \"cwd\": \"src\"}' | agent-bash run --request")]
pub(crate) struct RunArgs {
    /// The script; several words are quoted and joined (put `--` before them); `-` reads the script from stdin.
    #[arg(
        value_name = "SCRIPT",
        required_unless_present = "request",
        conflicts_with = "request"
    )]
    pub(crate) script: Vec<String>,

    /// Read the call as a JSON object from stdin: {"command": "…", "timeout": 90, …}.
    #[arg(
        long,
        conflicts_with_all = ["mode", "timeout", "cwd", "head", "tail", "env", "stdin"]
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

    /// Directory to run in.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// Keep only the first N lines of stdout.
    #[arg(long, value_name = "N")]
    pub(crate) head: Option<NonZeroU64>,

    /// Keep only the last N lines of stdout; after --head, if both are given.
    #[arg(long, value_name = "N")]
    pub(crate) tail: Option<NonZeroU64>,

    /// Set a variable for the command; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub(crate) env: Vec<(String, String)>,

    /// Let the command read our own stdin; without this it reads nothing.
    #[arg(long)]
    pub(crate) stdin: bool,

    /// Run it only if it is on the list of safe mode: `read_only` (the default) or `listed`.
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "read_only")]
    pub(crate) safe_mode: Option<SafeLevelArg>,

    /// Keep artifacts in the on-disk session of this name.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_SESSION, value_parser = session_name)]
    pub(crate) state: String,

    /// Print the result as one line of JSON.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print the output as it comes; with --json to stderr.
    #[arg(long)]
    pub(crate) stream: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 it would be run, 1 it is refused, 2 it cannot be read.

The checks are guard rails against accidents, not a sandbox.
Groups of rules: core and inline_code are on, data_loss and remote_code are off.

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
    pub(crate) questions: Questions,

    /// Print the verdict as one line of JSON.
    #[arg(long)]
    pub(crate) json: bool,

    /// Read one script a line, each as a JSON string, from stdin; print one JSON verdict a line. Exit code 0.
    #[arg(long)]
    pub(crate) batch: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes as of `check`: 0 it would be run, 1 it is refused, 2 it cannot be read.

  agent-bash explain 'cd /tmp && sudo rm -rf *'")]
pub(crate) struct ExplainArgs {
    /// The script; `-` reads it from stdin.
    #[arg(value_name = "SCRIPT")]
    pub(crate) script: String,

    #[command(flatten)]
    pub(crate) questions: Questions,

    /// Print everything as one line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is asked about a script.
#[derive(Debug, Args)]
pub(crate) struct Questions {
    /// Ask only this.
    #[arg(long, value_name = "CHECK")]
    pub(crate) only: Option<CheckArg>,

    /// Groups of safety rules to apply, instead of the default ones.
    #[arg(long, value_name = "GROUP,…", value_delimiter = ',')]
    pub(crate) groups: Option<Vec<String>>,

    /// Ask whether safe mode would let it run: `listed` or `read_only`.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) safe_mode: Option<SafeLevelArg>,

    /// Ask whether one of these tools does it better.
    #[arg(long, value_name = "TOOL,…", value_delimiter = ',')]
    pub(crate) tools: Option<Vec<String>>,

    /// Judge the script as if it ran in this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
}

/// One of the questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckArg {
    /// Would it do harm that nobody meant.
    Safety,
    /// Is it on the list of what may run at all.
    Safemode,
    /// Is there a better tool.
    Interceptor,
}

/// A level of safe mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SafeLevelArg {
    /// Every command begins with an entry of the list.
    Listed,
    /// In addition every option must be known to read only.
    #[value(name = "read_only", alias = "read-only")]
    ReadOnly,
}

impl SafeLevelArg {
    /// As the settings write it.
    pub(crate) fn name(self) -> &'static str {
        let level = match self {
            Self::Listed => SafeLevel::Listed,
            Self::ReadOnly => SafeLevel::ReadOnly,
        };
        level.name()
    }
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Whose tool; `standard` unless the settings say otherwise.
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<ProfileArg>,

    /// The working directory that the description names.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Outputs of one-shot commands are kept for 24 hours.

  agent-bash artifact show 3 --offset 2000     lines 2000 and on
  agent-bash artifact show artifact://3 --tail 50
  agent-bash artifact grep 'error(\\[E\\d+\\])?:' 3 -C 2")]
pub(crate) struct ArtifactArgs {
    #[command(subcommand)]
    pub(crate) action: ArtifactAction,

    /// The on-disk session whose artifacts are meant.
    #[arg(long, global = true, value_name = "NAME", default_value = DEFAULT_SESSION, value_parser = session_name)]
    pub(crate) state: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ArtifactAction {
    /// List them, the oldest first.
    List {
        /// One line of JSON each.
        #[arg(long)]
        json: bool,
    },
    /// Print a page of one.
    Show {
        /// Its number, its link (`artifact://3`), or its path.
        id: String,
        /// First line, from 1.
        #[arg(
            long,
            value_name = "LINE",
            default_value = "1",
            conflicts_with = "tail"
        )]
        offset: NonZeroU64,
        /// How many lines; 2000 if left out. A page has at most 250 KB.
        #[arg(long, value_name = "N", conflicts_with = "tail")]
        limit: Option<NonZeroU64>,
        /// The last N lines instead.
        #[arg(long, value_name = "N")]
        tail: Option<NonZeroU64>,
    },
    /// Print the lines of one that match a regular expression. Exit code 1 if none does.
    Grep {
        /// The expression; `(?i)` in front ignores case.
        pattern: String,
        /// Its number, its link (`artifact://3`), or its path.
        id: String,
        /// Lines shown around each match.
        #[arg(long, short = 'C', value_name = "N", default_value_t = 0)]
        context: usize,
        /// Search from this line on.
        #[arg(long, value_name = "LINE", default_value = "1")]
        offset: NonZeroU64,
        /// Show at most so many matches.
        #[arg(long, value_name = "N", default_value_t = 200)]
        limit: usize,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "\
A job is started by `agent-bash run --mode background 'SCRIPT'`; it goes on when this program has ended.
Jobs that have ended are kept for 24 hours.

  agent-bash jobs output 3 --tail 20
  agent-bash jobs wait 3 --timeout 2m && echo done")]
pub(crate) struct JobsArgs {
    #[command(subcommand)]
    pub(crate) action: JobsAction,

    /// The on-disk session whose jobs are meant.
    #[arg(long, global = true, value_name = "NAME", default_value = DEFAULT_SESSION, value_parser = session_name)]
    pub(crate) state: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum JobsAction {
    /// List them, in the order of their starts.
    List {
        /// One line of JSON each.
        #[arg(long)]
        json: bool,
    },
    /// Print what is known of one, as JSON.
    Show {
        /// Its number.
        id: String,
    },
    /// Print what one has printed.
    Output {
        /// Its number.
        id: String,
        /// Only the last N lines.
        #[arg(long, value_name = "N")]
        tail: Option<NonZeroU64>,
    },
    /// Wait until one has ended; waiting ends nothing. Exit code 0 then, 124 if it still runs.
    Wait {
        /// Its number.
        id: String,
        /// For at most so long.
        #[arg(long, value_name = "DURATION", value_parser = duration, allow_negative_numbers = true)]
        timeout: Option<Duration>,
    },
    /// End one with everything it has: SIGTERM, then SIGKILL.
    Kill {
        /// Its number.
        id: String,
        /// From SIGTERM to SIGKILL.
        #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "2s", allow_negative_numbers = true)]
        grace: Duration,
    },
}

#[derive(Debug, Args)]
pub(crate) struct EnvArgs {
    /// One JSON object: variables, and the names of those that were removed.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Settings are read from ~/.config/agent-bash/config.toml, then .agent-bash.toml in the working directory or
above it (a project's file may only tighten), then AGENT_BASH_… variables, then options.

  agent-bash settings --default > ~/.config/agent-bash/config.toml
  AGENT_BASH_SAFE_MODE_LEVEL=read_only agent-bash settings")]
pub(crate) struct SettingsArgs {
    /// Print a file with every setting, explained and commented out.
    #[arg(long, conflicts_with = "json")]
    pub(crate) default: bool,
    /// One JSON object: for each setting its value as TOML, and where it came from.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit code 0 if everything works, 1 if something does not.")]
pub(crate) struct DoctorArgs {}

/// A profile's name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileArg {
    /// 5 minutes; the last 50 KB, and a link to all of it.
    Standard,
    /// 30 s, or 15 minutes as `slow`; up to 128 KB, beyond that both ends.
    Modes,
    /// 2 minutes; stdout and stderr apart, both ends and a file to page through.
    Paged,
    /// 30 s; the first 100 KB and `[Exit code: N]`.
    Workspace,
}

impl ProfileArg {
    /// As the settings write it.
    pub(crate) fn name(self) -> &'static str {
        let name = match self {
            Self::Standard => ProfileName::Standard,
            Self::Modes => ProfileName::Modes,
            Self::Paged => ProfileName::Paged,
            Self::Workspace => ProfileName::Workspace,
        };
        name.as_str()
    }
}

/// A mode's name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// In the foreground, with the profile's ordinary time limit.
    Default,
    /// In the foreground, with the time limit for builds, tests and installs.
    Slow,
    /// Detached; returns at once.
    Background,
}

impl From<ModeArg> for Mode {
    fn from(arg: ModeArg) -> Self {
        match arg {
            ModeArg::Default => Self::Default,
            ModeArg::Slow => Self::Slow,
            ModeArg::Background => Self::Background,
        }
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|error| error.to_string())
}

/// The name becomes a directory's, so it must not lead anywhere else.
fn session_name(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if text.is_empty() || text.starts_with('.') || !text.chars().all(plain) || text.len() > 64 {
        return Err(
            "a name has 1 to 64 letters, digits, `-`, `_`, `.`, and does not begin with `.`"
                .to_owned(),
        );
    }
    Ok(text.to_owned())
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE; the value may be empty".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use clap::error::ErrorKind;

    fn run_args(words: &[&str]) -> Result<RunArgs, ErrorKind> {
        let words = ["agent-bash", "run"].iter().chain(words);
        match Cli::try_parse_from(words) {
            Ok(Cli {
                command: Command::Run(args),
            }) => Ok(args),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.kind()),
        }
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn options_may_stand_before_and_after_the_script() {
        for words in [
            &["--json", "--timeout", "2m", "ls | wc -l"][..],
            &["ls | wc -l", "--json", "--timeout=2m"],
            &["--json", "--timeout", "120", "--", "ls | wc -l"],
        ] {
            let args = run_args(words).unwrap();
            assert_eq!(args.script, ["ls | wc -l"]);
            assert_eq!(
                (args.json, args.timeout),
                (true, Some(Duration::from_secs(120)))
            );
        }
        let words = run_args(&["--", "ls", "-la", "--json"]).unwrap();
        assert_eq!(words.script, ["ls", "-la", "--json"]);
        assert!(!words.json, "behind -- everything is a word");
        assert_eq!(run_args(&["-"]).unwrap().script, ["-"]);
    }

    #[test]
    fn what_makes_no_sense_is_a_usage_error() {
        for (words, kind) in [
            (&[][..], ErrorKind::MissingRequiredArgument),
            (&["--request", "ls"], ErrorKind::ArgumentConflict),
            (
                &["--request", "--timeout", "1"],
                ErrorKind::ArgumentConflict,
            ),
            (&["--timeout", "-1", "ls"], ErrorKind::ValueValidation),
            (&["--timeout=-1", "ls"], ErrorKind::ValueValidation),
            (&["--timeout", "soon", "ls"], ErrorKind::ValueValidation),
            (&["--head", "0", "ls"], ErrorKind::ValueValidation),
            (&["--env", "=x", "ls"], ErrorKind::ValueValidation),
            (&["--env", "NAME", "ls"], ErrorKind::ValueValidation),
            (&["--profile", "other", "ls"], ErrorKind::InvalidValue),
            (&["--state", "../x", "ls"], ErrorKind::ValueValidation),
            (&["--state", "..", "ls"], ErrorKind::ValueValidation),
            (&["--state", "", "ls"], ErrorKind::ValueValidation),
            (&["ls", "-la"], ErrorKind::UnknownArgument),
        ] {
            assert_eq!(run_args(words).err(), Some(kind), "{words:?}");
        }
    }
}
