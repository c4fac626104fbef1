//! A terminal interface to the tool, for people: a prompt whose lines run as tool calls, `!` for commands of one's own, and
//! every view of `agent-bash-render`.
//!
//! [`run`] is the whole of it; [`show`] shows one command on a terminal. One loop over events, news and time
//! (`event_loop`); the state (`app`) neither waits nor reads, so that it is tested without a terminal. What a command is
//! allowed to do, and how it is run, is `agent-bash`'s; how things look is `agent-bash-render`'s.

mod app;
mod calls;
mod console;
mod draw;
mod event_loop;
mod feed;
mod host_terminal;
mod input;
mod jobs_state;
mod pager_state;
mod prompt;
mod show;
mod terminals;
mod transcript;

pub use agent_bash_render::Theme;
pub use show::show;
pub use terminals::Terminals;

use agent_bash::Session;
use agent_bash::core::{Cancel, Clock};
use std::io;
use std::sync::Arc;

/// What the interface is started with.
#[derive(Debug)]
pub struct TuiOptions {
    /// What it runs commands with.
    pub session: Arc<Session>,
    /// Every wait goes through it.
    pub clock: Arc<dyn Clock>,
    /// How it looks.
    pub theme: Theme,
    /// Terminals for commands, whose executor the session's tool has; `None` where it has none.
    pub terminals: Option<Terminals>,
    /// Whether commands run on them from the start.
    pub on_terminal: bool,
    /// Ends it, as a signal does.
    pub stop: Cancel,
}

/// Why the interface could not go on.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    /// Reading or writing the host's terminal.
    #[error("the terminal: {0}")]
    Terminal(io::Error),
}

/// Runs the interface on this process's terminal until the person quits, or `stop` is given. What still runs then is ended;
/// background jobs live on. The terminal is given back on every way out.
///
/// # Errors
/// [`TuiError`].
pub async fn run(options: TuiOptions) -> Result<(), TuiError> {
    event_loop::EventLoop::new(options).run().await
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
