//! Finds the files below writable directories that run, configure or instruct programs outside the
//! sandbox, and compares two such scans. A scan is bounded: it reads a fixed number of directories,
//! the ones near the top first.

mod repositories;
mod version;

use super::names::{self, is_held, is_named_in};
use agent_bash_core::sandbox::{Plan, Tier};
use repositories::{Repositories, is_git_directory};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use version::{FileVersion, Time};

/// The maximum number of directories scanned before a call, and after it.
const MAX_DIRECTORIES_BEFORE: usize = 600;
const MAX_DIRECTORIES_AFTER: usize = 1000;

/// The maximum number of files, and the depth, in a directory with such a name.
const MAX_FILES: usize = 500;
const MAX_DEPTH: usize = 8;

/// The maximum number of names read of a directory. In a larger one, the names that count are
/// looked up.
const MAX_ENTRIES: usize = 10_000;

/// The maximum number of paths in a result.
const MAX_PATHS: usize = 40;

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

/// The result for one directory.
#[derive(Debug)]
struct Directory {
    version: FileVersion,
    /// Names of files and directories that count.
    named: Vec<OsString>,
    /// True if it has a `.git`.
    is_repository: bool,
    /// True if git could take it for a repository without a `.git`.
    is_bare: bool,
    is_cache: bool,
    directories: Vec<OsString>,
}

/// The files that count, below all writable directories.
#[derive(Debug, Default)]
pub struct NameScan {
    directories: BTreeMap<PathBuf, Arc<Directory>>,
    /// The files that count.
    files: BTreeMap<PathBuf, FileVersion>,
    /// True if the scan reached all directories.
    is_whole: bool,
}

impl NameScan {
    /// Scans the writable directories of a plan before a call. Directories that are the same as in
    /// `earlier` are not read again.
    #[must_use]
    pub fn of(plan: &Plan, earlier: &Self, is_over: &dyn Fn() -> bool) -> Self {
        earlier.walked(plan, MAX_DIRECTORIES_BEFORE, is_over)
    }

    /// Scans after a call.
    #[must_use]
    pub fn again(&self, plan: &Plan, is_over: &dyn Fn() -> bool) -> Self {
        self.walked(plan, MAX_DIRECTORIES_AFTER, is_over)
    }

    /// Returns the files that differ in `now`, except those that the kernel keeps. `since` is the
    /// start of the call in seconds and nanoseconds. If this scan `is_old`, only changes since then
    /// count.
    #[must_use]
    pub fn changed(
        &self,
        now: &Self,
        plan: &Plan,
        since: (i64, i64),
        is_old: bool,
    ) -> Vec<PathBuf> {
        let held: BTreeSet<&Path> = plan.protected.iter().map(PathBuf::as_path).collect();
        let is_held =
            |path: &Path| plan.tier == Tier::Full && path.ancestors().any(|it| held.contains(it));
        let counts = |path: &Path, changed: Option<Time>| {
            let is_certain = !is_old && (self.is_whole || self.has_seen(path, now));
            is_certain || changed.is_none_or(|changed| changed >= since)
        };
        let written = now.files.iter().filter(|(path, version)| {
            let changed = || match version.changed {
                (0, 0) => FileVersion::at(path).map(|it| it.changed),
                changed => Some(changed),
            };
            self.files.get(*path) != Some(version) && counts(path, changed())
        });
        let gone = self.files.iter().filter(|(path, before)| {
            // A `HEAD` counts as removed where its directory is no repository any more.
            let repository = path.parent().filter(|_| path.ends_with("HEAD"));
            // The second scan may not have reached the file; then it still has the same version.
            let is_other = match repository {
                Some(directory) => !is_git_directory(directory),
                None => !before.is_at(path),
            };
            let own = FileVersion::at(path).map(|it| it.changed);
            let changed = match repository {
                Some(directory) => own.max(FileVersion::at(directory).map(|it| it.changed)),
                None => own.or_else(|| around(path).map(|it| it.changed)),
            };
            !now.files.contains_key(*path)
                && is_other
                && (!is_absent(path) || is_removal_named(path, plan))
                && counts(path, changed)
        });
        let removed = gone.map(|(path, _)| path);
        let mut changed: BTreeSet<PathBuf> = written
            .map(|(path, _)| path)
            .chain(removed)
            .filter(|path| !is_held(path))
            .cloned()
            .collect();
        // For a repository that was created or removed, its `.git` is enough.
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
        let gone = self.directories.keys();
        let gone = gone.filter(|path| !now.directories.contains_key(*path));
        gone.filter(|path| path.is_symlink()).cloned().collect()
    }

    /// True if this scan reached the directory in which `now` found the file.
    fn has_seen(&self, path: &Path, now: &Self) -> bool {
        let mut around = path.ancestors().skip(1);
        let found = around.find(|it| now.directories.contains_key(*it));
        found.is_none_or(|it| self.directories.contains_key(it))
    }

    fn walked(&self, plan: &Plan, most: usize, is_over: &dyn Fn() -> bool) -> Self {
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
        while walk.now.directories.len() < most && !is_over() {
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

/// The state of a scan.
struct ScanWalk<'a> {
    before: &'a NameScan,
    now: NameScan,
    /// Directories to visit, each with the device of its parent. Those in `far` come last.
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
        if is_elsewhere || version.kind != 0o040_000 {
            return;
        }
        let known = self.before.directories.get(&path);
        let known = known.filter(|known| known.version == version).cloned();
        let Some(directory) = known.or_else(|| read(&path, version).map(Arc::new)) else {
            return;
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

/// Reads a directory; `None` if that fails.
fn read(path: &Path, version: FileVersion) -> Option<Directory> {
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
    let own_name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let is_foreign = path.iter().any(is_dependency);
    let mut found = Directory {
        version,
        named: Vec::new(),
        is_repository: false,
        is_bare: false,
        is_cache: false,
        directories: Vec::new(),
    };
    let mut insides: BTreeSet<OsString> = BTreeSet::new();
    let mut sort_in = |name: OsString, is_directory: bool| {
        match name.to_str() {
            Some(text) if text.eq_ignore_ascii_case(".git") => {
                found.is_repository = true;
                return;
            }
            Some(CACHE_TAG) => found.is_cache = true,
            Some("HEAD" | "objects" | "refs" | "commondir") => {
                insides.insert(name.clone());
            }
            Some(text) if !is_foreign && is_named_in(own_name, text) => {
                found.named.push(name);
                return;
            }
            _ => {}
        }
        if is_directory {
            found.directories.push(name);
        }
    };
    let mut left = MAX_ENTRIES;
    for entry in fs::read_dir(path).ok()?.flatten() {
        let is_directory = entry.file_type().is_ok_and(|it| it.is_dir());
        sort_in(entry.file_name(), is_directory);
        left -= 1;
        if left == 0 {
            let all = names::ALL_NAMES.iter().copied().flatten();
            for name in all.chain(&[".git", "HEAD", "objects", "refs", "commondir"]) {
                if let Ok(it) = path.join(name).symlink_metadata() {
                    sort_in(name.into(), it.is_dir());
                }
            }
            break;
        }
    }
    let has = |name: &str| insides.contains(OsStr::new(name));
    found.is_bare = has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
    if found.is_bare {
        let is_inside = |name: &OsString| {
            name.to_str()
                .is_some_and(|it| UNSCANNED_GIT_DIRECTORIES.contains(&it))
        };
        found.directories.retain(|name| !is_inside(name));
    }
    Some(found)
}

/// Adds a file or the files below a directory, and the targets of links.
fn add_files(
    path: &Path,
    depth: usize,
    most: &mut usize,
    files: &mut BTreeMap<PathBuf, FileVersion>,
) {
    let (Some(rest), Some(version)) = (most.checked_sub(1), FileVersion::at(path)) else {
        return;
    };
    *most = rest;
    match version.kind {
        0o040_000 => {
            // New, removed and moved names are compared separately.
            files.insert(path.to_owned(), version.without_time());
            if depth > 0 {
                for entry in fs::read_dir(path).into_iter().flatten().flatten() {
                    add_files(&entry.path(), depth - 1, most, files);
                }
            }
        }
        0o120_000 => {
            files.insert(path.to_owned(), version);
            if let Ok(target) = fs::canonicalize(path)
                && depth > 0
            {
                add_files(&target, depth - 1, most, files);
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

/// True if the removal of this file is named. Without a nested `.git`, git uses the repository
/// around it, so that this removal is not.
fn is_removal_named(path: &Path, plan: &Plan) -> bool {
    let mut gits = path.ancestors().filter(|it| it.ends_with(".git"));
    match gits.next() {
        Some(git) => {
            let is_top = git
                .parent()
                .is_some_and(|it| plan.writable.iter().any(|w| w == it));
            is_top || !is_absent(git)
        }
        None => true,
    }
}

/// Returns the version of the nearest existing directory above.
fn around(path: &Path) -> Option<FileVersion> {
    path.ancestors().skip(1).find_map(FileVersion::at)
}

/// Returns the files at the top of these directories that the kernel is to keep, those that match a
/// pattern included.
pub(super) fn held_at(directories: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let entries = directories
        .iter()
        .flat_map(|it| fs::read_dir(it).into_iter().flatten());
    let held = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_held));
    held.map(|entry| entry.path()).collect()
}
