//! Finds the files that git reads before it runs a program, in all repositories that calls may
//! write.

use super::super::git::{
    MAX_MODULE_DEPTH, STEP_FILES, WORKTREE_FILES, common_directory, git_dir_named_by, work_tree,
};
use super::super::git_index::{MAX_INDEX_BYTES, is_index_name, submodules};
use super::super::paths::{MAX_FILE_BYTES, canonical, entries, text};
use super::version::{DIRECTORY_KIND, FileVersion};
use agent_bash_core::sandbox::Plan;
use agent_bash_os::read_regular;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files with configuration, and the file that names the directory of configuration and hooks.
const READ_FILES: [&str; 6] = [
    "config", "config.worktree", "info/attributes", "commondir", "lazygit.yml",
    "glab-cli/config.yml",
];

/// The maximum number of repositories in the directories `modules` of others. The scan limits the
/// number of the other repositories.
const MAX_MODULES: usize = 200;

/// The maximum number of trees with submodules that the scan has not reached.
const MAX_TREES: usize = 2000;

/// The submodules that indexes list, with the version of each index.
pub(super) type ListedSubmodules = BTreeMap<PathBuf, (FileVersion, Arc<[PathBuf]>)>;

/// The repositories of a scan.
#[derive(Debug)]
pub(super) struct Repositories {
    /// The writable paths of the plan.
    writable: Vec<PathBuf>,
    /// Directories with a `.git`.
    trees: BTreeSet<PathBuf>,
    /// Git directories.
    directories: BTreeSet<PathBuf>,
    /// The number of git directories that were found in `modules`.
    modules: usize,
    /// Indexes and directories `modules` that were not read completely. A call could hide changes
    /// of repositories there, so they count.
    incomplete: BTreeSet<PathBuf>,
}

impl Repositories {
    pub(super) fn of(plan: &Plan) -> Self {
        Self {
            writable: plan.writable.clone(),
            trees: BTreeSet::new(),
            directories: BTreeSet::new(),
            modules: 0,
            incomplete: BTreeSet::new(),
        }
    }

    /// Adds a git directory, the git directories of its submodules, and its common directory.
    /// Linked worktrees have submodules of their own.
    pub(super) fn add(&mut self, directory: &Path) {
        self.add_with_modules(directory);
        if let Some(common) = common_directory(directory) {
            self.add_with_modules(&common);
        }
    }

    fn add_with_modules(&mut self, directory: &Path) {
        if !self.is_writable(directory) || !self.directories.insert(directory.to_owned()) {
            return;
        }
        self.add_modules(&directory.join("modules"), MAX_MODULE_DEPTH);
        for worktree in entries(&directory.join("worktrees")) {
            self.add_modules(&worktree.join("modules"), MAX_MODULE_DEPTH);
        }
    }

    /// Adds the repository of a directory with a `.git`. Returns its git directory, if that has
    /// another name, and calls can write it.
    pub(super) fn add_at(&mut self, tree: &Path) -> Option<PathBuf> {
        self.trees.insert(tree.to_owned());
        let directory = git_dir_at(tree)?;
        self.add(&directory);
        Some(directory).filter(|it| !it.ends_with(".git") && self.is_writable(it))
    }

    /// Adds the submodules that the indexes of the repositories list, except those that the scan
    /// has reached. `known` has the submodules of earlier versions of the indexes. Returns the
    /// submodules of all indexes.
    pub(super) fn add_submodules(
        &mut self,
        known: &ListedSubmodules,
        is_scanned: impl Fn(&Path) -> bool,
    ) -> ListedSubmodules {
        let mut listed = ListedSubmodules::new();
        let mut index_bytes = MAX_INDEX_BYTES;
        // A call can write large indexes, so those of the outermost repositories are read first.
        let mut first: Vec<PathBuf> = self.git_directories().collect();
        first.sort_by_key(|it| (it.components().count(), !it.ends_with(".git")));
        let mut queued: BTreeSet<PathBuf> = first.iter().cloned().collect();
        let mut pending = VecDeque::from(first);
        while let Some(git_dir) = pending.pop_front() {
            let Some(tree) = tree_of(&git_dir) else {
                continue;
            };
            for (index, version) in indexes_in(&git_dir) {
                let same = known.get(&index).filter(|(before, _)| *before == version);
                let found = match same {
                    Some((_, found)) => Some(Arc::clone(found)),
                    None => submodules(&index, &git_dir, &mut index_bytes).map(Arc::from),
                };
                let Some(found) = found else {
                    self.incomplete.insert(index);
                    continue;
                };
                for submodule in found.iter().map(|path| tree.join(path)) {
                    let is_absent = submodule.join(".git").symlink_metadata().is_err();
                    if is_absent || is_scanned(&submodule) || self.trees.contains(&submodule) {
                        continue;
                    }
                    if self.trees.len() >= MAX_TREES {
                        self.incomplete.insert(index.clone());
                        break;
                    }
                    self.add_at(&submodule);
                    let git_dir = git_dir_at(&submodule);
                    pending.extend(git_dir.filter(|it| queued.insert(it.clone())));
                }
                listed.insert(index, (version, found));
            }
        }
        listed
    }

    /// Returns the files that count.
    pub(super) fn files(&self) -> BTreeMap<PathBuf, FileVersion> {
        let mut files = BTreeMap::new();
        let mut add = |path: PathBuf| {
            if let Some(version) = FileVersion::at(&path) {
                files.insert(path, version);
            }
        };
        for directory in &self.directories {
            if is_worktree(directory) {
                add_worktree(directory, &mut add);
                continue;
            }
            for name in READ_FILES {
                add(directory.join(name));
            }
            for hook in entries(&directory.join("hooks")) {
                if hook
                    .extension()
                    .is_none_or(|extension| extension != "sample")
                {
                    add(hook);
                }
            }
            for worktree in entries(&directory.join("worktrees")) {
                add_worktree(&worktree, &mut add);
            }
            add_steps(directory, &mut add);
        }
        let is_valid_repository =
            |directory: &&PathBuf| !is_plain_worktree(directory) && is_git_directory(directory);
        for directory in self.directories.iter().filter(is_valid_repository) {
            if let Some(version) = FileVersion::at(&directory.join("HEAD")) {
                // A checkout writes this file, so only its validity is compared.
                let version = FileVersion {
                    inode: 0,
                    kind: 0,
                    ..version.without_time()
                };
                files.insert(directory.join("HEAD"), version);
            }
        }
        for tree in &self.trees {
            let git = tree.join(".git");
            let Some(version) = FileVersion::at(&git) else {
                continue;
            };
            let is_directory = version.kind == DIRECTORY_KIND;
            if is_directory {
                files.insert(git, version.without_time());
            } else if !is_linked(tree) {
                files.insert(git, version);
            }
        }
        for path in &self.incomplete {
            let version = FileVersion::at(path).map(|version| match version.kind {
                DIRECTORY_KIND => version.without_time(),
                _ => version,
            });
            files.extend(version.map(|version| (path.clone(), version)));
        }
        files
    }

    /// Returns all git directories, also those of linked worktrees.
    fn git_directories(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let worktrees = self.directories.iter().map(|it| it.join("worktrees"));
        let worktrees = worktrees.flat_map(|it| entries(&it));
        self.directories.iter().cloned().chain(worktrees)
    }

    /// Returns the indexes of all repositories and their worktrees.
    pub(super) fn indexes(&self) -> BTreeMap<PathBuf, FileVersion> {
        let directories = self.git_directories();
        directories.flat_map(|it| indexes_in(&it)).collect()
    }

    fn is_writable(&self, path: &Path) -> bool {
        self.writable
            .iter()
            .any(|writable| path.starts_with(writable))
    }

    fn add_modules(&mut self, directory: &Path, depth: usize) {
        for module in entries(directory) {
            if module.join("HEAD").exists() {
                if self.modules == MAX_MODULES {
                    self.incomplete.insert(directory.to_owned());
                    return;
                }
                self.modules += 1;
                self.add(&module);
            } else if depth > 0 && module.is_dir() && !module.is_symlink() {
                self.add_modules(&module, depth - 1);
            }
        }
    }
}

/// Returns the git directory of a directory with a `.git`.
fn git_dir_at(tree: &Path) -> Option<PathBuf> {
    let git = tree.join(".git");
    if git.is_file() {
        return git_dir_named_by(&git, tree);
    }
    fs::canonicalize(&git).ok().filter(|path| path.is_dir())
}

/// Returns the tree of a git directory, also of a linked worktree's and a submodule's.
fn tree_of(git_dir: &Path) -> Option<PathBuf> {
    if git_dir.ends_with(".git") {
        return git_dir.parent().map(Path::to_owned);
    }
    match text(&git_dir.join("gitdir")) {
        Some(link) => git_dir.join(link.trim()).parent().map(canonical),
        None => work_tree(git_dir),
    }
}

/// Returns the indexes in a git directory.
fn indexes_in(git_dir: &Path) -> Vec<(PathBuf, FileVersion)> {
    let files = fs::read_dir(git_dir).into_iter().flatten().flatten();
    let is_index = |file: &DirEntry| file.file_name().to_str().is_some_and(is_index_name);
    let indexes = files.filter(is_index).map(|file| file.path());
    let versions = indexes.filter_map(|path| FileVersion::at(&path).map(|it| (path, it)));
    versions.collect()
}

/// Adds the files of a linked worktree. A worktree as git creates it has no such files, because all
/// configuration is in its repository.
fn add_worktree(git_dir: &Path, add: &mut impl FnMut(PathBuf)) {
    if !is_plain_worktree(git_dir) {
        for name in WORKTREE_FILES {
            add(git_dir.join(name));
        }
    }
    add_steps(git_dir, add);
}

/// Adds the harmful ones of [`STEP_FILES`]. A file that is not regular, cannot be read, or is too
/// long counts as well.
fn add_steps(git_dir: &Path, add: &mut impl FnMut(PathBuf)) {
    for (name, is_harmful) in STEP_FILES {
        let path = git_dir.join(name);
        let is_harmless = read_regular(&path, MAX_FILE_BYTES + 1).is_some_and(|bytes| {
            let is_whole = bytes.len() as u64 <= MAX_FILE_BYTES;
            is_whole && !is_harmful(&String::from_utf8_lossy(&bytes))
        });
        if !is_harmless {
            add(path);
        }
    }
}

/// True for the git directory of a linked worktree as git creates it, without its own
/// configuration.
fn is_plain_worktree(git_dir: &Path) -> bool {
    let common = git_dir
        .parent()
        .filter(|parent| parent.ends_with("worktrees"));
    let common = common.and_then(Path::parent);
    let common_named = common_directory(git_dir);
    common.is_some_and(is_git_directory)
        && common_named.as_deref() == common
        && git_dir.join("config.worktree").symlink_metadata().is_err()
}

/// True if the `.git` of a tree is the file of a plain worktree.
fn is_linked(tree: &Path) -> bool {
    let git_dir = git_dir_named_by(&tree.join(".git"), tree);
    git_dir.is_some_and(|git_dir| is_plain_worktree(&git_dir))
}

/// True for the git directory of a linked worktree.
fn is_worktree(directory: &Path) -> bool {
    directory
        .parent()
        .is_some_and(|parent| parent.ends_with("worktrees"))
}

/// True if git treats the directory as a repository, because it has a valid `HEAD`, objects and
/// references.
pub(super) fn is_git_directory(directory: &Path) -> bool {
    let head = directory.join("HEAD");
    let is_valid = match fs::read_link(&head) {
        Ok(target) => target.starts_with("refs"),
        Err(_) => text(&head).is_some_and(|text| {
            let text = text.trim_end();
            let name = text.strip_prefix("ref:").map(str::trim_start);
            name.is_some_and(|name| name.starts_with("refs/"))
                || (text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
        }),
    };
    let common = common_directory(directory).unwrap_or_else(|| directory.to_owned());
    is_valid && common.join("objects").exists() && common.join("refs").exists()
}
