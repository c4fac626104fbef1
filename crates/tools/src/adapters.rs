//! Adapters: the shell tools that models were trained on. Each adapter is a static value; its calls
//! run through the same pipeline as all others.
//!
//! An [`Adapter`] defines its tools' names and fields, how a call is mapped to the pipeline, its
//! limits, and the texts of its answers. `agent_bash_running::ClientAdapters` serves the calls.
//! To add an adapter, add a module and a line in [`ALL`]. Stages and interfaces must not depend on
//! an adapter's name.

mod anthropic_agent;
mod anthropic_bash;
mod claude_code;
mod codex;
mod gemini;
mod openai_shell;

use crate::adapter::Adapter;

/// All adapters, in listing order.
pub static ALL: &[&Adapter] = &[
    &anthropic_bash::ADAPTER,
    &anthropic_agent::ADAPTER,
    &claude_code::ADAPTER,
    &openai_shell::ADAPTER,
    &codex::ADAPTER,
    &gemini::ADAPTER,
];

/// Finds an adapter by name.
///
/// # Errors
/// No adapter has this name; the error lists the existing names.
pub fn by_name(name: &str) -> Result<&'static Adapter, UnknownAdapter> {
    let found = ALL.iter().find(|adapter| adapter.name == name);
    found.copied().ok_or_else(|| UnknownAdapter {
        name: name.to_owned(),
    })
}

/// No adapter has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no adapter `{name}`; there are {}", names().join(", "))]
pub struct UnknownAdapter {
    /// The requested name.
    pub name: String,
}

/// Returns the names of all adapters, in listing order.
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|adapter| adapter.name).collect()
}

#[cfg(test)]
mod adapters_tests;
