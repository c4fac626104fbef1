//! The snapshot of the user's shell: functions, aliases, options and `PATH` from a configuration
//! file such as `~/.bashrc`.
//!
//! A snapshot is captured once per shell, file, environment and project, and loaded by every warm
//! shell. The file may print, prompt, hang, exit, replace its shell by `exec` or start daemons.
//! Calls still run then, at worst without a snapshot, and the first affected call reports the
//! problem.
//!
//! Shells are started by the modules `cache` and `pool`, with text from `record`.
//!
//! Modules: `options`, `skipped` (reasons why there is no snapshot), `cache` (the snapshots of a
//! host), `project` (the directory in which the file is read), `capture` (reading the file in a
//! separate shell), `dump` (the report of that shell), `filter` (excluded names), `cd_hook` (the
//! file's `cd`), `configured_variables` (the variables that are loaded), `hook_changes` (the
//! variables of a project), `search_path`, `compose` (the text that other shells load), `file` (the
//! stored text), `running_shell` (the definitions of a persistent shell).

mod cache;
mod capture;
mod cd_hook;
mod compose;
mod configured_variables;
mod dump;
mod file;
mod filter;
mod hook_changes;
mod options;
mod project;
pub(crate) mod running_shell;
mod search_path;
mod skipped;

use agent_bash_core::{Definitions, ShellDefinitions, Timestamp};
use agent_bash_process::quoted;
pub(crate) use cache::{SnapshotCache, SnapshotForCall};
use capture::{Configuration, ConfigurationReader};
use cd_hook::PromptHook;
use dump::Variable;
use file::SnapshotFile;
pub use filter::{BUILTINS, KEYWORDS, exported_functions};
use hook_changes::HookChanges;
pub use options::{CaptureSandbox, SnapshotOptions};
use project::FileIdentity;
use skipped::SkipReason;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Removes the snapshots of dead processes in `directory`, as every capture does. Returns the
/// number of removed files.
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
    /// The aliases with their values, without values that are not UTF-8.
    pub aliases: Vec<(String, String)>,
    /// The search path, if the configuration changed it.
    pub path: Option<OsString>,
}

/// A captured configuration, for shells with the same program, environment and project.
#[derive(Debug)]
pub(crate) struct Snapshot {
    names: Vec<String>,
    aliases: Vec<(String, String)>,
    defined: Arc<ShellDefinitions>,
    /// The names of the variables that the snapshot sets.
    variables: BTreeSet<String>,
    /// Names of functions and aliases that are excluded because they would fail.
    excluded: BTreeSet<String>,
    /// The program that the configuration runs with `exec`.
    exec_program: Option<String>,
    file: SnapshotFile,
    path: Option<OsString>,
    /// The configuration that was read.
    rc: FileIdentity,
    /// The names of the exported variables that the snapshot sets.
    exports: BTreeSet<String>,
    /// The hooks by which the prompt chooses versions.
    prompt_hooks: Vec<&'static PromptHook>,
    /// The commands that put active environments first in the search path that these hooks
    /// restore, and the shell's own links into that path, each followed by `; `.
    adapt_path: Vec<u8>,
    /// The variables that other commands of the prompt changed.
    hooks: HookChanges,
    /// The definitions of commands that call the configuration's `cd`, each followed by `; `.
    cd_commands: Vec<u8>,
    /// The commands that set the options, each followed by `; `.
    options: Vec<u8>,
    allows_tail: bool,
}

impl Snapshot {
    /// Returns the command with which a shell loads the snapshot, followed by `; `. The rest of the
    /// shell's start text follows on the same line, so that the loaded aliases do not apply to that
    /// text. `.` is faster than `eval`, which first expands the text as a word. With `command`, a
    /// missing file does not end a shell in POSIX mode.
    pub(crate) fn load_command(&self) -> Vec<u8> {
        let mut text = br"{ \command . ".to_vec();
        text.extend(quoted(self.file.path().as_os_str()));
        text.extend_from_slice(b"; } >/dev/null 2>&1; ");
        text.extend_from_slice(&self.cd_commands);
        text
    }

    /// Returns the search path, if the configuration changed it.
    pub(crate) fn path(&self) -> Option<&OsStr> {
        self.path.as_deref()
    }

    /// Returns the commands, each followed by `; `, that bring a session's shell to this snapshot.
    /// `old` is the snapshot that the shell has loaded, if one was captured in time. `base` is the
    /// search path that the shell was started with.
    pub(crate) fn replace(&self, old: Option<&Self>, base: &OsStr) -> Vec<u8> {
        if let Some(old) = old {
            return self.replace_hooks(old);
        }
        let mut text = self.load_command();
        if let Some(path) = &self.path {
            text.extend(hook_changes::add_to_path(base, path));
        }
        text.extend_from_slice(b"{ \\builtin :; ");
        text.extend_from_slice(&self.options);
        text.extend_from_slice(b"} >/dev/null 2>&1; ");
        text
    }

    /// Returns the commands, each followed by `; `, that replace the changes that the prompt's
    /// commands made for the snapshot `old`.
    pub(crate) fn replace_hooks(&self, old: &Self) -> Vec<u8> {
        self.hooks.replace(&old.hooks)
    }

    /// Returns the command, followed by `; `, by which the configuration's `cd` chooses the
    /// versions of the directory that a shell has entered; empty if the configuration has no `cd`.
    pub(crate) fn cd_hook(&self) -> Vec<u8> {
        if self.cd_commands.is_empty() {
            Vec::new()
        } else {
            cd_hook::call_cd()
        }
    }

    /// Returns the commands, each followed by `; `, by which a prompt chooses the versions.
    pub(crate) fn prompt_hooks(&self) -> Vec<u8> {
        self.hook_commands(|_| true)
    }

    /// True if both `cd` and the prompt choose versions, so that the result depends on each prompt.
    pub(crate) fn cd_and_prompt_choose(&self) -> bool {
        !self.cd_commands.is_empty() && !self.prompt_hooks.is_empty()
    }

    /// Returns the commands, each followed by `; `, by which a prompt chooses the versions after
    /// the managers that this script may call.
    pub(crate) fn prompt_hooks_after(&self, script: &str) -> Vec<u8> {
        let words = script.split(|c: char| !c.is_alphanumeric() && c != '_');
        self.hook_commands(|manager| words.clone().any(|word| word == manager))
    }

    /// Returns the commands, each followed by `; `, that call the prompt's hooks of these managers.
    fn hook_commands(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<u8> {
        let hooks = self.prompt_hooks.iter();
        let hooks = hooks.filter(|hook| self.defines(hook.function) && is_wanted(hook.manager));
        let commands = hooks.flat_map(|hook| {
            [
                "{ \\",
                hook.function,
                " || \\builtin :; } </dev/null >/dev/null 2>&1; ",
            ]
        });
        let mut text = commands.collect::<String>().into_bytes();
        if !text.is_empty() {
            text.extend_from_slice(&self.adapt_path);
        }
        text
    }

    /// Returns the command, followed by `; `, that unsets the exported variables of this snapshot,
    /// for a shell that then restores all exports of a shell with the snapshot `old`. The command
    /// is empty if the configuration has changed, so that new variables are loaded.
    pub(crate) fn unset_exports(&self, old: &Self) -> Vec<u8> {
        if self.rc != old.rc || self.exports.is_empty() {
            return Vec::new();
        }
        let names: Vec<&str> = self.exports.iter().map(String::as_str).collect();
        format!("\\builtin unset -v {}; ", names.join(" ")).into_bytes()
    }

    /// Returns the names, aliases and search path of the configuration.
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
        text.extend_from_slice(&self.cd_commands);
        let options = if self.allows_tail {
            self.options.clone()
        } else {
            // A shell with `set -x` or `set -v` would print this text.
            Vec::new()
        };
        Ok(Definitions {
            text,
            options,
            defined: Arc::clone(&self.defined),
        })
    }

    /// Returns the commands that set the options, each followed by `; `. The commands run
    /// immediately before the script.
    pub(crate) fn option_commands(&self) -> &[u8] {
        &self.options
    }

    /// Returns each function and alias with its text.
    pub(crate) fn defined(&self) -> &Arc<ShellDefinitions> {
        &self.defined
    }

    /// Returns the names of the variables that the snapshot sets.
    pub(crate) fn variables(&self) -> &BTreeSet<String> {
        &self.variables
    }

    /// True if a function or an alias has this name.
    pub(crate) fn defines(&self, name: &str) -> bool {
        self.names.iter().any(|defined| defined == name)
    }

    /// True if commands after the script stay invisible: neither `xtrace` nor `verbose` is on.
    pub(crate) fn allows_tail(&self) -> bool {
        self.allows_tail
    }
}

async fn capture(reader: &ConfigurationReader, rc: FileIdentity) -> Result<Snapshot, SkipReason> {
    let options = &reader.options;
    let Configuration {
        dump,
        variables,
        excluded,
        cd_hook: [cd_text, cd_commands, restore_links],
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
        &variables.changed, &after.functions, &after.exported, &after.aliases,
    ));
    text.extend(cd_text);
    let file =
        SnapshotFile::write(&options.directory, &text).map_err(|source| SkipReason::NotStored {
            directory: options.directory.clone(),
            source,
        })?;
    let (commands, allows_tail) = compose::option_commands(&before.options, &after.options);
    let path = &after.options.path;
    let merged = search_path::merged(&before.options.path, path, &reader.base);
    let exports = variables.changed.iter().filter(|(_, variable)| {
        let variable = variable.as_ref();
        variable.is_some_and(Variable::is_exported)
    });
    Ok(Snapshot {
        names: names.collect(),
        aliases: aliases.collect(),
        defined: Arc::new(after.defined()),
        rc,
        exports: exports.map(|(name, _)| name.clone()).collect(),
        prompt_hooks: variables.prompt_hooks,
        adapt_path: [hook_changes::merge_path(path, &merged), restore_links].concat(),
        variables: variables.changed.into_keys().collect(),
        excluded,
        exec_program: Some(after.exec_program.clone()).filter(|program| !program.is_empty()),
        file,
        path: variables.path,
        hooks: variables.hooks,
        cd_commands,
        options: commands,
        allows_tail,
    })
}
