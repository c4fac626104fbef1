//! `agent-bash completions` and `man`, generated from the definition of the command line.

use crate::args::{Cli, CompletionsArgs, GuideArg, ManArgs};
use crate::output;
use crate::usage::UsageError;
use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use std::io::{self, IsTerminal};
use std::path::Path;

/// Prints the completion script for a shell.
pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<u8> {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut text);
    let mut text = String::from_utf8(text).context("the script is not UTF-8")?;
    if args.shell == Shell::Bash {
        // clap_complete is inconsistent about hyphens in the program's name, and its functions then
        // do not find each other.
        text = text.replace("agent__subcmd__bash", "agent__bash");
        text.push_str(BASH_IDS);
    }
    output::print(&text)?;
    Ok(0)
}

/// Completes job and artifact numbers from the program's own listings.
const BASH_IDS: &str = include_str!("completion_of_ids.bash");

/// Prints a manual page, or writes all of them.
pub(crate) fn man(args: &ManArgs) -> anyhow::Result<u8> {
    if let Some(guide) = args.guide {
        output::print(text_of(guide))?;
        return Ok(0);
    }
    // The `help` subcommand has no options to document; the version stands in the title.
    let mut program = Cli::command()
        .disable_help_subcommand(true)
        .version(env!("CARGO_PKG_VERSION"));
    program.build();
    if let Some(directory) = &args.out {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("cannot make {}", directory.display()))?;
        return write_pages(program, directory)
            .with_context(|| format!("cannot write into {}", directory.display()))
            .map(|()| 0);
    }
    let page = match &args.command {
        None => program,
        Some(name) => page_of(&program, name)?,
    };
    let mut text = Vec::new();
    manual(page).render(&mut text)?;
    output::print(&String::from_utf8_lossy(&text))?;
    if io::stdout().is_terminal() {
        output::say("agent-bash: to read the page: agent-bash man | man -l -");
    }
    Ok(0)
}

/// Returns the text of a guide. The texts are embedded for users who only have the binary.
fn text_of(guide: GuideArg) -> &'static str {
    match guide {
        GuideArg::Cli => include_str!("../../guides/cli.md"),
        GuideArg::Contract => concat!(
            include_str!("../../guides/contract.md"),
            "\n",
            include_str!("../../guides/standard.md"),
            "\n",
            include_str!("../../guides/modes.md"),
            "\n",
            include_str!("../../guides/paged.md"),
            "\n",
            include_str!("../../guides/workspace.md")
        ),
        GuideArg::Hooks => concat!(
            include_str!("../../guides/hooks.md"),
            "\n",
            include_str!("../../guides/agents.md")
        ),
        GuideArg::Mcp => include_str!("../../guides/mcp.md"),
        GuideArg::Rpc => concat!(
            include_str!("../../guides/rpc.md"),
            "\n",
            include_str!("../../guides/rpc-requests.md")
        ),
        GuideArg::Rules => include_str!("../../guides/rules.md"),
        GuideArg::Tui => concat!(
            include_str!("../../guides/tui.md"),
            "\n",
            include_str!("../../guides/tui-keys.md")
        ),
    }
}

/// Writes the page of a command and those of its subcommands.
fn write_pages(command: Command, directory: &Path) -> io::Result<()> {
    for subcommand in command.get_subcommands() {
        write_pages(subcommand.clone(), directory)?;
    }
    manual(command).generate_to(directory).map(drop)
}

/// Returns the page of a command, with the program's version: only the top-level command has one.
fn manual(command: Command) -> Man {
    Man::new(command).source(concat!("agent-bash ", env!("CARGO_PKG_VERSION")))
}

/// Returns the subcommand of this name.
fn page_of(program: &Command, name: &str) -> anyhow::Result<Command> {
    let Some(command) = program.find_subcommand(name) else {
        let known: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        let known = known.join(", ");
        return Err(UsageError(format!(
            "there is no command `{name}`; the commands are {known}"
        ))
        .into());
    };
    Ok(command.clone())
}
