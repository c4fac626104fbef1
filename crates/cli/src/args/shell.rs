//! `agent-bash shell`.

use agent_bash_hooks::agent_shell::is_conversation_name;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    override_usage = "agent-bash shell [BASH ARGUMENT]...\n       agent-bash shell --link <DIR>",
    after_help = "\
The commands run in the real bash, with these arguments and with the environment, directory,
descriptors and process group of this process. Output, exit code and signals are bash's.
agent-bash adds the safety rules (a refusal exits with 126), a record of file changes for undo, and
the names of processes that outlive the command. Calls that run no commands of an agent (--version,
an interactive shell) go to bash unchanged.

  agent-bash shell -c 'make'      as bash -c 'make'
  agent-bash shell --link ~/bin   make the links bash, sh and agent-bash-shell there
  agent-bash log                  list the commands; `agent-bash changes undo N` undoes changes N"
)]
pub(crate) struct ShellArgs {
    /// Print help. bash's `-h` is an option of its own.
    #[arg(long, exclusive = true, action = clap::ArgAction::Help)]
    help: Option<bool>,

    /// Make the links `bash`, `sh` and `agent-bash-shell` in this directory, and run nothing.
    #[arg(long, value_name = "DIR", exclusive = true)]
    pub(crate) link: Option<PathBuf>,

    /// Record the command in this conversation of an agent. Hooks that replace commands pass it.
    #[arg(long, value_name = "NAME", value_parser = conversation)]
    pub(crate) conversation: Option<String>,

    /// The arguments of bash.
    #[arg(
        value_name = "BASH ARGUMENT",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) bash: Vec<OsString>,
}

/// Parses the name of an agent's conversation.
fn conversation(name: &str) -> Result<String, String> {
    let name = Some(name).filter(|name| is_conversation_name(name));
    let name =
        name.ok_or("a conversation is named as in `agent-bash log --list`: gemini-cli-ID")?;
    Ok(name.to_owned())
}
