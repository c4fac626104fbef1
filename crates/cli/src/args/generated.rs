//! `agent-bash completions` and `man`: what is generated from the definition of the command line.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
  agent-bash completions bash > ~/.local/share/bash-completion/completions/agent-bash
  agent-bash completions zsh > ~/.zfunc/_agent-bash
  agent-bash completions fish > ~/.config/fish/completions/agent-bash.fish")]
pub(crate) struct CompletionsArgs {
    /// For which shell.
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
  agent-bash man | man -l -
  agent-bash man jobs | man -l -
  agent-bash man --out ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The command whose page is wanted, such as `jobs`; the page of the program if left out.
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    pub(crate) command: Option<String>,

    /// Write the page of every command into this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
