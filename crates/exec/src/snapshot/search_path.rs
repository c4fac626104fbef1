//! The search path of shells that load a snapshot: what the configuration adds to it, behind the
//! environment that was active when the host was started.
//!
//! A host that a user starts in an activated environment (venv, conda, nix) has its directories in
//! front. Reading the configuration again would put its own directories before them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The location of the directories of an active environment, by one of its variables.
#[derive(Debug, Clone, Copy)]
enum Below {
    /// The directory in the variable.
    Value,
    /// The directory in the variable, behind a `-`.
    Dashed,
    /// This directory, whatever the value.
    Directory(&'static str),
    /// This directory below the home.
    Home(&'static str),
}

/// A variable that an active environment sets.
#[derive(Debug, Clone, Copy)]
struct Marker {
    variable: &'static str,
    below: Below,
    /// The tool changes the search path by itself from one directory to another, so what it removes
    /// stays removed.
    follows_directory: bool,
}

const fn activated(variable: &'static str, below: Below) -> Marker {
    Marker {
        variable,
        below,
        follows_directory: false,
    }
}

const fn per_directory(variable: &'static str, below: Below) -> Marker {
    Marker {
        variable,
        below,
        follows_directory: true,
    }
}

/// All markers that are known.
const MARKERS: &[Marker] = &[
    activated("VIRTUAL_ENV", Below::Value),
    activated("CONDA_PREFIX", Below::Value),
    activated("NVM_BIN", Below::Value),
    activated("FNM_MULTISHELL_PATH", Below::Value),
    activated("FLOX_ENV", Below::Value),
    activated("DEVENV_PROFILE", Below::Value),
    activated("DEVBOX_PROJECT_ROOT", Below::Value),
    activated("GUIX_ENVIRONMENT", Below::Value),
    activated("IN_NIX_SHELL", Below::Directory("/nix/store")),
    activated("SPACK_ENV", Below::Value),
    activated("PIXI_PROJECT_ROOT", Below::Value),
    activated("HERMIT_ENV", Below::Value),
    activated("OPAM_SWITCH_PREFIX", Below::Value),
    activated("RUBY_ROOT", Below::Value),
    activated("MY_RUBY_HOME", Below::Value),
    per_directory("DIRENV_DIR", Below::Dashed),
    per_directory("__MISE_DIFF", Below::Home(".local/share/mise/installs")),
];

/// Directories of every system.
const SYSTEM: &[&str] = &[
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
];

type Variables = BTreeMap<OsString, OsString>;

/// True if an environment is active in these variables.
pub(super) fn has_active(variables: &Variables) -> bool {
    MARKERS
        .iter()
        .any(|marker| marker.root(variables).is_some())
}

/// The search path: `after` of a shell that has read the configuration, `before` of one that has
/// not, with these `variables`.
pub(super) fn merged(before: &OsStr, after: &OsStr, variables: &Variables) -> OsString {
    let (old, new) = (entries(before), entries(after));
    let front: Vec<&[u8]> = active(&old, &new, variables);
    let adds_nothing = new.iter().all(|entry| old.contains(entry));
    let is_custom = old.first().is_some_and(|entry| !is_system(entry));
    let rest: Vec<&[u8]> = if adds_nothing && is_custom {
        // The host's shell had read the configuration, and its user has changed the path since.
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

/// The search path `merged`, with what a hook has changed between `before` and `after`.
pub(super) fn hooked(merged: OsString, before: &OsStr, after: &OsStr) -> OsString {
    if before == after {
        return merged;
    }
    let (old, new) = (entries(before), entries(after));
    let own = entries(&merged);
    let added = new.iter().filter(|entry| !old.contains(entry));
    let removed = |entry: &&[u8]| old.contains(entry) && !new.contains(entry);
    let rest = own.iter().filter(|entry| !removed(entry));
    joined(added.chain(rest).copied())
}

/// The entries of active environments, in their order.
fn active<'a>(old: &[&'a [u8]], new: &[&[u8]], variables: &Variables) -> Vec<&'a [u8]> {
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

impl Marker {
    fn root(&self, variables: &Variables) -> Option<OsString> {
        let value = variables.get(OsStr::new(self.variable))?;
        let root = match self.below {
            Below::Value => value.as_bytes(),
            Below::Dashed => value.as_bytes().strip_prefix(b"-")?,
            Below::Directory(directory) => directory.as_bytes(),
            Below::Home(directory) => {
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
    SYSTEM.iter().any(|system| system.as_bytes() == entry)
}

fn entries(path: &OsStr) -> Vec<&[u8]> {
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
    fn without_an_active_environment_the_configuration_decides() {
        for after in ["/mine:/usr/bin:/bin", "/usr/bin:/bin:/mine", "/mine", ""] {
            assert_eq!(path("/usr/bin:/bin", after, &[]), after);
        }
        // A service that has the directory last.
        let after = "/h/bin:/usr/bin:/h/bin";
        assert_eq!(path("/usr/bin:/h/bin", after, &[]), after);
    }

    #[test]
    fn active_environments_stay_in_front() {
        for (before, after, variable, want) in [
            (
                "/w/.venv/bin:/usr/bin",
                "/h/bin:/w/.venv/bin:/usr/bin",
                ("VIRTUAL_ENV", "/w/.venv"),
                "/w/.venv/bin:/h/bin:/usr/bin",
            ),
            // conda's start replaces the directories of another environment.
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
            // Another directory has another version.
            (
                "/h/.local/share/mise/installs/node/18/bin:/usr/bin",
                "/h/.local/share/mise/installs/node/22/bin:/usr/bin",
                ("__MISE_DIFF", "x"),
                "/h/.local/share/mise/installs/node/22/bin:/usr/bin",
            ),
            // An environment that is the system.
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
    fn an_order_that_was_changed_after_the_reading_stays() {
        let (before, after) = ("/x:/h/bin:/usr/bin", "/h/bin:/x:/h/bin:/usr/bin");
        assert_eq!(path(before, after, &[]), before);
    }

    #[test]
    fn a_hook_adds_in_front_and_removes() {
        let hooked = |before: &str, after: &str| {
            let path = hooked("/v:/a:/usr/bin".into(), before.as_ref(), after.as_ref());
            path.into_string().unwrap()
        };
        assert_eq!(hooked("/a:/v:/usr/bin", "/a:/v:/usr/bin"), "/v:/a:/usr/bin");
        assert_eq!(hooked("/a:/v:/usr/bin", "/n:/v:/usr/bin"), "/n:/v:/usr/bin");
    }
}
