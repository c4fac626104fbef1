//! The configuration of the interface, its errors, and what it leaves behind.

use crate::approvals::Approvals;
use crate::terminals::Terminals;
use agent_bash::Conversation;
use agent_bash::core::{Cancel, Clock};
use agent_bash::exec::Job;
use agent_bash::journals::History;
use agent_bash_render::Theme;
use std::io;
use std::sync::Arc;

/// The configuration of the interface.
#[derive(Debug)]
pub struct TuiOptions {
    /// The session that runs commands.
    pub session: Arc<Conversation>,
    /// Used for every wait.
    pub clock: Arc<dyn Clock>,
    /// How it looks.
    pub theme: Theme,
    /// Terminals for commands; their executor must be the one the session's tool was built with. `None` if it has
    /// none.
    pub terminals: Option<Terminals>,
    /// Where calls ask whether they may leave their sandbox; the tool must have its approver. `None` if it has another.
    pub approvals: Option<Approvals>,
    /// Whether commands run on terminals from the start.
    pub on_terminal: bool,
    /// Whether the time limit of calls also holds for what is typed: without it, that has none, as whoever types can end it.
    pub limits_typed: bool,
    /// What becomes of background jobs that still run when the user quits.
    pub on_quit: OnQuit,
    /// Where what is typed is kept. `None` keeps it for this run only.
    pub history: Option<History>,
    /// Ends the interface, as a signal does.
    pub stop: Cancel,
}

/// What becomes of background jobs that still run when the user quits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnQuit {
    /// They live on.
    #[default]
    Keep,
    /// They are ended.
    End,
    /// The user is asked.
    Ask,
}

/// Why the interface failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TuiError {
    /// I/O on the host's terminal failed.
    #[error("the terminal: {0}")]
    Terminal(io::Error),
}

/// What has become of the jobs that ran when the user quit.
#[derive(Debug, Clone, Default)]
pub struct JobsAtExit {
    /// They live on.
    pub running: Vec<Job>,
    /// They were ended, as the user wanted.
    pub ended: Vec<Job>,
}
