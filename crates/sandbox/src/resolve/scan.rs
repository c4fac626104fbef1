//! Finds the files below writable directories that run, configure or instruct programs outside the
//! sandbox, and compares two such scans. A scan is bounded: it reads a fixed number of directories,
//! those near the top first.

mod repositories;
mod version;

use super::names::{self, is_protected_name, is_reported_entry};
use agent_bash_core::sandbox::{Plan, Tier};
use repositories::{Repositories, is_git_directory};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use version::{DIRECTORY_KIND, FileVersion, LINK_KIND, Time};

/// The maximum number of directories scanned before a call, and after it.
const MAX_DIRECTORIES_BEFORE: usize = 600;
const MAX_DIRECTORIES_AFTER: usize = 1000;

/// The maximum number of files, and the maximum depth, in a directory that is scanned because of
/// its name.
const MAX_FILES: usize = 500;
const MAX_DEPTH: usize = 8;

/// The maximum number of names read of a directory. In a larger directory, only the names that
/// count are looked up.
const MAX_ENTRIES: usize = 10_000;

/// The maximum number of paths in a result.
const MAX_PATHS: usize = 1000;

/// Directories that package managers fill. The names in them belong to other projects; only
/// repositories count.
const DEPENDENCY_DIRECTORIES: &[&str] = &[
    "node_modules",
    "bower_components",
    "site-packages",
    "__pycache__",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    ".pnpm-store",
];

/// The file with which build tools mark their directories.
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// The result of scanning one directory.
#[derive(Debug)]
struct ScannedDirectory {
    version: FileVersion,
    /// Names of files and directories that count.
    named: Vec<OsString>,
    /// True if the directory has a `.git`.
    is_repository: bool,
    /// True if git could treat the directory as a repository without a `.git`.
    is_bare: bool,
    is_cache: bool,
    directories: Vec<OsString>,
}

/// The files that count, below all writable directories.
#[derive(Debug, Default)]
pub struct NameScan {
    directories: BTreeMap<PathBuf, Arc<ScannedDirectory>>,
    /// The files that count, and the directories that cannot be listed.
    files: BTreeMap<PathBuf, FileVersion>,
    /// True if the scan reached all directories.
    is_whole: bool,
}

impl NameScan {
    /// Scans the writable directories of a plan before a call. Directories that are the same as in
    /// `earlier` are not read again. The scan stops when `is_over` returns true.
    #[must_use]
    pub fn of(plan: &Plan, earlier: &Self, is_over: &dyn Fn() -> bool) -> Self {
        earlier.scan(plan, MAX_DIRECTORIES_BEFORE, is_over)
    }

    /// Scans the same directories after a call. The scan stops when `is_over` returns true.
    #[must_use]
    pub fn again(&self, plan: &Plan, is_over: &dyn Fn() -> bool) -> Self {
        self.scan(plan, MAX_DIRECTORIES_AFTER, is_over)
    }

    /// Returns the files that differ in `now`, except those that the sandbox protects. `since` is
    /// the start of the call in seconds and nanoseconds. If this scan `is_old`, only changes since
    /// the start of the call count.
    #[must_use]
    pub fn changed(
        &self,
        now: &Self,
        plan: &Plan,
        since: (i64, i64),
        is_old: bool,
    ) -> Vec<PathBuf> {
        let protected: BTreeSet<&Path> = plan.protected.iter().map(PathBuf::as_path).collect();
        let is_protected = |path: &Path| {
            plan.tier == Tier::Full
                && path
                    .ancestors()
                    .any(|ancestor| protected.contains(ancestor))
        };
        let is_reported = |path: &Path, changed: Option<Time>| {
            let is_certain = !is_old && (self.is_whole || self.has_seen(path, now));
            is_certain || changed.is_none_or(|changed| changed >= since)
        };
        let written = now.files.iter().filter(|(path, version)| {
            let changed = || match version.changed {
                (0, 0) => FileVersion::at(path).map(|version| version.changed),
                changed => Some(changed),
            };
            self.files.get(*path) != Some(version) && is_reported(path, changed())
        });
        let missing = self.files.iter().filter(|(path, before)| {
            // A `HEAD` counts as removed if its directory is no longer a repository.
            let repository = path.parent().filter(|_| path.ends_with("HEAD"));
            // The second scan may not have reached the file; then it still has the same version.
            let is_other = match repository {
                Some(directory) => !is_git_directory(directory),
                // A directory that could not be listed before can be listed now.
                None => !before.is_at(path) || now.directories.contains_key(*path),
            };
            let own = FileVersion::at(path).map(|version| version.changed);
            let changed = match repository {
                Some(directory) => {
                    own.max(FileVersion::at(directory).map(|version| version.changed))
                }
                None => own.or_else(|| nearest_existing(path).map(|version| version.changed)),
            };
            !now.files.contains_key(*path)
                && is_other
                && (!is_absent(path) || is_removal_reported(path, plan))
                && is_reported(path, changed)
        });
        let removed = missing.map(|(path, _)| path);
        let mut changed: BTreeSet<PathBuf> = written
            .map(|(path, _)| path)
            .chain(removed)
            .filter(|path| !is_protected(path) || has_further_names(path))
            .cloned()
            .collect();
        // For a repository that was created or removed, only its `.git` is reported.
        let gits = changed.iter().filter(|path| path.ends_with(".git"));
        let gits: Vec<PathBuf> = gits.cloned().collect();
        changed.retain(|path| !gits.iter().any(|git| path != git && path.starts_with(git)));
        let mut changed: Vec<PathBuf> = changed.into_iter().collect();
        changed.sort_by_key(|path| path.components().count());
        changed.truncate(MAX_PATHS);
        changed
    }

    /// Returns the files of this name.
    pub fn files_named(&self, name: &str) -> impl Iterator<Item = &Path> {
        let files = self.files.keys().map(PathBuf::as_path);
        files.filter(move |path| path.ends_with(name))
    }

    /// Returns the directories that were replaced by links. A program that is started there by path
    /// runs in the link's target.
    #[must_use]
    pub fn replaced_by_links(&self, now: &Self) -> Vec<PathBuf> {
        let missing = self.directories.keys();
        let missing = missing.filter(|path| !now.directories.contains_key(*path));
        missing.filter(|path| path.is_symlink()).cloned().collect()
    }

    /// True if this scan reached the directory in which `now` found the file.
    fn has_seen(&self, path: &Path, now: &Self) -> bool {
        let mut around = path.ancestors().skip(1);
        let found = around.find(|directory| now.directories.contains_key(*directory));
        found.is_none_or(|directory| self.directories.contains_key(directory))
    }

    fn scan(&self, plan: &Plan, max_directories: usize, is_over: &dyn Fn() -> bool) -> Self {
        let mut walk = ScanWalk {
            before: self,
            now: Self::default(),
            near: VecDeque::new(),
            far: VecDeque::new(),
            repositories: Repositories::of(plan),
        };
        for root in &plan.writable {
            if is_git_directory(root) {
                walk.repositories.add(root);
            } else if root != Path::new("/tmp") {
                walk.near.push_back((root.clone(), None));
            }
        }
        while walk.now.directories.len() < max_directories && !is_over() {
            let near = walk.near.pop_front();
            let Some((path, device)) = near.or_else(|| walk.far.pop_front()) else {
                break;
            };
            walk.visit(path, device);
        }
        let is_whole = walk.near.is_empty() && walk.far.is_empty();
        let ScanWalk {
            mut now,
            repositories,
            ..
        } = walk;
        now.files.extend(repositories.files());
        now.is_whole = is_whole;
        now
    }
}

/// True for a file with several hard links. A mount protects one name of the file, so a call may
/// have written the file by another name.
fn has_further_names(path: &Path) -> bool {
    let found = fs::symlink_metadata(path);
    found.is_ok_and(|found| found.is_file() && found.nlink() > 1)
}

/// The state of a scan.
struct ScanWalk<'a> {
    before: &'a NameScan,
    now: NameScan,
    /// Directories to visit, each with the device of its parent. The directories in `far` are
    /// visited last.
    near: VecDeque<(PathBuf, Option<u64>)>,
    far: VecDeque<(PathBuf, Option<u64>)>,
    repositories: Repositories,
}

impl ScanWalk<'_> {
    fn visit(&mut self, path: PathBuf, device: Option<u64>) {
        if self.now.directories.contains_key(&path) {
            return;
        }
        let Some(version) = FileVersion::at(&path) else {
            return;
        };
        // A file system that is mounted there may not answer.
        let is_elsewhere = device.is_some_and(|device| device != version.device);
        if is_elsewhere || version.kind != DIRECTORY_KIND {
            return;
        }
        let known = self.before.directories.get(&path);
        let known = known.filter(|known| known.version == version).cloned();
        let directory = match known.map_or_else(|| scan_directory(&path, version), Ok) {
            Ok(directory) => directory,
            Err(error) => {
                // Programs outside find the files in such a directory by their names.
                if error.kind() == io::ErrorKind::PermissionDenied {
                    self.now.files.insert(path, version.without_time());
                }
                return;
            }
        };
        for name in &directory.named {
            add_files(
                &path.join(name),
                MAX_DEPTH,
                &mut MAX_FILES.clone(),
                &mut self.now.files,
            );
        }
        if directory.is_repository {
            self.repositories.add_at(&path);
        }
        if directory.is_bare {
            self.repositories.add(&path);
        }
        for name in &directory.directories {
            let is_far = directory.is_cache || is_dependency(name);
            let queue = if is_far {
                &mut self.far
            } else {
                &mut self.near
            };
            queue.push_back((path.join(name), Some(version.device)));
        }
        self.now.directories.insert(path, directory);
    }
}

fn is_dependency(name: &OsStr) -> bool {
    name.to_str()
        .is_some_and(|name| DEPENDENCY_DIRECTORIES.contains(&name))
}

/// Reads a directory.
fn scan_directory(path: &Path, version: FileVersion) -> io::Result<Arc<ScannedDirectory>> {
    /// Directories of a repository that are not scanned.
    const UNSCANNED_GIT_DIRECTORIES: [&str; 8] = [
        "objects",
        "refs",
        "hooks",
        "info",
        "logs",
        "branches",
        "modules",
        "worktrees",
    ];
    let is_foreign = path.iter().any(is_dependency);
    let mut found = ScannedDirectory {
        version,
        named: Vec::new(),
        is_repository: false,
        is_bare: false,
        is_cache: false,
        directories: Vec::new(),
    };
    let mut repository_files: BTreeSet<OsString> = BTreeSet::new();
    let mut classify = |name: OsString, is_directory: bool| {
        match name.to_str() {
            Some(text) if text.eq_ignore_ascii_case(".git") => {
                found.is_repository = true;
                return;
            }
            Some(CACHE_TAG) => found.is_cache = true,
            Some("HEAD" | "objects" | "refs" | "commondir") => {
                repository_files.insert(name.clone());
            }
            Some(text) if !is_foreign && is_reported_entry(path, text, is_directory) => {
                found.named.push(name);
                return;
            }
            _ => {}
        }
        if is_directory {
            found.directories.push(name);
        }
    };
    let mut remaining = MAX_ENTRIES;
    for entry in fs::read_dir(path)?.flatten() {
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        classify(entry.file_name(), is_directory);
        remaining -= 1;
        if remaining == 0 {
            let all = names::ALL_NAMES.iter().copied().flatten().copied();
            let all = all.chain(names::compared_names_in(path));
            for name in all.chain([".git", "HEAD", "objects", "refs", "commondir"]) {
                if let Ok(found) = path.join(name).symlink_metadata() {
                    classify(name.into(), found.is_dir());
                }
            }
            break;
        }
    }
    let has = |name: &str| repository_files.contains(OsStr::new(name));
    found.is_bare = has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
    if found.is_bare {
        let is_inside = |name: &OsString| {
            name.to_str()
                .is_some_and(|name| UNSCANNED_GIT_DIRECTORIES.contains(&name))
        };
        found.directories.retain(|name| !is_inside(name));
    }
    Ok(Arc::new(found))
}

/// Adds a file or the files below a directory, and the targets of links.
fn add_files(
    path: &Path,
    depth: usize,
    remaining_files: &mut usize,
    files: &mut BTreeMap<PathBuf, FileVersion>,
) {
    let (Some(rest), Some(version)) = (remaining_files.checked_sub(1), FileVersion::at(path))
    else {
        return;
    };
    *remaining_files = rest;
    match version.kind {
        DIRECTORY_KIND => {
            // New, removed and moved names are compared separately, so the directory's time does
            // not matter.
            files.insert(path.to_owned(), version.without_time());
            if depth > 0 {
                for entry in fs::read_dir(path).into_iter().flatten().flatten() {
                    add_files(&entry.path(), depth - 1, remaining_files, files);
                }
            }
        }
        LINK_KIND => {
            files.insert(path.to_owned(), version);
            if let Ok(target) = fs::canonicalize(path)
                && depth > 0
            {
                add_files(&target, depth - 1, remaining_files, files);
            }
        }
        _ => {
            files.insert(path.to_owned(), version);
        }
    }
}

fn is_absent(path: &Path) -> bool {
    path.symlink_metadata().is_err()
}

/// True if the removal of this file is reported. The removal of a nested `.git` is not reported,
/// because git then uses the enclosing repository.
fn is_removal_reported(path: &Path, plan: &Plan) -> bool {
    let mut gits = path
        .ancestors()
        .filter(|ancestor| ancestor.ends_with(".git"));
    match gits.next() {
        Some(git) => {
            let is_top = git.parent().is_some_and(|directory| {
                plan.writable.iter().any(|writable| writable == directory)
            });
            is_top || !is_absent(git)
        }
        None => true,
    }
}

/// Returns the version of the nearest existing ancestor directory.
fn nearest_existing(path: &Path) -> Option<FileVersion> {
    path.ancestors().skip(1).find_map(FileVersion::at)
}

/// Returns the files at the top of these directories that the sandbox protects, including those
/// that match a pattern.
pub(super) fn protected_at(directories: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let entries = directories
        .iter()
        .flat_map(|directory| fs::read_dir(directory).into_iter().flatten());
    let protected = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_protected_name));
    protected.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::sandbox::WriteLevel;

    /// Root can list every directory, so the test adds the entry of such a directory itself.
    #[test]
    fn directory_that_could_not_be_listed_is_reported_before_and_afterwards() {
        let temp = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(temp.path()).unwrap();
        let closed = root.join("closed");
        fs::create_dir(&closed).unwrap();
        let plan = Plan {
            writable: vec![root],
            ..Plan::new(WriteLevel::WorkspaceWrite, Tier::Full)
        };
        let listed = NameScan::of(&plan, &NameScan::default(), &|| false);
        let mut unlisted = NameScan::of(&plan, &NameScan::default(), &|| false);
        unlisted.directories.remove(&closed);
        let version = FileVersion::at(&closed).unwrap().without_time();
        unlisted.files.insert(closed.clone(), version);
        let changed = |before: &NameScan, now| before.changed(now, &plan, (0, 0), false);
        assert_eq!(changed(&listed, &unlisted), std::slice::from_ref(&closed));
        assert_eq!(changed(&unlisted, &listed), [closed]);
        assert!(changed(&unlisted, &unlisted).is_empty());
    }
}
