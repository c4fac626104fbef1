//! Finds the repository of a workspace, so that commits work, and the files in it that run programs
//! outside the sandbox.

use super::paths::{canonical, entries, text};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum depth at which submodule repositories are searched: their names may contain slashes.
pub(super) const MAX_MODULE_DEPTH: usize = 6;

/// Files of a git directory that are programs, or name programs. The files of the directories
/// `remotes` and `branches`, of old versions, are remotes. The last two are settings of lazygit and
/// glab.
pub(super) const PROTECTED_FILES: [&str; 9] = [
    "hooks", "config", "config.worktree", "info/attributes", "commondir", "remotes", "branches",
    "lazygit.yml", "glab-cli",
];

/// Returns true if git would run a program that is not its own, or replace a file outside of the
/// tree, for the text of a file.
type IsHarmful = fn(&str) -> bool;

/// The files by which a stopped rebase, cherry-pick or `git am` can do so.
pub(super) const STEP_FILES: [(&str, IsHarmful); 4] = [
    ("rebase-merge/git-rebase-todo", has_commands),
    ("rebase-merge/strategy", names_program),
    ("sequencer/opts", sets_strategy),
    ("rebase-apply/apply-opt", names_index),
];

/// The merge strategies of git. For another one, git runs the program `git-merge-NAME`.
const MERGE_STRATEGIES: [&str; 6] = ["ort", "recursive", "resolve", "octopus", "ours", "subtree"];

/// Files of a linked worktree's directory that name configuration and hooks.
pub(super) const WORKTREE_FILES: [&str; 3] = ["config.worktree", "commondir", "gitdir"];

/// The paths of the repository in the sandbox of a workspace.
#[derive(Debug, Default)]
pub(super) struct RepositoryPaths {
    /// Directories outside the workspace that commits write to.
    pub(super) writable: BTreeSet<PathBuf>,
    /// Protected paths, existing or not.
    pub(super) protected: BTreeSet<PathBuf>,
    /// Trees of linked worktrees, and the protected paths of each.
    worktrees: Vec<(PathBuf, [PathBuf; 3])>,
}

impl RepositoryPaths {
    pub(super) fn of(workspace: &Path) -> Self {
        let mut git = Self::default();
        let link = workspace.join(".git");
        if link.is_symlink() {
            git.protected.insert(link.clone());
        }
        if link.is_file() {
            // A change of this file would select other hooks.
            git.protected.insert(link.clone());
            if let Some(OutsideRepository { git_dir, common }) =
                OutsideRepository::of(workspace, &link)
            {
                git.protect(&common);
                // A linked worktree has submodules of its own.
                git.modules(&git_dir.join("modules"), MAX_MODULE_DEPTH);
                git.protected
                    .extend(WORKTREE_FILES.map(|name| git_dir.join(name)));
                git.writable.extend([git_dir, common]);
            } else if let Some(git_dir) = git_dir_named_by(&link, workspace) {
                git.protect(&git_dir);
            }
        } else {
            git.protect(&link);
        }
        git
    }

    /// Returns the protected paths of linked worktrees whose trees are not `writable`. In a
    /// writable tree, `.git` can name any directory, so protection gains nothing. Removing the
    /// worktree removes these paths.
    pub(super) fn worktree_paths(
        &self,
        is_writable: impl Fn(&Path) -> bool,
    ) -> impl Iterator<Item = &PathBuf> {
        let is_elsewhere = move |(tree, _): &&(PathBuf, _)| !is_writable(tree);
        self.worktrees
            .iter()
            .filter(is_elsewhere)
            .flat_map(|(_, paths)| paths)
    }

    fn protect(&mut self, directory: &Path) {
        let directory = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        self.protected
            .extend(PROTECTED_FILES.map(|name| directory.join(name)));
        if let Some(common) = common_directory(&directory) {
            let names = PROTECTED_FILES.map(|name| common.join(name));
            self.protected.extend(names);
        }
        for worktree in entries(&directory.join("worktrees")) {
            let tree = text(&worktree.join("gitdir")).unwrap_or_default();
            let tree = canonical(Path::new(tree.trim()).parent().unwrap_or(Path::new("")));
            let paths = WORKTREE_FILES.map(|name| worktree.join(name));
            self.worktrees.push((tree, paths));
        }
        self.modules(&directory.join("modules"), MAX_MODULE_DEPTH);
    }

    fn modules(&mut self, directory: &Path, depth: usize) {
        for module in entries(directory) {
            if module.join("HEAD").exists() {
                self.protect(&module);
            } else if depth > 0 && module.is_dir() {
                self.modules(&module, depth - 1);
            }
        }
    }
}

/// Returns the `config` of a workspace's repository, if that is a regular file; `None` if the path
/// of the file leads through a link.
pub fn repository_config(workspace: &Path) -> Option<PathBuf> {
    let link = workspace.join(".git");
    let git_dir = match fs::symlink_metadata(&link).ok()?.file_type() {
        kind if kind.is_dir() && !link.join("commondir").exists() => link,
        kind if kind.is_file() => OutsideRepository::of(workspace, &link)?.common,
        _ => return None,
    };
    let config = git_dir.join("config");
    let is_file = fs::symlink_metadata(&config).is_ok_and(|found| found.is_file());
    is_file.then_some(config)
}

/// A repository outside its workspace.
struct OutsideRepository {
    /// The git directory of this workspace.
    git_dir: PathBuf,
    /// The common directory of all worktrees; equal to `git_dir` without worktrees.
    common: PathBuf,
}

impl OutsideRepository {
    /// Returns the repository that the file `link` names. The file can name any directory, so only
    /// a directory that refers back to the workspace counts.
    fn of(workspace: &Path, link: &Path) -> Option<Self> {
        let git_dir = git_dir_named_by(link, workspace)?;
        if let Some(common) = text(&git_dir.join("commondir")) {
            let back = text(&git_dir.join("gitdir"))?;
            let common = referenced_directory(&git_dir, &common)?;
            let refers_back = fs::canonicalize(git_dir.join(back.trim())).ok()? == link;
            let is_worktree = git_dir.parent()? == common.join("worktrees");
            // A call of a workspace called `worktrees` could name the directory around it.
            let is_repository = ["HEAD", "objects", "refs"].map(|name| common.join(name));
            let is_repository = is_repository.iter().all(|path| path.exists());
            let is_own = refers_back && is_worktree && is_repository;
            return is_own.then_some(Self { git_dir, common });
        }
        // The repository of a submodule is inside the repository of a parent directory.
        let above = workspace.ancestors().skip(1);
        let mut modules = above.map(|directory| directory.join(".git/modules"));
        let is_module = modules.any(|modules| git_dir.starts_with(&modules) && git_dir != modules);
        let refers_back = work_tree(&git_dir).is_some_and(|tree| tree == workspace);
        (is_module && refers_back && git_dir.join("HEAD").is_file()).then(|| Self {
            common: git_dir.clone(),
            git_dir,
        })
    }
}

/// Returns the git directory that the `.git` file of a tree names.
pub(super) fn git_dir_named_by(link: &Path, tree: &Path) -> Option<PathBuf> {
    referenced_directory(tree, text(link)?.strip_prefix("gitdir:")?)
}

/// Returns the work tree that the configuration of a submodule's repository names.
pub(super) fn work_tree(git_dir: &Path) -> Option<PathBuf> {
    let config = text(&git_dir.join("config"))?;
    let value = config.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        let is_worktree_setting = name.trim().eq_ignore_ascii_case("worktree");
        is_worktree_setting.then(|| value.trim().trim_matches('"').to_owned())
    });
    referenced_directory(git_dir, &value?)
}

/// True if git treats a directory with these entries as a repository.
pub(super) fn has_repository_files(has: impl Fn(&str) -> bool) -> bool {
    has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
}

/// Returns the common directory that a git directory names.
pub(super) fn common_directory(git_dir: &Path) -> Option<PathBuf> {
    referenced_directory(git_dir, &text(&git_dir.join("commondir"))?)
}

/// Returns the existing directory that a git file names.
fn referenced_directory(from: &Path, reference: &str) -> Option<PathBuf> {
    let path = from.join(reference.trim());
    fs::canonicalize(path).ok().filter(|path| path.is_dir())
}

/// True if one of the steps of a rebase runs a program.
fn has_commands(steps: &str) -> bool {
    let runs = |line: &str| matches!(line.split_whitespace().next(), Some("exec" | "x"));
    steps.lines().any(runs)
}

/// True if this is the name of a merge strategy that git does not have.
fn names_program(strategy: &str) -> bool {
    !MERGE_STRATEGIES.contains(&strategy.strip_suffix('\n').unwrap_or(strategy))
}

/// True if the options of a cherry-pick, in git's configuration format, can have the key
/// `strategy`.
fn sets_strategy(options: &str) -> bool {
    let options = options.to_ascii_lowercase();
    let mut after = options.split("strategy").skip(1);
    after.any(|rest| !rest.starts_with("-option"))
}

/// True if the options for applying patches name the file of an index, which git then replaces:
/// `--build-fake-ancestor`. Git accepts the beginning of an option's name.
fn names_index(options: &str) -> bool {
    options.contains("--bu")
}
