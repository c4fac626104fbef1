//! The snapshot of the user's shell: functions, aliases, options and `PATH` from a configuration
//! file such as `~/.bashrc`.
//!
//! The snapshot is captured once per shell, file, environment and project, and loaded by every
//! waiting shell. If the file prints, prompts, hangs, exits, replaces its shell by `exec` or starts
//! daemons, calls still run: at worst without a snapshot. The first call with the problem reports
//! it.
//!
//! Other modules start shells (`cache`, `pool`) and have the text that shells are started with
//! (`record`).
//!
//! Modules: `options`, `skipped` (reasons for having no snapshot), `cache` (the snapshots of a
//! host), `project` (the directory in which the file is read), `capture` (reading the file in a
//! separate shell), `dump` (the report of that shell), `filter` and `names` (excluded names),
//! `needs` (the variables that are loaded), `search_path`, `compose` (the text that other shells
//! load), `file` (its storage), `running_shell` (asking a persistent shell).

mod cache;
mod capture;
mod compose;
mod dump;
mod file;
mod filter;
mod names;
mod needs;
mod options;
mod project;
pub(crate) mod running_shell;
mod search_path;
mod skipped;

use agent_bash_core::{Definitions, ShellDefinitions, Timestamp};
use agent_bash_process::quoted;
pub(crate) use cache::{SnapshotForCall, Snapshots};
use capture::{Configuration, Reader};
use file::SnapshotFile;
pub use names::{BUILTINS, KEYWORDS};
pub use options::SnapshotOptions;
use skipped::SkipReason;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Removes the snapshots of dead processes in `directory`; also done before every capture. Returns
/// how many there were.
pub fn sweep_snapshots(directory: &Path, now: Timestamp) -> usize {
    if !directory.is_dir() {
        return 0;
    }
    file::sweep(directory, Duration::from_millis(now.0))
}

/// The parts of the user's configuration that shells load.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfiguredNames {
    /// The names of functions and aliases.
    pub names: Vec<String>,
    /// The aliases with what they stand for, as far as that is text.
    pub aliases: Vec<(String, String)>,
    /// The search path, if the configuration changed it.
    pub path: Option<OsString>,
}

/// The snapshot for shells of one kind.
#[derive(Debug)]
pub(crate) struct Snapshot {
    names: Vec<String>,
    aliases: Vec<(String, String)>,
    defined: Arc<ShellDefinitions>,
    /// The names of the variables that it sets.
    variables: BTreeSet<String>,
    /// Definitions that were left out because they would not work.
    dropped: BTreeSet<String>,
    /// The program that the file would have become.
    becomes: Option<String>,
    file: SnapshotFile,
    path: Option<OsString>,
    options: Vec<u8>,
    allows_tail: bool,
}

impl Snapshot {
    /// The command a shell runs at its start, followed by `; `. On the same line as everything
    /// after it, so that aliases do not apply to that. Uses `.` rather than `eval`, which costs a
    /// fifth more because it first expands the text as a word. With `command`, a missing file does
    /// not end a shell in POSIX mode.
    pub(crate) fn load_command(&self) -> Vec<u8> {
        let mut text = br"{ \command . ".to_vec();
        text.extend(quoted(self.file.path().as_os_str()));
        text.extend_from_slice(b"; } >/dev/null 2>&1; ");
        text
    }

    /// The search path, if the configuration changed it.
    pub(crate) fn path(&self) -> Option<&OsStr> {
        self.path.as_deref()
    }

    pub(crate) fn configured(&self) -> ConfiguredNames {
        ConfiguredNames {
            names: self.names.clone(),
            aliases: self.aliases.clone(),
            path: self.path.clone(),
        }
    }

    /// Returns the user's definitions for a shell that has not loaded the snapshot.
    pub(crate) fn definitions(&self) -> io::Result<Definitions> {
        let mut text = Vec::new();
        if let Some(path) = &self.path {
            text.extend_from_slice(b"\\builtin export PATH=");
            text.extend(quoted(path));
            text.push(b'\n');
        }
        text.extend(std::fs::read(self.file.path())?);
        let options = if self.allows_tail {
            self.options.clone()
        } else {
            // A trace would show this text.
            Vec::new()
        };
        Ok(Definitions {
            text,
            options,
            defined: Arc::clone(&self.defined),
        })
    }

    /// The commands that set the options, each followed by `; `. To be run immediately before the
    /// script.
    pub(crate) fn option_commands(&self) -> &[u8] {
        &self.options
    }

    /// The functions and aliases, one by one.
    pub(crate) fn defined(&self) -> &Arc<ShellDefinitions> {
        &self.defined
    }

    /// The names of the variables that it sets.
    pub(crate) fn variables(&self) -> &BTreeSet<String> {
        &self.variables
    }

    /// Whether a function or an alias has this name.
    pub(crate) fn defines(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }

    /// True if commands may follow a script unnoticed.
    pub(crate) fn allows_tail(&self) -> bool {
        self.allows_tail
    }
}

/// Captures a snapshot.
async fn capture(reader: &Reader) -> Result<Snapshot, SkipReason> {
    let options = &reader.options;
    let Configuration {
        dump,
        variables,
        dropped,
    } = reader.read().await?;
    let now = Duration::from_millis(reader.clock.wall().0);
    file::sweep(&options.directory, now);
    let (before, after) = (&dump.before, &dump.after);
    let definitions = after.functions.iter().chain(&after.aliases);
    let names = definitions.map(|definition| definition.name.clone());
    let aliases = after.aliases.iter().filter_map(|definition| {
        let value = String::from_utf8(definition.text.clone()).ok()?;
        Some((definition.name.clone(), value))
    });
    let mut text = compose::limits(before, after);
    text.extend(compose::load_text(
        &variables.changed,
        &after.functions,
        &after.exported,
        &after.aliases,
    ));
    let file =
        SnapshotFile::write(&options.directory, &text).map_err(|source| SkipReason::NotKept {
            directory: options.directory.clone(),
            source,
        })?;
    let has_aliases = !after.aliases.is_empty();
    let (commands, allows_tail) =
        compose::option_commands(&before.options, &after.options, has_aliases);
    Ok(Snapshot {
        names: names.collect(),
        aliases: aliases.collect(),
        defined: Arc::new(after.defined()),
        variables: variables.changed.into_keys().collect(),
        dropped,
        becomes: Some(after.becomes.clone()).filter(|program| !program.is_empty()),
        file,
        path: variables.path,
        options: commands,
        allows_tail,
    })
}
