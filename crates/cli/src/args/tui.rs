//! Arguments of `tui`.

use super::rpc::ServingArgs;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
A line runs as a tool call, as a model's would: through all checks, with a time limit. The shell
stays, so cd and variables do. !command runs in a shell of yours; !!command likewise, and no model
gets to see it.
Press ? for the keys. Esc cancels what runs, ctrl+d on an empty line quits.

Editors, pagers and whatever else is known to need one run on a terminal of their own; with --pty
(or ctrl+t) every command does. f5 runs the last command again on one.
Colours: NO_COLOR turns them off; --theme says what the background is, where it is taken for
another.")]
pub(crate) struct TuiArgs {
    /// Run commands on a terminal of their own from the start; ctrl+t toggles it.
    #[arg(long)]
    pub(crate) pty: bool,

    /// Colours for a dark or a light background, or none.
    #[arg(long, value_name = "THEME", default_value = "auto")]
    pub(crate) theme: ThemeArg,

    /// How running background jobs end when you quit.
    #[arg(long, value_name = "WHAT", default_value = "keep")]
    pub(crate) on_quit: OnQuitArg,

    #[command(flatten)]
    pub(crate) serving: ServingArgs,
}

/// How the interface looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThemeArg {
    /// From the environment (`NO_COLOR`, `COLORFGBG`), or as the terminal says; otherwise dark.
    Auto,
    /// Light text on a dark background.
    Dark,
    /// Dark text on a light background.
    Light,
    /// No colours.
    Plain,
}

/// The treatment of running jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnQuitArg {
    /// The jobs continue, and are named.
    Keep,
    /// The jobs are ended.
    End,
    /// The interface asks.
    Ask,
}

impl From<OnQuitArg> for agent_bash_tui::OnQuit {
    fn from(arg: OnQuitArg) -> Self {
        match arg {
            OnQuitArg::Keep => Self::Keep,
            OnQuitArg::End => Self::End,
            OnQuitArg::Ask => Self::Ask,
        }
    }
}
