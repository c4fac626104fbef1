//! Command names: builtins and keywords of bash, the user's functions and aliases, and the programs
//! of `PATH`.

use super::candidate::{Candidate, NamePrefix};
use agent_bash::exec::{BUILTINS, KEYWORDS};
use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The builtins and keywords of bash.
fn builtin_names() -> impl Iterator<Item = String> {
    let words = BUILTINS.iter().chain(KEYWORDS);
    words.map(ToString::to_string)
}

/// Matches every name.
const EVERY_NAME: NamePrefix<'_> = NamePrefix {
    written: "",
    ignores_case: false,
};

/// Limit of files read per directory.
const MAX_FILES: usize = 20_000;

/// The names of all commands.
#[derive(Debug, Default, Clone)]
pub(crate) struct Commands {
    names: HashSet<String>,
    /// Functions and aliases of the user's configuration, and functions typed at the prompt.
    pub(crate) defined: Vec<String>,
    /// True if the user's configuration has been read.
    pub(crate) is_configured: bool,
    /// The directories of `PATH`.
    pub(crate) path: Vec<PathBuf>,
}

impl Commands {
    /// Reads the directories of `PATH`.
    pub(crate) fn read(path: Vec<PathBuf>, defined: Vec<String>) -> Self {
        let mut names: HashSet<String> = builtin_names().collect();
        for directory in &path {
            names.extend(programs(directory, EVERY_NAME));
        }
        names.extend(defined.iter().cloned());
        Self {
            names,
            is_configured: !defined.is_empty(),
            defined,
            path,
        }
    }

    /// Adds a function.
    pub(crate) fn define(&mut self, name: &str) {
        if self.names.insert(name.to_owned()) {
            self.defined.push(name.to_owned());
        }
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}

/// Candidates for the commands that begin with the typed text.
pub(super) fn beginning_with(
    prefix: NamePrefix<'_>,
    path: &[PathBuf],
    defined: &[String],
) -> Vec<Candidate> {
    let named = builtin_names().chain(defined.iter().cloned());
    let named = named.filter(|name| name.len() > 1 && prefix.fits(name));
    let programs = path
        .iter()
        .flat_map(|directory| programs(directory, prefix));
    named
        .chain(programs)
        .map(|name| Candidate::name(&name))
        .collect()
}

/// The executable files of a directory whose names begin with the typed text.
fn programs(directory: &Path, prefix: NamePrefix<'_>) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    entries
        .take(MAX_FILES)
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            if !prefix.fits(&name) {
                return None;
            }
            let metadata = fs::metadata(entry.path()).ok()?;
            let runs = metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
            runs.then_some(name)
        })
        .collect()
}
