//! The `agent-bash` command: the library's tool for people and scripts.
//!
//! Holds nothing that a user of the library would miss: it reads the command line, sets the process up, and prints.

mod args;
mod commands;
mod logging;
mod output;
mod progress;
mod runtime;
mod signals;
mod start;
mod table;
mod theme;
mod words;

use args::{Cli, Command};
use clap::Parser;
use start::Start;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

/// A mistake in what we were given, told apart from what went wrong while doing it: exit code 2, as clap's own.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

const USAGE_ERROR: u8 = 2;

/// `EX_IOERR`: what was asked for was done, and stdout did not take what came of it. Not the code of what was not started.
const UNWRITTEN: u8 = 74;

/// What `timeout(1)` and `env(1)` use where it is they that failed, not the command.
const OWN_FAILURE: u8 = 125;

fn main() -> ExitCode {
    // First of all, before any thread: in a supervisor's process this call does not return.
    let token = agent_bash::process::supervisor::init();
    agent_bash::process::hide_memory();
    let words = words::joined(std::env::args_os());
    let cli = Cli::try_parse_from(&words).unwrap_or_else(|error| {
        // Help and version are such errors, too.
        let _ = error.print();
        if let Some(advice) = words::advice(error.kind(), &words) {
            output::say(&format!("\n{advice}"));
        }
        std::process::exit(error.exit_code())
    });
    let own_failure = match cli.command {
        // Agents let a command run whose hook fails in any other way.
        Command::Hook(_) => agent_bash::hook::BLOCKED,
        _ => OWN_FAILURE,
    };
    let code = dispatch(cli.command, token).unwrap_or_else(|error| {
        output::say(&format!("agent-bash: {error:#}"));
        if error.is::<Usage>() {
            USAGE_ERROR
        } else if error.is::<output::Unwritten>() {
            UNWRITTEN
        } else {
            own_failure
        }
    });
    ExitCode::from(code)
}

fn dispatch(command: Command, token: agent_bash::process::supervisor::Token) -> anyhow::Result<u8> {
    let start = Start::of_this_process(token)?;
    let logs = match command {
        // They would be drawn over.
        Command::Tui(_) => !io::stderr().is_terminal(),
        // What stands on a hook's stderr, agents show to their model or user.
        Command::Hook(_) => false,
        _ => true,
    };
    if logs {
        logging::init(&start.host);
    }
    match command {
        Command::Run(args) => commands::run::run(&args, &start),
        Command::Tui(args) => commands::tui::tui(&args, &start),
        Command::Mcp(args) => commands::mcp::mcp(&args, &start),
        Command::Rpc(args) => commands::rpc::rpc(&args, &start),
        Command::Check(args) => commands::check::check(&args, &start),
        Command::Hook(args) => commands::hook::hook(&args, &start),
        Command::Explain(args) => commands::check::explanation(&args, &start),
        Command::Schema(args) => commands::schema::schema(&args, &start),
        Command::Artifact(args) => commands::artifact::artifact(&args, &start),
        Command::Jobs(args) => commands::jobs::jobs(&args, &start),
        Command::Env(args) => commands::env::env(&args, &start),
        Command::Settings(args) => commands::settings::settings(&args, &start),
        Command::Clean(args) => commands::clean::clean(&args, &start),
        Command::Completions(args) => commands::generated::completions(&args),
        Command::Man(args) => commands::generated::man(&args),
        Command::Doctor(_) => commands::doctor::doctor(&start),
    }
}
