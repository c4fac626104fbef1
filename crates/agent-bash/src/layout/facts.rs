//! What a text is made from.

use crate::refusal::Refusal;
use agent_bash_core::{Notice, OutputLimits, Status};
use agent_bash_sink::SinkReport;

/// Everything a text is made from.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// How the call ended.
    pub end: End<'a>,
    /// Number of the signal that ended its shell, where one did.
    pub shell_signal: Option<i32>,
    /// The command as it was given.
    pub command: &'a str,
    /// What was printed: one stream, or stdout and stderr.
    pub printed: &'a [SinkReport],
    /// What else is worth knowing.
    pub notices: &'a [Notice],
    /// The limits in force, which the texts name.
    pub limits: OutputLimits,
}

/// How a call ended, as the layouts tell it apart.
#[derive(Debug, Clone, Copy)]
pub enum End<'a> {
    /// A stage refused it; nothing was started.
    Refused(&'a Refusal),
    /// It was started.
    Ran(&'a Status),
}
