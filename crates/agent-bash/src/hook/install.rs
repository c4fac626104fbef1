//! Configuring an agent's hook: where its file is, and the file's text with the hook and without
//! it.
//!
//! Pure functions: the owner of the process reads the file, shows the change, and writes it.

mod bad_file;
mod entry;
mod json;

pub use bad_file::BadFile;

use super::agents::agent::{Agent, Form};
use crate::HostContext;
use std::ffi::OsString;
use std::path::PathBuf;

/// Which settings to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scope {
    /// The user's, for all projects.
    User,
    /// The settings of the project in the working directory.
    Project,
}

/// The file in which the agent looks for hooks. `None` if no home directory is known.
pub fn file(agent: &Agent, scope: Scope, host: &HostContext) -> Option<PathBuf> {
    let place = &agent.settings;
    let dir = match scope {
        Scope::Project => host.cwd.join(place.below_project),
        Scope::User => {
            let named = host.env.get(&OsString::from(place.variable));
            let named = named.map(PathBuf::from).filter(|path| path.is_absolute());
            match named {
                Some(path) if place.below_variable.is_empty() => path,
                Some(path) => path.join(place.below_variable),
                None => host.home.as_ref()?.join(place.below_home),
            }
        }
    };
    Some(dir.join(place.file))
}

/// The file with the hook added. `before` is its current text, if it exists; `program` is the
/// command to start this program: a path, or its name if it is on `PATH`. A file that already has
/// the hook is returned unchanged.
///
/// # Errors
/// [`BadFile`]
pub fn with_hook(agent: &Agent, before: Option<&str>, program: &str) -> Result<String, BadFile> {
    match (&agent.form, before) {
        (Form::Plugin(text), None) => Ok(text(program)),
        (Form::Plugin(text), Some(before)) => {
            if is_plugin(before) {
                Ok(text(program))
            } else {
                Err(BadFile::NotOurs)
            }
        }
        (Form::Settings(form), _) => entry::with(agent, form, before, program),
    }
}

/// The file without the hook; identical to the original if nothing else has changed. `None` if the
/// file is to be removed.
///
/// # Errors
/// [`BadFile`]
pub fn without_hook(agent: &Agent, before: &str) -> Result<Option<String>, BadFile> {
    match &agent.form {
        Form::Plugin(_) if is_plugin(before) => Ok(None),
        Form::Plugin(_) => Err(BadFile::NotOurs),
        Form::Settings(form) => entry::without(agent, form, before),
    }
}

fn is_plugin(text: &str) -> bool {
    text.starts_with("// Written by `agent-bash hook")
}

#[cfg(test)]
#[path = "install/install_tests.rs"]
mod tests;
