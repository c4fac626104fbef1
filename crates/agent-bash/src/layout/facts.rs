//! The facts of a text.

use crate::refusal::Refusal;
use agent_bash_core::{Notice, OutputLimits, Status};
use agent_bash_sink::SinkReport;

/// Everything that a text is made from.
#[derive(Debug, Clone, Copy)]
pub struct CallFacts<'a> {
    /// How the call ended.
    pub end: CallEnding<'a>,
    /// The signal that killed the shell, if one did.
    pub shell_signal: Option<i32>,
    /// The command as given.
    pub command: &'a str,
    /// The output: one stream, or stdout and stderr.
    pub printed: &'a [SinkReport],
    /// The notices.
    pub notices: &'a [Notice],
    /// The limits in force, which the texts mention.
    pub limits: OutputLimits,
}

/// How a call ended, as far as the layouts distinguish.
#[derive(Debug, Clone, Copy)]
pub enum CallEnding<'a> {
    /// A stage refused it; nothing was started.
    Refused(&'a Refusal),
    /// The call was started.
    Ran(&'a Status),
}
