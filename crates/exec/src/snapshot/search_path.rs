//! The search path of shells that load a snapshot: the directories of environments that were active
//! when the host started, then the directories of the configuration.
//!
//! A host that a user starts in an activated environment (venv, conda, nix) has the environment's
//! directories first. Reading the configuration again would put other directories before them.

use agent_bash_core::words;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The directory that contains the search path entries of an active environment.
#[derive(Debug, Clone, Copy)]
enum EnvironmentRoot {
    /// The value of the variable.
    Value,
    /// The value of the variable, after a `-`.
    Dashed,
    /// A fixed directory; the value is ignored.
    Directory(&'static str),
    /// A path below the home directory; the value is ignored.
    Home(&'static str),
}

/// A variable that an active environment sets.
#[derive(Debug, Clone, Copy)]
struct EnvironmentMarker {
    variable: &'static str,
    root: EnvironmentRoot,
    /// True if the tool adapts the search path to the current directory. Then an entry that the
    /// tool removes is not added again.
    follows_directory: bool,
}

/// Returns the marker of an environment that the user activates.
const fn activated(variable: &'static str, root: EnvironmentRoot) -> EnvironmentMarker {
    EnvironmentMarker {
        variable,
        root,
        follows_directory: false,
    }
}

/// Returns the marker of a tool that changes the environment with the directory.
const fn per_directory(variable: &'static str, root: EnvironmentRoot) -> EnvironmentMarker {
    EnvironmentMarker {
        variable,
        root,
        follows_directory: true,
    }
}

/// All known markers.
const MARKERS: &[EnvironmentMarker] = &[
    activated("VIRTUAL_ENV", EnvironmentRoot::Value),
    activated("CONDA_PREFIX", EnvironmentRoot::Value),
    activated("NVM_BIN", EnvironmentRoot::Value),
    activated("FNM_MULTISHELL_PATH", EnvironmentRoot::Value),
    activated("FLOX_ENV", EnvironmentRoot::Value),
    activated("DEVENV_PROFILE", EnvironmentRoot::Value),
    activated("DEVBOX_PROJECT_ROOT", EnvironmentRoot::Value),
    activated("GUIX_ENVIRONMENT", EnvironmentRoot::Value),
    activated("IN_NIX_SHELL", EnvironmentRoot::Directory("/nix/store")),
    activated("SPACK_ENV", EnvironmentRoot::Value),
    activated("PIXI_PROJECT_ROOT", EnvironmentRoot::Value),
    activated("HERMIT_ENV", EnvironmentRoot::Value),
    activated("OPAM_SWITCH_PREFIX", EnvironmentRoot::Value),
    activated("RUBY_ROOT", EnvironmentRoot::Value),
    activated("MY_RUBY_HOME", EnvironmentRoot::Value),
    per_directory("DIRENV_DIR", EnvironmentRoot::Dashed),
    per_directory(
        "__MISE_DIFF",
        EnvironmentRoot::Home(".local/share/mise/installs"),
    ),
];

/// Directories in the search path of every system.
const SYSTEM_DIRECTORIES: &[&str] =
    words!["/bin /sbin /usr/bin /usr/sbin /usr/local/bin /usr/local/sbin"];

type Variables = BTreeMap<OsString, OsString>;

/// True if these variables show an active environment.
pub(super) fn has_active(variables: &Variables) -> bool {
    MARKERS
        .iter()
        .any(|marker| marker.root(variables).is_some())
}

/// Merges the search paths `before` and `after` the configuration was read. `variables` is the
/// environment of the shell.
pub(super) fn merged(before: &OsStr, after: &OsStr, variables: &Variables) -> OsString {
    let (old, new) = (entries(before), entries(after));
    let front: Vec<&[u8]> = active_entries(&old, &new, variables);
    let adds_nothing = new.iter().all(|entry| old.contains(entry));
    let is_custom = old.first().is_some_and(|entry| !is_system(entry));
    let rest: Vec<&[u8]> = if adds_nothing && is_custom {
        // The parent shell had read the configuration, and the user has changed the path
        // afterwards.
        let remaining = old.iter().filter(|entry| new.contains(entry));
        remaining.copied().collect()
    } else {
        new
    };
    if front.is_empty() {
        return joined(rest.into_iter());
    }
    let mut seen = BTreeSet::new();
    let all = front.into_iter().chain(rest);
    joined(all.filter(|entry| seen.insert(*entry)))
}

/// Applies to the search path `merged` the changes that a prompt's hook made between `before` and
/// `after`.
pub(super) fn with_hook_changes(merged: OsString, before: &OsStr, after: &OsStr) -> OsString {
    if before == after {
        return merged;
    }
    let (old, new) = (entries(before), entries(after));
    let merged_entries = entries(&merged);
    let added = new.iter().filter(|entry| !old.contains(entry));
    let is_removed = |entry: &&[u8]| old.contains(entry) && !new.contains(entry);
    let rest = merged_entries.iter().filter(|entry| !is_removed(entry));
    joined(added.chain(rest).copied())
}

/// Returns the entries of active environments, in their order.
fn active_entries<'a>(old: &[&'a [u8]], new: &[&[u8]], variables: &Variables) -> Vec<&'a [u8]> {
    let roots: Vec<_> = MARKERS
        .iter()
        .filter_map(|marker| Some((marker, marker.root(variables)?)))
        .collect();
    let is_active = |entry: &[u8]| {
        roots.iter().any(|(marker, root)| {
            let is_below = entry.strip_prefix(root.as_bytes());
            let is_below = is_below.is_some_and(|rest| rest.is_empty() || rest[0] == b'/');
            is_below && (!marker.follows_directory || new.contains(&entry))
        })
    };
    let entries = old.iter().copied().filter(|entry| !is_system(entry));
    let mut found = Vec::new();
    for entry in entries.filter(|entry| is_active(entry)) {
        if !found.contains(&entry) {
            found.push(entry);
        }
    }
    found
}

impl EnvironmentMarker {
    /// Returns the absolute path of the root, if the environment is active.
    fn root(&self, variables: &Variables) -> Option<OsString> {
        let value = variables.get(OsStr::new(self.variable))?;
        let root = match self.root {
            EnvironmentRoot::Value => value.as_bytes(),
            EnvironmentRoot::Dashed => value.as_bytes().strip_prefix(b"-")?,
            EnvironmentRoot::Directory(directory) => directory.as_bytes(),
            EnvironmentRoot::Home(directory) => {
                let home = variables.get(OsStr::new("HOME"))?;
                return Some([home.as_os_str(), OsStr::new(directory)].join(OsStr::new("/")));
            }
        };
        let end = root.iter().rposition(|byte| *byte != b'/')?;
        root.starts_with(b"/")
            .then(|| OsString::from_vec(root[..=end].to_vec()))
    }
}

fn is_system(entry: &[u8]) -> bool {
    SYSTEM_DIRECTORIES
        .iter()
        .any(|system| system.as_bytes() == entry)
}

/// Returns the entries of a search path.
pub(super) fn entries(path: &OsStr) -> Vec<&[u8]> {
    if path.is_empty() {
        return Vec::new();
    }
    path.as_bytes().split(|byte| *byte == b':').collect()
}

fn joined<'a>(entries: impl Iterator<Item = &'a [u8]>) -> OsString {
    let entries: Vec<&[u8]> = entries.collect();
    OsString::from_vec(entries.join(&b':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(before: &str, after: &str, variables: &[(&str, &str)]) -> String {
        let variables = variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        let variables = [("HOME".into(), "/h".into())].into_iter().chain(variables);
        let merged = merged(before.as_ref(), after.as_ref(), &variables.collect());
        merged.into_string().unwrap()
    }

    #[test]
    fn merged_uses_the_configuration_without_an_active_environment() {
        for after in ["/mine:/usr/bin:/bin", "/usr/bin:/bin:/mine", "/mine", ""] {
            assert_eq!(path("/usr/bin:/bin", after, &[]), after);
        }
        // The path of a service, with the user's directory last.
        let after = "/h/bin:/usr/bin:/h/bin";
        assert_eq!(path("/usr/bin:/h/bin", after, &[]), after);
    }

    #[test]
    fn merged_puts_active_environments_first() {
        for (before, after, variable, want) in [
            (
                "/w/.venv/bin:/usr/bin",
                "/h/bin:/w/.venv/bin:/usr/bin",
                ("VIRTUAL_ENV", "/w/.venv"),
                "/w/.venv/bin:/h/bin:/usr/bin",
            ),
            // Initializing conda replaces the directories of another environment.
            (
                "/c/envs/py/bin:/c/condabin:/usr/bin",
                "/c/bin:/c/condabin:/usr/bin",
                ("CONDA_PREFIX", "/c/envs/py/"),
                "/c/envs/py/bin:/c/bin:/c/condabin:/usr/bin",
            ),
            (
                "/w/bin:/usr/bin",
                "/h/bin:/w/bin:/usr/bin",
                ("DIRENV_DIR", "-/w"),
                "/w/bin:/h/bin:/usr/bin",
            ),
            (
                "/nix/store/x/bin:/usr/bin",
                "/h/bin:/nix/store/x/bin:/usr/bin",
                ("IN_NIX_SHELL", "impure"),
                "/nix/store/x/bin:/h/bin:/usr/bin",
            ),
            // mise selects another version for another directory.
            (
                "/h/.local/share/mise/installs/node/18/bin:/usr/bin",
                "/h/.local/share/mise/installs/node/22/bin:/usr/bin",
                ("__MISE_DIFF", "x"),
                "/h/.local/share/mise/installs/node/22/bin:/usr/bin",
            ),
            // The root of this environment contains only system directories.
            (
                "/usr/bin:/bin",
                "/h/bin:/usr/bin:/bin",
                ("CONDA_PREFIX", "/usr"),
                "/h/bin:/usr/bin:/bin",
            ),
        ] {
            assert_eq!(path(before, after, &[variable]), want, "{variable:?}");
        }
    }

    #[test]
    fn merged_keeps_an_order_that_the_user_changed_later() {
        let (before, after) = ("/x:/h/bin:/usr/bin", "/h/bin:/x:/h/bin:/usr/bin");
        assert_eq!(path(before, after, &[]), before);
    }

    #[test]
    fn hook_changes_add_at_the_front_and_remove() {
        let with_hook_changes = |before: &str, after: &str| {
            let path = with_hook_changes("/v:/a:/usr/bin".into(), before.as_ref(), after.as_ref());
            path.into_string().unwrap()
        };
        assert_eq!(
            with_hook_changes("/a:/v:/usr/bin", "/a:/v:/usr/bin"),
            "/v:/a:/usr/bin"
        );
        assert_eq!(
            with_hook_changes("/a:/v:/usr/bin", "/n:/v:/usr/bin"),
            "/n:/v:/usr/bin"
        );
    }
}
