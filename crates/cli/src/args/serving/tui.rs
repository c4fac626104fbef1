//! Arguments of `tui`.

use super::rpc::ServingArgs;
use crate::args::values::converted;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
A line runs as a tool call of a model would, with all checks. The shell persists, and with it cd and
variables. !command runs in a shell of your own; !!command does too, and no model sees it.
Press ? for the keys. Esc cancels the running command, ctrl+d on an empty line quits.

Commands that are known to need a terminal, such as editors and pagers, get one of their own; with
--pty (or ctrl+t), every command does. f5 runs the last command again, on a terminal.
Colours: NO_COLOR turns them off; --theme sets the background if it is detected wrongly.")]
pub(crate) struct TuiArgs {
    /// Run commands on a terminal of their own from the start; ctrl+t toggles it.
    #[arg(long)]
    pub(crate) pty: bool,

    /// Colours for a dark or a light background, or none.
    #[arg(long, value_name = "THEME", default_value = "auto")]
    pub(crate) theme: ThemeArg,

    /// The treatment of background jobs that still run when you quit.
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
    /// The jobs continue, and are listed.
    Keep,
    /// The jobs are ended.
    End,
    /// The interface asks.
    Ask,
}

converted!(OnQuitArg => agent_bash_tui::OnQuit: Keep, End, Ask);
