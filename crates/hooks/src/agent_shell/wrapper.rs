//! Finds the model's text inside the script that an agent passes to its shell.
//!
//! Some agents wrap the text: they load a snapshot of the user's shell before it and store the
//! working directory or process ids after it. A wrapper is removed only if all of it is known.
//! opencode 1.18.33, Qwen Code 0.24.4, Copilot CLI 1.0.102 and pi 1.6.0 pass the model's text
//! unchanged.

use super::template::Comparison;
use crate::agents::SUPPORTED;
use crate::wrapper_form::Wrapper;
use agent_bash_syntax::Parsed;
use agent_bash_syntax::ast::Link;
use std::borrow::Cow;
use std::path::PathBuf;

/// The text that a model wrote, without the wrapper of its agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelCommand<'s> {
    /// The agent's name.
    pub agent: &'static str,
    /// The model's text. It need not be valid shell syntax.
    pub command: Cow<'s, str>,
    /// The files that the wrapper writes, for example with the working directory.
    pub written_files: Vec<PathBuf>,
}

/// Returns the model's text if `script` is that text inside the known wrapper of an agent.
///
/// Returns `None` if the wrapper contains an unknown command, redirection, operator, expansion or
/// file name. Also returns `None` for scripts without a wrapper: scripts of other agents, commands
/// of hooks, and commands that start servers.
///
/// Records show the model's text, and the safety rules check it. But the shell runs the whole
/// script: a snapshot that the wrapper loads can redefine the commands of the text
/// (docs/design/shell.md).
pub fn model_command(script: &str) -> Option<ModelCommand<'_>> {
    // Avoids parsing most scripts.
    if !has_wrapper_marker(script) {
        return None;
    }
    let parsed = Parsed::read(script);
    if !parsed.is_whole() {
        return None;
    }
    wrappers().find_map(|wrapper| {
        let (command, written_files) = command_in(wrapper, &parsed)?;
        Some(ModelCommand {
            agent: wrapper.agent,
            command,
            written_files,
        })
    })
}

/// True if the script contains a text that each script in the wrapper of a supported agent
/// contains. The wrapper itself may be of another version of the agent.
pub fn has_wrapper_marker(script: &str) -> bool {
    wrappers().any(|wrapper| script.contains(wrapper.marker))
}

/// Returns the model's text and the files that the wrapper writes, if the whole script matches the
/// wrapper.
fn command_in<'s>(wrapper: &Wrapper, parsed: &Parsed<'s>) -> Option<(Cow<'s, str>, Vec<PathBuf>)> {
    let mut comparison = Comparison::new(parsed.text, wrapper.files);
    let mut rest = &parsed.list.entries[..];
    let mut link = Link::Next;
    for part in wrapper.parts {
        let matched = part
            .forms
            .iter()
            .find_map(|form| comparison.match_prefix(form, link, rest));
        match matched {
            Some(count) => {
                rest = rest.get(count..)?;
                link = wrapper.link;
            }
            None if part.is_optional => {}
            None => return None,
        }
    }
    let command = comparison.command.filter(|_| rest.is_empty())?;
    Some((command, comparison.written_files))
}

/// Returns all known wrappers.
fn wrappers() -> impl Iterator<Item = &'static Wrapper> {
    SUPPORTED.iter().filter_map(|agent| agent.wrapper.as_ref())
}

#[cfg(test)]
#[path = "wrapper_tests.rs"]
mod tests;
