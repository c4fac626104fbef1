//! `agent-bash allow`.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
A refusal names a code. With the code, you allow that command in that directory: once, within ten
minutes. You type a number on your terminal, so that no program can allow a command in your place.
Commands of an agent, and terminals that they start, cannot allow anything.

  agent-bash allow                   the refused commands of the last hour, and what is allowed
  agent-bash allow K7Q2MX
  agent-bash allow K7Q2MX --always
  agent-bash allow --forget K7Q2MX")]
pub(crate) struct AllowArgs {
    /// The code in the refusal.
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,

    /// Allow the command in that directory from now on, until `--forget`.
    #[arg(long, requires = "code")]
    pub(crate) always: bool,

    /// Take back an exception, or remove a refused command from the list.
    #[arg(long, value_name = "CODE", conflicts_with_all = ["code", "always"])]
    pub(crate) forget: Option<String>,
}
