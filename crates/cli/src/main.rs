//! The `agent-bash` command: the library's tool for people and scripts.
//!
//! Parses the command line, sets up the process, and prints. All other functions are in the
//! library.

mod args;
mod argv;
mod commands;
mod logging;
mod output;
mod panics;
mod process_start;
mod runtime;
mod signals;
mod status_line;
mod table;
mod theme;
mod usage;

use args::{Cli, Command, SandboxAction};
use clap::Parser;
use commands::shell::CommandLine;
use process_start::StartContext;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use usage::UsageError;

const USAGE_ERROR_EXIT_CODE: u8 = 2;

/// `EX_IOERR` of sysexits.h: the command ran, but its result could not be written to stdout.
/// Differs from the exit code of a command that was not started.
const WRITE_ERROR_EXIT_CODE: u8 = 74;

/// The exit code if this program fails, not the command. `timeout(1)` and `env(1)` use the same
/// code.
const OWN_FAILURE_EXIT_CODE: u8 = 125;

fn main() -> ExitCode {
    // Must come first, before any thread exists: in a supervisor process this call does not return.
    let token = agent_bash::process::supervisor::init();
    agent_bash::process::hide_memory();
    panics::install_hook();
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some(line) = CommandLine::of_link(&words) {
        return run_to_exit_code(OWN_FAILURE_EXIT_CODE, || {
            commands::shell::shell(&line, &StartContext::of_this_process(token)?)
        });
    }
    let words = argv::join_safe_mode_level(words);
    let cli = Cli::try_parse_from(&words).unwrap_or_else(|error| {
        // Clap reports help and version as errors, too.
        let _ = error.print();
        if let Some(advice) = argv::advice(error.kind(), &words) {
            output::say(&format!("\n{advice}"));
        }
        std::process::exit(error.exit_code())
    });
    let own_failure = match cli.command {
        // Agents run the command if a hook fails with any other code.
        Command::Hook(_) => agent_bash_hooks::BLOCKED_EXIT_CODE,
        _ => OWN_FAILURE_EXIT_CODE,
    };
    run_to_exit_code(own_failure, || dispatch(cli.command, &words, token))
}

/// Runs a command, reports its error, and returns the exit code of this process. `own_failure` is
/// the exit code if this program fails.
fn run_to_exit_code(own_failure: u8, command: impl FnOnce() -> anyhow::Result<u8>) -> ExitCode {
    let code = panics::or_failure(own_failure, || {
        command().unwrap_or_else(|error| {
            output::say(&format!("agent-bash: {error:#}"));
            if error.is::<UsageError>() {
                USAGE_ERROR_EXIT_CODE
            } else if error.is::<output::WriteFailed>() {
                WRITE_ERROR_EXIT_CODE
            } else {
                own_failure
            }
        })
    });
    ExitCode::from(code)
}

/// Starts logging, and calls the function of the command: on the target if `--on` is given, else
/// here.
fn dispatch(
    command: Command,
    words: &[OsString],
    token: agent_bash::process::supervisor::Token,
) -> anyhow::Result<u8> {
    let start = StartContext::of_this_process(token)?;
    let logs = match command {
        // The interface would draw over logs on its terminal.
        Command::Tui(_) => !io::stderr().is_terminal(),
        // Agents show their stderr to the model or the user.
        Command::Hook(_) | Command::Shell(_) => false,
        _ => true,
    };
    if logs {
        logging::init(&start.host);
    }
    if let Some(for_target) = command.for_target() {
        return commands::remote_command::run_remotely(&for_target, words, &start);
    }
    match command {
        Command::Run(args) => commands::run::run(&args, &start),
        Command::Shell(args) => match &args.link {
            Some(directory) => commands::shell::link(directory),
            None => commands::shell::shell(&CommandLine::of_arguments(&args), &start),
        },
        Command::Tui(args) => commands::tui::tui(&args, &start),
        Command::Mcp(args) => commands::mcp::mcp(&args, &start),
        Command::Rpc(args) => commands::rpc::rpc(&args, &start),
        Command::Allow(args) => commands::allow::allow(&args, &start),
        Command::Check(args) => commands::check::check(&args, &start),
        Command::Setup(args) => commands::setup::setup(&args, &start),
        Command::Hook(args) => commands::hook::hook(&args, &start),
        Command::Explain(args) => commands::check::explanation(&args, &start),
        Command::Schema(args) => commands::schema::schema(&args, &start),
        Command::Cp(args) => commands::cp::cp(&args, &start),
        Command::Changes(args) => commands::changes::changes(&args, &start),
        Command::Log(args) => commands::log::log(&args, &start),
        Command::Report(args) => commands::report::report(&args, &start),
        Command::Artifact(args) => commands::artifact::artifact(&args, &start),
        Command::Jobs(args) => commands::jobs::jobs(&args, &start),
        Command::Env(args) => commands::env::env(&args, &start),
        Command::Settings(args) => commands::settings::settings(&args, &start),
        Command::Clean(args) => commands::clean::clean(&args, &start),
        Command::Completions(args) => commands::generated::completions(&args),
        Command::Man(args) => commands::generated::man(&args),
        Command::Doctor(_) => commands::doctor::doctor(&start),
        Command::Sandbox(args) => match &args.action {
            None => commands::sandbox::sandbox(&start),
            Some(SandboxAction::Run(args)) => commands::sandbox_run::run(args, &start),
        },
    }
}
