//! The command line as clap parses it: names, help texts, and which options exclude each other.
//! Each command has a file here and one in [`crate::commands`]; `values` holds the shared types.

mod about;
mod allow;
mod check;
mod chosen_settings;
mod cp;
mod generated;
mod hook;
mod records;
mod run;
mod serving;
mod setup;
mod shell;
mod values;

pub(crate) use about::{
    DoctorArgs, EnvArgs, SandboxAction, SandboxArgs, SandboxRunArgs, SchemaArgs, SettingsArgs,
};
pub(crate) use allow::AllowArgs;
pub(crate) use check::{CheckArg, CheckArgs, CheckOptions, ExplainArgs};
pub(crate) use chosen_settings::ChosenSettings;
pub(crate) use cp::CpArgs;
pub(crate) use generated::{CompletionsArgs, GuideArg, ManArgs};
pub(crate) use hook::{HookArgs, TakeOverArg};
pub(crate) use records::artifact::{ArtifactAction, ArtifactArgs};
pub(crate) use records::changes::{ChangesAction, ChangesArgs};
pub(crate) use records::clean::CleanArgs;
pub(crate) use records::jobs::{FollowedJob, JobsAction, JobsArgs};
pub(crate) use records::log::{LogArgs, RecordSelection, ReportArgs};
pub(crate) use run::RunArgs;
pub(crate) use serving::mcp::McpArgs;
pub(crate) use serving::rpc::{RpcArgs, ServingArgs};
pub(crate) use serving::tui::{ThemeArg, TuiArgs};
pub(crate) use setup::{ChosenAgent, SetupArgs, SetupWay};
pub(crate) use shell::ShellArgs;
#[cfg(test)]
pub(crate) use values::session_name;
pub(crate) use values::{DEFAULT_SESSION, RecordName, SafeLevelArg, SandboxArg, StdinArg, word};

use agent_bash_server::rpc::{BUILD_NAME, PROTOCOL_VERSION};
use clap::{Parser, Subcommand};

const EXAMPLES_TEXT: &str = "\
Examples:
  agent-bash run 'cargo test 2>&1'              run a script, read its result
  agent-bash run -- grep -n 'two words' a.txt   run words, quoted for you
  agent-bash run --json 'make' | jq .status     the result as data
  agent-bash check 'git push --force'           may it run? exit code 0, 1 or 2
  agent-bash schema --profile modes             what a model is told about the tool

Exit codes of `run`: the command's own; 128 + n if signal n ended it; 124 after a timeout;
125 if it was refused or could not be started; 130 if it was cancelled (Ctrl-C);
70 if its end was not observed; 74 if the result cannot be written to stdout;
2 for a mistake on this command line.

Logs go to stderr if AGENT_BASH_LOG is set (AGENT_BASH_LOG=debug).";

/// The lines above the output of `doctor --on`.
const TARGET_SETTINGS_HEADING: &str = "\
note     target      the checks below run on the target, with the target's settings;
                     calls from here use the settings of this machine (agent-bash settings)";

/// Returns the text of `--version`. The answer to `ping` has the same facts.
fn version() -> String {
    format!(
        "{} (protocol {PROTOCOL_VERSION}, build {BUILD_NAME})",
        env!("CARGO_PKG_VERSION")
    )
}

/// The shell runtime for coding agents: one call in, one honest result out.
#[derive(Debug, Parser)]
#[command(name = "agent-bash", version = version(), after_help = EXAMPLES_TEXT)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

// With `defer`, clap builds the options only of the called command; for help and completions, of
// all commands.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Run one command and print its result.
    Run(RunArgs),
    /// Run commands as bash does, in place of an agent's shell.
    Shell(ShellArgs),
    /// Run commands in a terminal interface: cards, terminals, jobs, full outputs.
    Tui(TuiArgs),
    /// Serve an agent over stdin and stdout with the Model Context Protocol.
    Mcp(McpArgs),
    /// Serve another program over stdin and stdout with JSON lines.
    Rpc(RpcArgs),
    /// Check whether a script may run, and explain a refusal.
    Check(CheckArgs),
    /// Allow a command that a rule refused, once or always.
    Allow(AllowArgs),
    /// Set up the agents on this machine to use agent-bash, or undo that.
    Setup(SetupArgs),
    /// Answer the hook by which an agent asks before it runs a command.
    Hook(HookArgs),
    /// Explain how a script is read: its commands, each rule's verdict, and an alternative that
    /// passes.
    Explain(ExplainArgs),
    /// Print the tool definition for a model: description and JSON Schema.
    Schema(SchemaArgs),
    /// Read stored full outputs.
    Artifact(ArtifactArgs),
    /// Copy a file to another machine, or from it.
    Cp(CpArgs),
    /// Show, commit, undo and redo the changes of commands to files.
    Changes(ChangesArgs),
    /// List the commands of a recorded session.
    Log(LogArgs),
    /// Write a recorded session as a page for people: one HTML file.
    Report(ReportArgs),
    /// List, read, await and end background jobs.
    Jobs(JobsArgs),
    /// Print the environment as a command would see it.
    Env(EnvArgs),
    /// Print the settings in force, and where each came from.
    Settings(SettingsArgs),
    /// Check what works on this system, by running harmless commands.
    Doctor(DoctorArgs),
    /// Show what a sandbox enforces on this system, by trying each promise; run a program in one.
    Sandbox(SandboxArgs),
    /// Remove artifacts, finished jobs, records and leftovers, and report what was removed.
    Clean(CleanArgs),
    /// Print the completion script for a shell.
    Completions(CompletionsArgs),
    /// Print a manual page.
    Man(ManArgs),
}

/// A command line that is meant for a target.
#[derive(Debug)]
pub(crate) struct TargetCommandLine<'a> {
    /// The target.
    pub(crate) on: &'a str,
    /// The session whose state the command reads; `None` if the command reads no session.
    pub(crate) state: Option<&'a str>,
    /// True if the command copies the stdin of this process to the target.
    pub(crate) reads_stdin: bool,
    /// The job whose output the command follows; `None` for other commands.
    pub(crate) followed_job: Option<FollowedJob<'a>>,
    /// A line that explains the output, printed above it.
    pub(crate) heading: Option<&'static str>,
}

impl Command {
    /// Returns the parts of this command line that a target needs. `None` if `--on` is absent, or
    /// if the command itself handles the option.
    pub(crate) fn for_target(&self) -> Option<TargetCommandLine<'_>> {
        fn session_name(state: Option<&String>) -> &str {
            state.map_or(DEFAULT_SESSION, String::as_str)
        }
        let (on, state) = match self {
            Self::Jobs(args) => (&args.on, Some(session_name(args.state.as_ref()))),
            Self::Artifact(args) => (&args.on, Some(session_name(args.state.as_ref()))),
            Self::Clean(args) => (&args.on, (!args.all).then_some(args.state.as_str())),
            Self::Doctor(args) => (&args.on, None),
            _ => return None,
        };
        Some(TargetCommandLine {
            on: on.as_deref()?,
            state,
            reads_stdin: matches!(self, Self::Jobs(args) if args.reads_stdin()),
            followed_job: match self {
                Self::Jobs(args) => args.followed_job(),
                _ => None,
            },
            heading: match self {
                Self::Doctor(_) => Some(TARGET_SETTINGS_HEADING),
                _ => None,
            },
        })
    }
}

#[cfg(test)]
#[path = "args/args_tests.rs"]
mod tests;
