//! Arguments of `tui`.

use super::rpc::ServingArgs;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
A line runs as a tool call, as a model's would: through all checks, with a time limit, in a shell
of its own. !command runs in a shell of yours, which stays where it is; !!command likewise, and no
model gets to see it.
Press ? for the keys. Esc cancels what runs, ctrl+d on an empty line quits.

With --pty (or ctrl+t) commands run on a terminal of their own: editors and pagers work.
Colours: NO_COLOR turns them off; --theme says what the background is, where it is taken for
another.")]
pub(crate) struct TuiArgs {
    /// Run commands on a terminal of their own from the start; ctrl+t toggles it.
    #[arg(long)]
    pub(crate) pty: bool,

    /// Colours for a dark or a light background, or none.
    #[arg(long, value_name = "THEME", default_value = "auto")]
    pub(crate) theme: ThemeArg,

    #[command(flatten)]
    pub(crate) serving: ServingArgs,
}

/// How the interface looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThemeArg {
    /// From the environment: `NO_COLOR`, `COLORFGBG`; otherwise dark.
    Auto,
    /// Light text on a dark background.
    Dark,
    /// Dark text on a light background.
    Light,
    /// No colours.
    Plain,
}
