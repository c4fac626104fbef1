//! Adapters: the shell tools that models were trained on, as values over the one pipeline.
//!
//! An [`Adapter`] says what its tools are called, which fields they take, what a call of them asks of the pipeline, within
//! which limits, and who writes the answer. [`Adapted`] serves the calls. To add one is to write one value here and one layout in
//! `layout/adapters/`; no stage and no surface asks for its name.

mod adapter;
mod anthropic_agent;
mod anthropic_bash;
mod claude_code;
mod codex;
mod field;
mod gemini;
mod knobs;
mod openai_shell;
mod plan;
mod serve;

pub use adapter::{Adapter, Declared, Tool};
pub use field::{CallFields, Field, FieldError, Kind};
pub use knobs::Knobs;
pub use plan::{Chunk, Done, Plan, Ran, Shown, Wanted, Written};
pub use serve::{Adapted, Answer};

/// All of them, in the order in which they are listed.
pub static ALL: [&Adapter; 6] = [
    &anthropic_bash::ADAPTER,
    &anthropic_agent::ADAPTER,
    &claude_code::ADAPTER,
    &openai_shell::ADAPTER,
    &codex::ADAPTER,
    &gemini::ADAPTER,
];

/// The adapter of that name.
///
/// # Errors
/// There is none; the names of those that there are.
pub fn by_name(name: &str) -> Result<&'static Adapter, UnknownAdapter> {
    let found = ALL.into_iter().find(|adapter| adapter.name == name);
    found.ok_or_else(|| UnknownAdapter {
        name: name.to_owned(),
    })
}

/// No adapter has that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no adapter `{name}`; there are {}", names().join(", "))]
pub struct UnknownAdapter {
    /// As it was asked for.
    pub name: String,
}

/// What they are called.
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|adapter| adapter.name).collect()
}

#[cfg(test)]
#[path = "adapters/adapters_tests.rs"]
mod tests;
