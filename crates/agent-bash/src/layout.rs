//! Writes the texts for models from the data of a call; one file per layout. docs/contract.md fixes
//! the texts exactly.
//!
//! This module accesses no running command, file or setting. `agent-bash-sink` truncates the
//! output, `agent-bash-core` has the sentences of notices, and `agent-bash-policy` has the
//! sentences of rules.

pub(crate) mod adapters;
mod bang;
pub mod changes;
mod facts;
mod modes;
mod paged;
mod standard;
mod wording;
mod workspace;

use agent_bash_core::TextLayout;
use agent_bash_sink::{CarriageReturn, SinkReport, TailBuffer};
pub use facts::{CallEnding, CallFacts};

/// Writes the text in the given layout.
pub fn write(layout: TextLayout, facts: &CallFacts<'_>) -> String {
    match layout {
        TextLayout::Standard => standard::write(facts),
        TextLayout::Modes => modes::write(facts),
        TextLayout::Paged => paged::write(facts),
        TextLayout::Workspace => workspace::write(facts),
    }
}

/// Returns raw bytes as text, cleaned in the same way as a result's output.
pub fn clean(bytes: &[u8]) -> String {
    let mut buffer = TailBuffer::new(bytes.len(), CarriageReturn::Overwrite);
    buffer.push(bytes);
    buffer.snapshot()
}

/// Returns the shown part of the streams in the default profile's format, without other lines.
pub fn output_text(printed: &[SinkReport]) -> String {
    let mut text = String::new();
    standard::output(&mut text, printed);
    text
}

#[cfg(test)]
#[path = "layout/layout_tests.rs"]
mod tests;
