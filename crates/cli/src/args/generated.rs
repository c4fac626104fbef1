//! `agent-bash completions` and `man`, both generated from the definition of the command line.

use clap::{Args, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Where shells look for the script:
  agent-bash completions bash > ~/.local/share/bash-completion/completions/agent-bash
  agent-bash completions zsh > ~/.zfunc/_agent-bash
  agent-bash completions fish > ~/.config/fish/completions/agent-bash.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-bash man | man -l -
  agent-bash man jobs | man -l -
  agent-bash man --guide mcp | less
  agent-bash man --out ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The command whose page is printed, such as `jobs`; by default the page of the program.
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    pub(crate) command: Option<String>,

    /// Print a guide as Markdown: more than fits in a command's help.
    #[arg(long, value_name = "GUIDE", conflicts_with_all = ["command", "out"])]
    pub(crate) guide: Option<GuideArg>,

    /// Write the page of every command into this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// A guide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GuideArg {
    /// The command line: how commands and options work together.
    Cli,
    /// Request, result, texts, exit codes.
    Contract,
    /// Hooks of agents: the call and the answer of each agent.
    Hooks,
    /// The server for agents: clients, tools, long calls.
    Mcp,
    /// JSON lines for programs: all messages.
    Rpc,
    /// The safety rules, with examples that they refuse and allow.
    Rules,
    /// The interface for people: screens and keys.
    Tui,
}
