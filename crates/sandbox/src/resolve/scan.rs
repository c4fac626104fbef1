//! Finds the files below writable directories that run, configure or instruct programs outside the
//! sandbox, and compares two such scans. A scan is bounded: it reads a fixed number of directories,
//! those near the top first.

mod comparison;
mod repositories;
mod version;

use super::git::has_repository_files;
use super::names::{self, is_protected_name, is_reported_entry};
use agent_bash_core::sandbox::{Plan, Tier};
use agent_bash_core::words;
use repositories::{ListedSubmodules, Repositories, is_git_directory};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use version::{DIRECTORY_KIND, FileVersion, LINK_KIND};

/// The maximum number of directories in a scan. It is the same before and after a call: otherwise
/// calls could add directories unnoticed that only the later scan reaches.
const MAX_DIRECTORIES: usize = 1000;

/// The maximum number of directories in `.git` that a scan visits in addition.
const MAX_GIT_DIRECTORIES: usize = 300;

/// The maximum number of files, and the maximum depth, in a directory that is scanned because of
/// its name.
const MAX_FILES: usize = 500;
const MAX_DEPTH: usize = 8;

/// The maximum number of names read of a directory. In a larger directory, only the names that
/// count are looked up.
const MAX_ENTRIES: usize = 10_000;

/// Directories that package managers fill. The names in them belong to other projects; only
/// repositories count.
const DEPENDENCY_DIRECTORIES: &[&str] = &[
    "node_modules", "bower_components", "site-packages", "__pycache__", ".venv", "venv", ".tox",
    ".nox", ".pnpm-store",
];

/// The names in a git directory that are looked up if it has too many entries, and the name of a
/// git directory.
const GIT_NAMES: &[&str] = words![
    ".git HEAD objects refs commondir index packed-refs shallow logs info modules worktrees",
    "rebase-merge rebase-apply sequencer rr-cache COMMIT_EDITMSG TAG_EDITMSG MERGE_MSG MERGE_HEAD",
    "MERGE_MODE MERGE_RR AUTO_MERGE SQUASH_MSG ORIG_HEAD FETCH_HEAD REVERT_HEAD CHERRY_PICK_HEAD",
    "REBASE_HEAD BISECT_LOG NOTES_EDITMSG gc.log",
];

/// The file with which build tools mark their directories.
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// The entries of a directory that count, in addition to repositories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountedEntries {
    /// Files and directories with a protected name.
    Names,
    /// These names and all symbolic links, because a repository without a `.git` may have the
    /// directory.
    NamesAndLinks,
    /// All symbolic links, in a `.git`. A git outside would write where a link leads, and branches
    /// can have any name.
    Links,
    /// Only repositories, in a directory of dependencies.
    Nothing,
}

impl CountedEntries {
    /// Returns the entries that count in a subdirectory.
    fn below(self, directory: &ScannedDirectory, name: &OsStr) -> Self {
        match self {
            Self::Links => Self::Links,
            _ if is_dependency(name) => Self::Nothing,
            Self::Names if directory.is_bare => Self::NamesAndLinks,
            other => other,
        }
    }
}

/// The result of scanning one directory.
#[derive(Debug)]
struct ScannedDirectory {
    version: FileVersion,
    counted: CountedEntries,
    /// Names of files and directories that count.
    named: Vec<OsString>,
    /// Names of links that count. The files at their targets do not count.
    links: Vec<OsString>,
    /// True if the directory has a `.git`.
    is_repository: bool,
    /// True if git could treat the directory as a repository without a `.git`.
    is_bare: bool,
    is_cache: bool,
    /// True if the directory has too many entries.
    is_cut: bool,
    directories: Vec<OsString>,
}

impl ScannedDirectory {
    fn counts_links(&self) -> bool {
        match self.counted {
            CountedEntries::Links | CountedEntries::NamesAndLinks => true,
            CountedEntries::Names => self.is_bare,
            CountedEntries::Nothing => false,
        }
    }
}

/// The files that count, below all writable directories.
#[derive(Debug, Default)]
pub struct NameScan {
    directories: BTreeMap<PathBuf, Arc<ScannedDirectory>>,
    /// The files that count, and the directories that cannot be listed.
    files: BTreeMap<PathBuf, FileVersion>,
    /// The indexes of repositories. A changed one counts if it leads into a repository.
    indexes: BTreeMap<PathBuf, FileVersion>,
    /// The submodules of the indexes that were read because the scan is not whole.
    submodules: ListedSubmodules,
    /// True if the scan reached all directories.
    is_whole: bool,
    /// The directories that were not scanned whole, with the number of their subdirectories that
    /// were not reached. A directory with too many entries can have further ones.
    partial: BTreeMap<PathBuf, u64>,
}

impl NameScan {
    /// Scans the writable directories of a plan before a call. Directories that are the same as in
    /// `earlier` are not read again. The scan stops when `is_over` returns true.
    #[must_use]
    pub fn of(plan: &Plan, earlier: &Self, is_over: &dyn Fn() -> bool) -> Self {
        let mut now = earlier.scan(plan, is_over);
        // The scan after the call has more time, and names what it does not reach, unless the scan
        // after an earlier call has named it.
        if is_over() {
            now.partial.clone_from(&earlier.partial);
        }
        now
    }

    /// Scans the same directories after a call. The scan stops when `is_over` returns true.
    #[must_use]
    pub fn again(&self, plan: &Plan, is_over: &dyn Fn() -> bool) -> Self {
        self.scan(plan, is_over)
    }

    fn scan(&self, plan: &Plan, is_over: &dyn Fn() -> bool) -> Self {
        let mut walk = ScanWalk {
            before: self,
            now: Self::default(),
            git: VecDeque::new(),
            near: VecDeque::new(),
            far: VecDeque::new(),
            repositories: Repositories::of(plan),
        };
        for root in &plan.writable {
            if is_git_directory(root) {
                walk.repositories.add(root);
            }
            if root != Path::new("/tmp") {
                let is_in_git = root.iter().any(|name| name == ".git");
                walk.near.push_back(PendingDirectory {
                    path: root.clone(),
                    parent_device: None,
                    counted: if is_in_git {
                        CountedEntries::Links
                    } else {
                        CountedEntries::Names
                    },
                });
            }
        }
        let (mut in_git, mut others) = (MAX_GIT_DIRECTORIES, MAX_DIRECTORIES);
        while !is_over() {
            // On a slow file system, the time is used for names first.
            let next = take(&mut walk.near, &mut others)
                .or_else(|| take(&mut walk.git, &mut in_git))
                .or_else(|| take(&mut walk.far, &mut others));
            let Some(directory) = next else {
                break;
            };
            walk.visit(directory);
        }
        walk.now.partial = walk.partial();
        walk.now.is_whole = walk.now.partial.is_empty();
        let directories = &walk.now.directories;
        if !walk.now.is_whole {
            // A git at the top enters submodules, wherever they are.
            let is_scanned = |tree: &Path| directories.contains_key(tree);
            let repositories = &mut walk.repositories;
            walk.now.submodules = repositories.add_submodules(&self.submodules, is_scanned);
        }
        let ScanWalk {
            mut now,
            repositories,
            ..
        } = walk;
        now.files.extend(repositories.files());
        now.indexes = repositories.indexes();
        now
    }
}

/// Takes the next directory of a queue, up to a number of directories.
fn take(queue: &mut VecDeque<PendingDirectory>, remaining: &mut usize) -> Option<PendingDirectory> {
    let rest = remaining.checked_sub(1)?;
    let next = queue.pop_front()?;
    *remaining = rest;
    Some(next)
}

/// A directory to visit.
struct PendingDirectory {
    path: PathBuf,
    /// `None` for a writable directory of the plan.
    parent_device: Option<u64>,
    counted: CountedEntries,
}

/// The state of a scan.
struct ScanWalk<'a> {
    before: &'a NameScan,
    now: NameScan,
    /// Directories in `.git`, which are visited after those in `near`.
    git: VecDeque<PendingDirectory>,
    /// Other directories. Those in `far` are visited last.
    near: VecDeque<PendingDirectory>,
    far: VecDeque<PendingDirectory>,
    repositories: Repositories,
}

impl ScanWalk<'_> {
    /// Returns [`NameScan::partial`].
    fn partial(&self) -> BTreeMap<PathBuf, u64> {
        let cut = self.now.directories.iter().filter(|(_, it)| it.is_cut);
        let mut partial: BTreeMap<PathBuf, u64> = cut.map(|(path, _)| (path.clone(), 0)).collect();
        for directory in [&self.git, &self.near, &self.far].into_iter().flatten() {
            let parent = directory.path.parent();
            let parent = parent.filter(|_| directory.parent_device.is_some());
            let parent = parent.unwrap_or(&directory.path);
            // A call can create very many subdirectories, so no path is copied for each.
            if let Some(count) = partial.get_mut(parent) {
                *count += 1;
            } else {
                partial.insert(parent.to_owned(), 1);
            }
        }
        partial
    }

    fn visit(&mut self, pending: PendingDirectory) {
        let PendingDirectory {
            path,
            parent_device,
            counted,
        } = pending;
        if self.now.directories.contains_key(&path) {
            return;
        }
        let Some(version) = FileVersion::at(&path) else {
            return;
        };
        // A file system that is mounted there may not answer.
        let is_elsewhere = parent_device.is_some_and(|device| device != version.device);
        if is_elsewhere || version.kind != DIRECTORY_KIND {
            return;
        }
        let known = self.before.directories.get(&path);
        let known = known.filter(|known| (known.version, known.counted) == (version, counted));
        let scan = || scan_directory(&path, version, counted).map(Arc::new);
        let directory = match known.cloned().map_or_else(scan, Ok) {
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
        for name in &directory.links {
            add_files(&path.join(name), 0, &mut 1, &mut self.now.files);
        }
        let below = |name: &OsStr, counted| PendingDirectory {
            path: path.join(name),
            parent_device: Some(version.device),
            counted,
        };
        if directory.is_repository {
            let git = below(OsStr::new(".git"), CountedEntries::Links);
            self.git.push_back(git);
            // A `.git` file can name a directory that the scan does not enter, or not for links.
            let named = self.repositories.add_at(&path);
            let named = named.map(|it| below(it.as_os_str(), CountedEntries::Links));
            self.git.extend(named);
        }
        // The repositories in a `.git` are submodules and worktrees of its repository.
        if directory.is_bare && counted != CountedEntries::Links {
            self.repositories.add(&path);
        }
        for name in &directory.directories {
            let is_objects = directory.is_bare && name == "objects";
            let is_far = directory.is_cache || is_dependency(name) || is_objects;
            let entries = counted.below(&directory, name);
            let queue = match entries {
                CountedEntries::Links => &mut self.git,
                _ if is_far => &mut self.far,
                _ => &mut self.near,
            };
            queue.push_back(below(name, entries));
        }
        self.now.directories.insert(path, directory);
    }
}

fn is_dependency(name: &OsStr) -> bool {
    name.to_str()
        .is_some_and(|name| DEPENDENCY_DIRECTORIES.contains(&name))
}

/// True for the name of a directory with objects of git.
fn is_two_digits(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.len() == 2 && name.iter().all(u8::is_ascii_hexdigit)
}

/// Reads a directory.
fn scan_directory(
    path: &Path,
    version: FileVersion,
    counted: CountedEntries,
) -> io::Result<ScannedDirectory> {
    let has_names = !matches!(counted, CountedEntries::Links | CountedEntries::Nothing);
    let mut found = ScannedDirectory {
        version,
        counted,
        named: Vec::new(),
        links: Vec::new(),
        is_repository: false,
        is_bare: false,
        is_cache: false,
        is_cut: false,
        directories: Vec::new(),
    };
    let mut repository_files: BTreeSet<OsString> = BTreeSet::new();
    let mut links = Vec::new();
    let mut classify = |name: OsString, kind: FileType| {
        if kind.is_symlink() {
            links.push(name.clone());
        }
        let mut is_named = false;
        match &*name.to_string_lossy() {
            ".git" => {
                found.is_repository = true;
                return;
            }
            text if text.eq_ignore_ascii_case(".git") => found.is_repository = true,
            CACHE_TAG => found.is_cache = true,
            "HEAD" | "objects" | "refs" | "commondir" => {
                repository_files.insert(name.clone());
            }
            text => is_named = has_names && is_reported_entry(path, text, kind.is_dir()),
        }
        if is_named {
            found.named.push(name);
        } else if kind.is_dir() {
            found.directories.push(name);
        }
    };
    let mut entries = fs::read_dir(path)?.flatten();
    for entry in entries.by_ref().take(MAX_ENTRIES) {
        if let Ok(kind) = entry.file_type() {
            classify(entry.file_name(), kind);
        }
    }
    let is_cut = entries.next().is_some();
    if is_cut {
        let all = names::ALL_NAMES.iter().copied().flatten().copied();
        let all = all.chain(names::compared_names_in(path));
        for name in all.chain(GIT_NAMES.iter().copied()) {
            if let Ok(found) = path.join(name).symlink_metadata() {
                classify(name.into(), found.file_type());
            }
        }
    }
    found.is_cut = is_cut;
    found.is_bare = has_repository_files(|name| repository_files.contains(OsStr::new(name)));
    if found.counts_links() {
        found.links = links;
    }
    // These directories have the contents of objects, which git writes to new files only. A branch
    // can have the same name.
    let mut in_git = path.iter().rev().take_while(|name| *name != ".git");
    let has_objects = path.ends_with("objects") && !in_git.any(|name| name == "refs");
    if counted == CountedEntries::Links && has_objects {
        found.directories.retain(|name| !is_two_digits(name));
    }
    Ok(found)
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

/// Returns the files at the top of these directories that the sandbox protects, including those
/// that match a pattern, and the stored files of change sets. The host creates the latter during
/// calls, so only mounts protect them: they are not compared.
pub(super) fn protected_at(writable: &BTreeSet<PathBuf>, tier: Tier) -> Vec<PathBuf> {
    let entries = writable
        .iter()
        .flat_map(|directory| fs::read_dir(directory).into_iter().flatten());
    let protected = entries
        .flatten()
        .filter(|entry| is_protected_name(&entry.file_name().to_string_lossy()));
    let stored = stored_at(writable, tier).filter(|path| path.is_dir());
    protected.map(|entry| entry.path()).chain(stored).collect()
}

/// Returns the paths at which the host can store files of change sets, existing or not, if mounts
/// can protect them.
pub(super) fn stored_at<'a>(
    writable: impl IntoIterator<Item = &'a PathBuf>,
    tier: Tier,
) -> impl Iterator<Item = PathBuf> {
    let writable = writable.into_iter().filter(move |_| tier == Tier::Full);
    let directories = writable.flat_map(|directory| [directory.clone(), directory.join(".git")]);
    directories.map(|directory| directory.join(names::CHANGES_IN_TREE))
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
