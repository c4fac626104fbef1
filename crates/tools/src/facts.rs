//! The input of layouts.

use crate::refusal::Refusal;
use agent_bash_core::{Notice, OutputLimits, Status};
use agent_bash_sink::SinkReport;

/// The data from which the text of a call is made.
#[derive(Debug, Clone, Copy)]
pub struct CallFacts<'a> {
    /// How the call ended.
    pub end: CallEnding<'a>,
    /// The signal that killed the shell, if a signal did.
    pub shell_signal: Option<i32>,
    /// The command as the caller wrote it.
    pub command: &'a str,
    /// The output: the merged stream, or stdout and stderr.
    pub printed: &'a [SinkReport],
    /// The notices.
    pub notices: &'a [Notice],
    /// The limits in force; the texts of layouts mention them.
    pub limits: OutputLimits,
}

/// The endings of a call that layouts distinguish.
#[derive(Debug, Clone, Copy)]
pub enum CallEnding<'a> {
    /// A stage refused the call before a process was started.
    Refused(&'a Refusal),
    /// The call was started.
    Ran(&'a Status),
}
