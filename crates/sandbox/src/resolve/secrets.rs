//! Finds the paths with secrets of this user, and of other users whose files this process can read.

use super::homes::{self, OtherHome};
use super::paths::canonical;
use super::secret_places::{SECRET_GROUPS, SecretGroup};
use super::secret_variables::{FILE_ENDINGS, FILE_VARIABLES};
use super::system_secrets::{SYSTEM_SECRETS, USER_SECRETS};
use crate::path_lookup::PathLookup;
use agent_bash_core::sandbox::HiddenPaths;
use rustix::fs::{Access, access};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Maximum number of other users' homes that are searched for secrets. Further homes are hidden
/// completely.
const MAX_SEARCHED_HOMES: usize = 32;

/// Maximum number of entries below a hidden directory that are checked for links, and their maximum
/// depth.
const MAX_ENTRIES: usize = 1000;
const MAX_LINK_DEPTH: usize = 2;

/// The input of the search for secret files.
pub(super) struct SecretSearch<'a> {
    /// The user's home, canonical.
    pub(super) home: Option<&'a Path>,
    /// The directory in which the host works, canonical.
    pub(super) directory: &'a Path,
    /// The variables of the host.
    pub(super) variables: &'a BTreeMap<OsString, OsString>,
    pub(super) lookup: PathLookup,
}

impl SecretSearch<'_> {
    /// Returns the paths to hide; existing ones are canonical.
    pub(super) fn all(&self) -> HiddenPaths {
        self.with_other_homes(homes::others())
    }

    fn with_other_homes(&self, others: BTreeSet<OtherHome>) -> HiddenPaths {
        let may_exist = |path: &&&str| self.lookup.may_exist(Path::new(path));
        let system: Vec<&&str> = SYSTEM_SECRETS.iter().filter(may_exist).collect();
        let mut paths: Vec<PathBuf> = readable(&system).collect();
        let accounts = others
            .iter()
            .filter_map(|other| fs::metadata(&other.path).ok());
        let users: BTreeSet<u32> = accounts
            .map(|home| home.uid())
            .chain([rustix::process::geteuid().as_raw()])
            .collect();
        paths.extend(users.into_iter().flat_map(secrets_of_user));
        for group in SECRET_GROUPS {
            paths.extend(self.relocated(group));
        }
        paths.extend(self.named_files());
        let mut homes: Vec<PathBuf> = self.home.map(Path::to_owned).into_iter().collect();
        let mut service_homes = Vec::new();
        let others = others.into_iter().filter_map(|other| {
            let path = fs::canonicalize(&other.path).ok()?;
            (Some(&*path) != self.home).then_some((path, other.is_of_service))
        });
        let others: BTreeSet<(PathBuf, bool)> = others.collect();
        for (number, (home, is_of_service)) in others.into_iter().enumerate() {
            if number >= MAX_SEARCHED_HOMES && !self.is_needed(&home) {
                paths.push(home);
            } else if is_of_service {
                service_homes.push(home);
            } else {
                homes.push(home);
            }
        }
        let names = names_in_homes();
        // Of a service's home, only the existing paths are hidden.
        let of_services = HiddenPaths::new(Vec::new(), service_homes, names.clone());
        let existing = self.lookup.hidden(&of_services).existing;
        let existing = existing.iter().map(|path| self.lookup.canonical(path));
        let mut in_homes: Vec<PathBuf> = existing.collect();
        let of_people = HiddenPaths::new(Vec::new(), homes.clone(), names.clone());
        let found = self.lookup.hidden(&of_people);
        let is_linked = |path: &&PathBuf| self.lookup.canonical(path) != **path;
        let linked: Vec<&PathBuf> = found.existing.iter().filter(is_linked).collect();
        let linked: Vec<&PathBuf> = linked.into_iter().chain(&found.behind_links).collect();
        // Of a home in which links lead to secrets, the targets are listed.
        let has_links = |home: &PathBuf| linked.iter().any(|path| path.starts_with(home));
        let (with_links, homes): (Vec<PathBuf>, _) = homes.into_iter().partition(has_links);
        for home in &with_links {
            let paths = names.iter().map(|name| home.join(name));
            in_homes.extend(paths.map(|path| self.lookup.canonical(&path)));
        }
        // Skips a path that contains the user's own home: hiding it would hide the home.
        in_homes.retain(|path| !self.home.is_some_and(|home| home.starts_with(path)));
        paths.extend(in_homes);
        let hidden = paths.iter().chain(&found.existing);
        let targets: Vec<PathBuf> = hidden.flat_map(|path| self.linked_from(path)).collect();
        paths.extend(targets);
        let mut hidden = HiddenPaths::new(Vec::new(), homes, names);
        if let Some(home) = self.home {
            hidden.show(home);
        }
        hidden.extend(paths);
        hidden
    }

    /// Returns the paths of a group's secrets below the directory that a variable names.
    fn relocated(&self, group: &SecretGroup) -> Vec<PathBuf> {
        let set = group.variables.iter().find_map(|name| self.value(name));
        let Some(directory) = set.and_then(|value| self.path(value)) else {
            return Vec::new();
        };
        let paths = group.secrets.iter().map(|secret| {
            self.lookup
                .canonical(&joined(&directory, Path::new(secret)))
        });
        paths.filter(|path| !self.is_needed(path)).collect()
    }

    /// Returns the files that variables name.
    fn named_files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        // Only regular files are hidden (not `HISTFILE=/dev/null`), and directories whose value
        // says so. A missing file is hidden only if the value is an absolute path or starts with
        // `~`.
        let is_file = |path: &Path, value: &[u8]| match fs::metadata(path) {
            Ok(found) => found.is_file() || (found.is_dir() && value.starts_with(b"DIR:")),
            Err(_) => value.starts_with(b"/") || value.starts_with(b"~"),
        };
        for (name, value) in self.variables {
            // Some tools (npm) ignore the case of a name.
            let name = name.as_bytes().to_ascii_uppercase();
            let is_listed = FILE_VARIABLES.iter().any(|it| it.as_bytes() == name);
            let has_secret_ending = || FILE_ENDINGS.iter().any(|it| name.ends_with(it.as_bytes()));
            if !is_listed && !has_secret_ending() {
                continue;
            }
            let parts = value.as_bytes().split(|byte| *byte == b':');
            for value in [value.as_bytes()].into_iter().chain(parts) {
                let Some(path) = self.path(OsStr::from_bytes(value)) else {
                    continue;
                };
                let path = self.lookup.canonical(&path);
                let is_own = !is_listed && path.starts_with(self.project());
                if !is_own && is_file(&path, value) && !self.is_needed(&path) {
                    found.push(path);
                }
            }
        }
        found
    }

    /// Returns the targets of links in a hidden directory.
    fn linked_from(&self, directory: &Path) -> Vec<PathBuf> {
        if !self.lookup.may_exist(directory) {
            return Vec::new();
        }
        let links = links_below(directory);
        let targets = links.iter().filter_map(|link| fs::canonicalize(link).ok());
        targets
            .filter(|target| {
                let is_candidate =
                    target.is_file() || self.home.is_some_and(|home| target.starts_with(home));
                let is_own = target.starts_with(self.project());
                is_candidate && !is_own && !is_installed_file(target) && !self.is_needed(target)
            })
            .collect()
    }

    /// Returns the repository that the host works in, or else the host's directory.
    fn project(&self) -> &Path {
        let is_wide = |path: &&Path| self.home.is_some_and(|home| home.starts_with(path));
        let mut around = self.directory.ancestors().take_while(|path| !is_wide(path));
        let repository = around.find(|path| path.join(".git").exists());
        repository.unwrap_or(self.directory)
    }

    /// True if hiding the path would hide the home, or the directory of the host.
    fn is_needed(&self, path: &Path) -> bool {
        let is_within = |needed: &Path| needed.starts_with(path);
        let is_wide = path.components().count() <= 2 && !path.is_file();
        is_wide || is_within(self.directory) || self.home.is_some_and(is_within)
    }

    fn value(&self, name: &str) -> Option<&OsStr> {
        let set = self.variables.get(OsStr::new(name));
        set.map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    /// Returns the path that a variable's value names.
    fn path(&self, value: &OsStr) -> Option<PathBuf> {
        let bytes = value.as_bytes();
        let mut prefixes = [b"FILE:".as_slice(), b"DIR:"].into_iter();
        let inner = prefixes.find_map(|prefix| bytes.strip_prefix(prefix));
        let bytes = inner.unwrap_or(bytes);
        if bytes.is_empty() {
            return None;
        }
        let path = PathBuf::from(OsString::from_vec(bytes.to_vec()));
        let path = match (path.strip_prefix("~"), self.home) {
            (Ok(below), Some(home)) => joined(home, below),
            _ => self.directory.join(path),
        };
        Some(path)
    }
}

/// Returns the existing secrets of this user in directories of the system. The plan of a sandbox
/// hides no missing ones: files that appear later in these directories would be unreadable.
pub fn user_secrets() -> Vec<PathBuf> {
    secrets_of_user(rustix::process::geteuid().as_raw())
}

fn secrets_of_user(user: u32) -> Vec<PathBuf> {
    readable_without_links(paths_of_user(user))
}

/// Returns the existing readable paths that are no links. A call that may write the shared `/tmp`
/// could name any directory by a link, and the sandbox would hide that directory.
fn readable_without_links(mut paths: Vec<String>) -> Vec<PathBuf> {
    paths.retain(|path| fs::symlink_metadata(path).is_ok_and(|found| !found.is_symlink()));
    readable(&paths).collect()
}

fn paths_of_user(user: u32) -> Vec<String> {
    let paths = USER_SECRETS.iter();
    paths
        .map(|path| path.replace("UID", &user.to_string()))
        .collect()
}

/// Joins two paths. An empty `below` adds no slash.
fn joined(directory: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() {
        return directory.to_owned();
    }
    directory.join(below)
}

/// Returns the default paths of secrets, relative to a home. They are sorted, because
/// [`HiddenPaths`] sorts sorted names faster.
fn names_in_homes() -> Vec<PathBuf> {
    let groups = SECRET_GROUPS
        .iter()
        .filter(|group| !is_relocated_only(group));
    let names = groups.flat_map(|group| {
        let directory = Path::new(group.directory);
        let secrets = group.secrets.iter();
        secrets.map(|secret| joined(directory, Path::new(secret)))
    });
    let mut names: Vec<PathBuf> = names.collect();
    names.sort_unstable_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    names
}

/// True for groups without a default path below the home.
fn is_relocated_only(group: &SecretGroup) -> bool {
    group.directory.is_empty() && !group.variables.is_empty()
}

/// True for installed files, which every user may read.
fn is_installed_file(path: &Path) -> bool {
    ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/nix/store"]
        .iter()
        .any(|programs| path.starts_with(programs))
}

/// Returns the existing paths that this process may read. A call cannot read the other paths.
fn readable<P: AsRef<Path>>(paths: &[P]) -> impl Iterator<Item = PathBuf> {
    let paths = paths.iter().map(|path| -> &Path { path.as_ref() });
    paths
        .filter(|path| access(*path, Access::READ_OK).is_ok())
        .map(canonical)
}

/// Returns the links below a directory, those near the top first.
fn links_below(directory: &Path) -> Vec<PathBuf> {
    let mut links = Vec::new();
    let mut pending = VecDeque::from([(directory.to_owned(), 1)]);
    let mut remaining = MAX_ENTRIES;
    while let Some((directory, depth)) = pending.pop_front() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let Some(rest) = remaining.checked_sub(1) else {
                return links;
            };
            remaining = rest;
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => links.push(entry.path()),
                Ok(kind) if kind.is_dir() && depth < MAX_LINK_DEPTH => {
                    pending.push_back((entry.path(), depth + 1));
                }
                _ => {}
            }
        }
    }
    links
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
