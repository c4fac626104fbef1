//! The configuration of the interface, its errors, and the jobs at its exit.

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
    /// The conversation that runs commands.
    pub session: Arc<Conversation>,
    /// Used for every wait.
    pub clock: Arc<dyn Clock>,
    /// Colours and symbols.
    pub theme: Theme,
    /// Terminals for commands. Their executor must be the one that the conversation's tool was
    /// built with. `None` if the tool has none.
    pub terminals: Option<Terminals>,
    /// Receives the requests of calls to leave their sandbox. The tool must have the approver of
    /// this value.
    /// `None` if the tool has another approver.
    pub approvals: Option<Approvals>,
    /// True if commands run on terminals from the start.
    pub on_terminal: bool,
    /// True if typed commands have the time limit of calls. If false, they have none,
    /// because the user can end them.
    pub has_time_limit: bool,
    /// The treatment of background jobs that still run when the user quits.
    pub on_quit: OnQuit,
    /// The store of typed commands. `None` keeps them for this run only.
    pub history: Option<History>,
    /// Ends the interface, as a signal does.
    pub stop: Cancel,
}

/// The treatment of background jobs that still run when the user quits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnQuit {
    /// The jobs continue.
    #[default]
    Keep,
    /// The jobs are ended.
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

/// The jobs that ran when the user quit.
#[derive(Debug, Clone, Default)]
pub struct JobsAtExit {
    /// Jobs that continue.
    pub running: Vec<Job>,
    /// Jobs that were ended, as the user wanted.
    pub ended: Vec<Job>,
}
