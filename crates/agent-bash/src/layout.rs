//! The one place where the model's text is made, from data. docs/contract.md fixes the texts to the character: one file a
//! layout.
//!
//! Nothing here looks at a running command, a file or a setting, and nothing else in the workspace writes such texts:
//! the truncation itself is `agent-bash-sink`'s, the sentences of notices are core's, those of rules the policy's.

pub(crate) mod adapters;
mod bang;
mod modes;
mod paged;
mod standard;
mod wording;
mod workspace;

pub use bang::{annotated_bang_output, bang};

use crate::refusal::Refusal;
use agent_bash_core::{Notice, OutputLimits, Status, TextLayout};
use agent_bash_sink::{CarriageReturn, SinkReport, TailBuffer};

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

/// Writes the text in the given layout.
pub fn write(layout: TextLayout, facts: &Facts<'_>) -> String {
    match layout {
        TextLayout::Standard => standard::write(facts),
        TextLayout::Modes => modes::write(facts),
        TextLayout::Paged => paged::write(facts),
        TextLayout::Workspace => workspace::write(facts),
    }
}

/// Bytes as they were printed, cleaned as a result's output is.
pub fn clean(bytes: &[u8]) -> String {
    let mut buffer = TailBuffer::new(bytes.len(), CarriageReturn::Overwrite);
    buffer.push(bytes);
    buffer.snapshot()
}

/// What is shown of the streams, as the default profile shows it; nothing around it.
pub fn output_text(printed: &[SinkReport]) -> String {
    let mut text = String::new();
    standard::output(&mut text, printed);
    text
}

#[cfg(test)]
#[path = "layout/layout_tests.rs"]
mod tests;
