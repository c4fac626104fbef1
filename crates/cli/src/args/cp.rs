//! Arguments of `cp`.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
A file on a target is TARGET:PATH, with a path that begins with `/`, `~/` or `./` (below the
target's directory). The destination is replaced in one step; the file keeps its permissions.

  agent-bash cp notes.txt docker:box:/work/
  agent-bash cp ssh:dev@host:~/core.log .")]
pub(crate) struct CpArgs {
    /// The file to copy.
    #[arg(value_name = "FROM")]
    pub(crate) from: String,

    /// The destination: a file, or a directory for a file of the same name (on a target it ends
    /// with `/`).
    #[arg(value_name = "TO")]
    pub(crate) to: String,
}
