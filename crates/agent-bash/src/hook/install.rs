//! Setting an agent up so that it asks: where its file is, and the file's text with the hook and without.
//!
//! Pure: whoever owns the process reads the file, shows what would change, and writes it.

mod bad_file;
mod entry;
mod json;

pub use bad_file::BadFile;

use super::agents::agent::{Agent, Form};
use crate::HostContext;
use std::ffi::OsString;
use std::path::PathBuf;

/// Whose settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The user's: every project.
    User,
    /// Those of the project in the working directory.
    Project,
}

/// The file in which the agent looks for hooks. `None` where no home directory is known.
pub fn file(agent: &Agent, scope: Scope, host: &HostContext) -> Option<PathBuf> {
    let place = &agent.place;
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

/// The file with the hook. `before` is what stands in it, if it is there; `program` is how this program is started: a
/// path, or its name where it is on `PATH`. What has the hook already comes back as it is.
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

/// The file without the hook: as it was before, where nothing else has changed. `None` for a file that is to go.
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
