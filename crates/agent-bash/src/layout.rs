//! The only place where the model's text is made, from data. docs/contract.md fixes the texts
//! exactly; one file per layout.
//!
//! Nothing here looks at a running command, a file or a setting, and nothing else in the workspace
//! writes such texts: truncation is done in `agent-bash-sink`, the sentences of notices are core's,
//! those of rules the policy's.

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

/// Raw bytes, cleaned in the same way as a result's output.
pub fn clean(bytes: &[u8]) -> String {
    let mut buffer = TailBuffer::new(bytes.len(), CarriageReturn::Overwrite);
    buffer.push(bytes);
    buffer.snapshot()
}

/// The shown part of the streams in the default profile's format, with nothing around it.
pub fn output_text(printed: &[SinkReport]) -> String {
    let mut text = String::new();
    standard::output(&mut text, printed);
    text
}

#[cfg(test)]
#[path = "layout/layout_tests.rs"]
mod tests;
