//! Finds the repository of a workspace, so that commits work, and the files in it that run programs
//! outside the sandbox.

use super::paths::canonical;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// How deep submodule repositories are searched: their names may contain slashes.
const MAX_MODULE_DEPTH: usize = 6;

/// Files of a git directory that are programs, or name programs.
const PROTECTED_FILES: [&str; 5] = [
    "hooks",
    "config",
    "config.worktree",
    "info/attributes",
    "commondir",
];

/// Files of a linked worktree's directory that name configuration and hooks.
const WORKTREE_FILES: [&str; 3] = ["config.worktree", "commondir", "gitdir"];

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
            // A change of this file moves the hooks.
            git.protected.insert(link.clone());
            if let Some(OutsideRepository {
                git_dir: own,
                common,
            }) = OutsideRepository::of(workspace, &link)
            {
                git.protect(&common);
                git.protected
                    .extend(WORKTREE_FILES.map(|name| own.join(name)));
                git.writable.extend([own, common]);
            } else if let Some(own) = named_by(&link, workspace) {
                git.protect(&own);
            }
        } else {
            git.protect(&link);
        }
        git
    }

    /// Returns the protected paths of linked worktrees whose trees are not `writable`. In a
    /// writable tree, `.git` can name any directory, so protection gains nothing, and removing the
    /// worktree removes the rest.
    pub(super) fn of_worktrees(
        &self,
        is_writable: impl Fn(&Path) -> bool,
    ) -> impl Iterator<Item = &PathBuf> {
        let elsewhere = move |(tree, _): &&(PathBuf, _)| !is_writable(tree);
        self.worktrees
            .iter()
            .filter(elsewhere)
            .flat_map(|(_, paths)| paths)
    }

    fn protect(&mut self, directory: &Path) {
        let directory = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        self.protected
            .extend(PROTECTED_FILES.map(|name| directory.join(name)));
        if let Ok(common) = fs::read_to_string(directory.join("commondir"))
            && let Some(common) = referred(&directory, &common)
        {
            let names = PROTECTED_FILES.map(|name| common.join(name));
            self.protected.extend(names);
        }
        for worktree in entries(&directory.join("worktrees")) {
            let tree = fs::read_to_string(worktree.join("gitdir")).unwrap_or_default();
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

/// A repository outside its workspace.
struct OutsideRepository {
    /// The git directory of this workspace.
    git_dir: PathBuf,
    /// The common directory of all worktrees; equal to the former without worktrees.
    common: PathBuf,
}

impl OutsideRepository {
    /// Only a directory that refers back to the workspace counts, since the file can name any
    /// directory.
    fn of(workspace: &Path, link: &Path) -> Option<Self> {
        let own = named_by(link, workspace)?;
        if let Ok(common) = fs::read_to_string(own.join("commondir")) {
            let back = fs::read_to_string(own.join("gitdir")).ok()?;
            let common = referred(&own, &common)?;
            let refers_back = fs::canonicalize(own.join(back.trim())).ok()? == link;
            let is_worktree = own.parent()? == common.join("worktrees");
            return (refers_back && is_worktree).then_some(Self {
                git_dir: own,
                common,
            });
        }
        // The repository of a submodule is inside that of a parent directory.
        let above = workspace.ancestors().skip(1);
        let mut modules = above.map(|directory| directory.join(".git/modules"));
        let is_module = modules.any(|modules| own.starts_with(&modules) && own != modules);
        let refers_back = work_tree(&own).is_some_and(|tree| tree == workspace);
        (is_module && refers_back && own.join("HEAD").is_file()).then(|| Self {
            common: own.clone(),
            git_dir: own,
        })
    }
}

/// Returns the git directory that the `.git` file of a tree names.
fn named_by(link: &Path, tree: &Path) -> Option<PathBuf> {
    referred(
        tree,
        fs::read_to_string(link).ok()?.strip_prefix("gitdir:")?,
    )
}

/// Returns the work tree that the configuration of a submodule's repository names.
fn work_tree(own: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(own.join("config")).ok()?;
    let value = text.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        let is_it = name.trim().eq_ignore_ascii_case("worktree");
        is_it.then(|| value.trim().trim_matches('"').to_owned())
    });
    referred(own, &value?)
}

/// Returns the existing directory that a git file names.
fn referred(from: &Path, text: &str) -> Option<PathBuf> {
    let path = from.join(text.trim());
    fs::canonicalize(path).ok().filter(|path| path.is_dir())
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    entries.flatten().map(|entry| entry.path()).collect()
}
