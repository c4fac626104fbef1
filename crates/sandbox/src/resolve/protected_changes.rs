//! Finds the changed files of a workspace that run or configure programs outside of the sandbox.

use super::git::{PROTECTED_FILES, RepositoryPaths, STEP_FILES, has_repository_files};
use super::git_index::{MAX_INDEX_BYTES, is_index_name, leads_into_repository};
use super::names::{self, is_reported_path};
use super::paths::{canonical, in_home, text};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// A changed file of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedPath {
    /// The file's present or former path, relative to the workspace.
    pub path: PathBuf,
    /// True if paths below this one are no longer valid, because it was removed, or is no longer a
    /// directory.
    pub breaks_paths: bool,
    /// True if a symbolic link is there now. In a `.git`, programs outside write through links.
    pub is_link: bool,
}

/// Returns the protected paths below `root` that contain a changed file, in the state after the
/// change. The changed files are below `contents`: `root`, or the directory of a trial.
///
/// `further` contains additional protected paths, in the format of the setting `protected`. `home`
/// replaces their `~`.
pub fn protected_among(
    root: &Path,
    contents: &Path,
    home: Option<&Path>,
    further: &[PathBuf],
    changed: &[ChangedPath],
) -> Vec<PathBuf> {
    let root = canonical(root);
    let mut protected: BTreeSet<PathBuf> = names::PROTECTED_NAMES
        .iter()
        .map(|name| root.join(name))
        .collect();
    protected.extend(RepositoryPaths::of(&root).protected);
    let further = further.iter().map(|path| canonical(&in_home(path, home)));
    protected.extend(further);
    let is_changed = |protected: &PathBuf| {
        let below = protected.strip_prefix(&root);
        below.is_ok_and(|below| changed.iter().any(|file| file.affects(below)))
    };
    let mut found: BTreeSet<PathBuf> = protected.into_iter().filter(is_changed).collect();
    let named = changed
        .iter()
        .filter_map(|file| protected_ancestor(file).map(Path::to_owned));
    let mut index_bytes = MAX_INDEX_BYTES;
    let mut leads = |path: &Path| {
        let git_dir = root.join(path.parent().unwrap_or(path));
        leads_into_repository(&contents.join(path), &git_dir, &mut index_bytes)
    };
    let paths = changed.iter().map(|file| &file.path);
    let by_content = paths.filter(|path| {
        is_index(path) && leads(path) || names_other_repository(&root, contents, path)
    });
    let repositories = Repositories {
        root: &root,
        changed: changed.iter().map(|file| file.path.as_path()).collect(),
    };
    let named = named.chain(by_content.cloned());
    let named = named.chain(repositories.links(changed));
    for below in named.chain(repositories.heads()) {
        let path = root.join(below);
        if !found.iter().any(|outer| path.starts_with(outer)) {
            found.insert(path);
        }
    }
    found.into_iter().collect()
}

/// True if the path in a git directory is one of [`PROTECTED_FILES`] or [`STEP_FILES`], there, in a
/// linked worktree or in a submodule.
fn is_git_file(inner: &Path) -> bool {
    let mut parts = inner.iter();
    let is_in_worktree = parts.next().is_some_and(|name| name == "worktrees");
    let is_in_worktree = is_in_worktree && parts.next().is_some();
    let inner = if is_in_worktree {
        parts.as_path()
    } else {
        inner
    };
    // git creates this file with each linked worktree: the caller examines its contents.
    if is_in_worktree && inner == Path::new("commondir") {
        return false;
    }
    let may_be_in_module = inner.starts_with("modules") && !inner.iter().any(is_data);
    let steps = STEP_FILES.iter().map(|(name, _)| name);
    let mut files = PROTECTED_FILES.iter().chain(steps);
    files.any(|name| inner == Path::new(name) || may_be_in_module && inner.ends_with(name))
}

/// True for a directory in which git stores objects, references and logs. Branches can have any
/// name.
fn is_data(name: &OsStr) -> bool {
    ["objects", "refs", "logs"].iter().any(|data| name == *data)
}

/// True if the path is in a `.git`, and not in one of the directories of [`is_data`].
fn is_in_git(path: &Path) -> bool {
    let mut around = path.iter().rev().skip(1);
    let found = around.find(|name| *name == ".git" || is_data(name));
    found.is_some_and(|name| name == ".git")
}

/// True if the path may be an index of git that exists.
fn is_index(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str);
    name.is_some_and(is_index_name) && is_in_git(path)
}

/// True if the file of a linked worktree names another repository than the one around it.
fn names_other_repository(root: &Path, contents: &Path, path: &Path) -> bool {
    let Some(git_dir) = path.parent().filter(|_| path.ends_with("commondir")) else {
        return false;
    };
    let worktrees = git_dir.parent().filter(|it| it.ends_with("worktrees"));
    let common = worktrees.and_then(Path::parent).filter(|_| is_in_git(path));
    let is_other = |(common, named): (&Path, String)| {
        let named = named.trim();
        let path = root.join(git_dir).join(named);
        named != "../.." && canonical(&path) != canonical(&root.join(common))
    };
    common.zip(text(&contents.join(path))).is_some_and(is_other)
}

/// The changed paths of a workspace, with which directories become repositories for git.
struct Repositories<'a> {
    root: &'a Path,
    changed: BTreeSet<&'a Path>,
}

impl<'a> Repositories<'a> {
    fn is_changed(&self, path: &Path) -> bool {
        let first = self.changed.range(path..).next();
        first.is_some_and(|changed| changed.starts_with(path))
    }

    /// True if the path existed before the change. The changed files may already be below `root`;
    /// then a directory existed before if it has an entry that did not change.
    fn existed(&self, path: &Path) -> bool {
        let now = self.root.join(path);
        if !self.is_changed(path) {
            return now.exists();
        }
        if self.changed.contains(path) {
            return false;
        }
        let entries = fs::read_dir(now).into_iter().flatten().flatten();
        let mut names = entries.map(|entry| entry.file_name());
        names.any(|name| !self.is_changed(&path.join(name)))
    }

    fn was_repository(&self, directory: &Path) -> bool {
        has_repository_files(|name| self.existed(&directory.join(name)))
    }

    /// True if the directory is a repository for git now, or was one.
    fn is_repository(&self, directory: &Path) -> bool {
        has_repository_files(|name| {
            let path = directory.join(name);
            self.is_changed(&path) || self.root.join(path).exists()
        })
    }

    /// Returns the `HEAD` of each directory outside of a `.git` that becomes a repository for git,
    /// or is one and gets another configuration.
    fn heads(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let is_part = |name: &OsStr| {
            let parts = ["HEAD", "commondir", "config", "objects", "refs"];
            parts.iter().any(|part| name == *part)
        };
        let outside = self.changed.iter().filter(|path| !has_git(path));
        let directories: BTreeSet<&Path> = outside
            .flat_map(|path| path.ancestors())
            .filter(|path| path.file_name().is_some_and(is_part))
            .filter_map(Path::parent)
            .collect();
        let is_reported = |directory: &&Path| {
            let mut settings = ["HEAD", "commondir", "config"].iter();
            self.is_repository(directory)
                && (!self.was_repository(directory)
                    || settings.any(|name| self.is_changed(&directory.join(name))))
        };
        let repositories = directories.into_iter().filter(is_reported);
        repositories.map(|path| path.join("HEAD"))
    }

    /// Returns the links in directories outside of a `.git` that are repositories for git. A git
    /// outside would write where a link leads.
    fn links(&self, changed: &'a [ChangedPath]) -> Vec<PathBuf> {
        let links = changed.iter().filter(|file| file.is_link);
        let links = links.map(|file| file.path.as_path());
        let mut links: Vec<&Path> = links.filter(|it| !has_git(it) && !is_foreign(it)).collect();
        let around = |link: &'a Path| link.ancestors().skip(1);
        let directories: BTreeSet<&Path> = links.iter().copied().flat_map(around).collect();
        let repositories = directories.into_iter().filter(|it| self.is_repository(it));
        let repositories: BTreeSet<&Path> = repositories.collect();
        links.retain(|link| around(link).any(|it| repositories.contains(it)));
        links.into_iter().map(Path::to_owned).collect()
    }
}

fn has_git(path: &Path) -> bool {
    path.iter().any(|name| name == ".git")
}

/// True in a directory of other projects. Of the names in it, only repositories count.
fn is_foreign(path: &Path) -> bool {
    path.iter().any(|name| name == "node_modules")
}

/// Returns the protected file or directory, by name and at any depth, that contains or is the
/// changed path.
fn protected_ancestor(file: &ChangedPath) -> Option<&Path> {
    let changed = file.path.as_path();
    let mut prefixes: Vec<&Path> = changed.ancestors().collect();
    prefixes.reverse();
    let is_foreign = is_foreign(changed);
    let is_protected = |path: &&Path| {
        let git = path.ancestors().find(|ancestor| ancestor.ends_with(".git"));
        match git.and_then(|git| path.strip_prefix(git).ok()) {
            // The caller compares the `.git` of the root.
            Some(inner) if inner.as_os_str().is_empty() => {
                *path == changed && changed != Path::new(".git")
            }
            Some(inner) => is_git_file(inner) || file.is_link && *path == changed,
            None => !is_foreign && is_reported_path(path, *path != changed),
        }
    };
    prefixes.into_iter().find(is_protected)
}

impl ChangedPath {
    fn affects(&self, protected: &Path) -> bool {
        self.path.starts_with(protected) || self.breaks_paths && protected.starts_with(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::git_index::tests::index;

    fn named(changed: &[(&str, bool)], further: &[&str]) -> Vec<String> {
        let temp = tempfile::tempdir().unwrap();
        let changed: Vec<ChangedPath> = changed
            .iter()
            .map(|(path, breaks_paths)| ChangedPath {
                path: path.into(),
                breaks_paths: *breaks_paths,
                is_link: path.ends_with("-link"),
            })
            .collect();
        let further: Vec<PathBuf> = further.iter().map(PathBuf::from).collect();
        let home = Some(temp.path());
        let found = protected_among(temp.path(), temp.path(), home, &further, &changed);
        let root = canonical(temp.path());
        let below = |path: &PathBuf| path.strip_prefix(&root).unwrap().display().to_string();
        found.iter().map(below).collect()
    }

    #[test]
    fn protected_among_returns_the_protected_path_of_a_changed_file() {
        let changed = [
            (".vscode/tasks.json", true),
            (".vscode/settings.json", true),
            ("src/main.rs", true),
            (".envrc", true),
            (".git/hooks/post-commit", true),
            (".git/lazygit.yml", true),
            (".git/index", true),
            (".git/refs/heads/config", true),
            (".git/rebase-merge/git-rebase-todo", true),
            (".git/sequencer/opts", true),
            (".git/logs/HEAD-link", true),
            (".git/logs/HEAD", true),
            ("src/HEAD-link", true),
            (".git/modules/a/b/config", true),
            (".git/worktrees/side/commondir", true),
            (".git/worktrees/side/config.worktree", true),
            (".git/worktrees/side/modules/a/config", true),
            (".git/worktrees/side/rebase-merge/strategy", true),
            (".git/worktrees/side/refs/heads/config", true),
            (".git/modules/a/b/refs/heads/config", true),
            ("bare/HEAD", true),
            ("bare/objects", true),
            ("bare/refs/heads/main", true),
            ("bare/refs/heads/a-link", true),
            ("bare/node_modules/b-link", true),
            ("bar/refs/heads/c-link", true),
            ("src/config", true),
            ("src/objects", true),
            ("pkg/.vscode/tasks.json", true),
            ("lib/.git/config", true),
            ("lib/.git/objects/a", true),
            ("AGENTS.md", true),
            ("node_modules/a/.vscode/x", true),
            ("node_modules/a/.git/config", true),
            ("lib/.jj/repo/store/type", true),
            ("sub/.jj/repo", true),
        ];
        let want = [
            ".envrc",
            ".git/hooks",
            ".git/lazygit.yml",
            ".git/logs/HEAD-link",
            ".git/modules/a/b/config",
            ".git/rebase-merge/git-rebase-todo",
            ".git/sequencer/opts",
            ".git/worktrees/side/config.worktree",
            ".git/worktrees/side/modules/a/config",
            ".git/worktrees/side/rebase-merge/strategy",
            ".vscode",
            "AGENTS.md",
            "bare/HEAD",
            "bare/refs/heads/a-link",
            "lib/.git/config",
            "node_modules/a/.git/config",
            "pkg/.vscode",
            "sub/.jj/repo",
        ];
        assert_eq!(named(&changed, &[]), want);
    }

    fn written(contents: &Path, name: &str, bytes: &[u8]) -> ChangedPath {
        let path = contents.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        ChangedPath {
            path: name.into(),
            breaks_paths: true,
            is_link: false,
        }
    }

    /// A trial has the contents elsewhere.
    #[test]
    fn protected_among_returns_an_index_with_a_path_in_a_repository() {
        let temp = tempfile::tempdir().unwrap();
        let root = canonical(temp.path()).join("root");
        for contents in [&root, &temp.path().join("held")] {
            for (path, in_repository) in [("a", false), (".git/x", true)] {
                let names = [".git/index", "lib/.git/index"];
                // The branch `index` is no index.
                let others = [".git/refs/heads/index", "src/index"];
                let all = names.into_iter().chain(others);
                let mut changed: Vec<ChangedPath> = all
                    .map(|name| written(contents, name, &index(2, 20, &[path])))
                    .collect();
                changed.push(ChangedPath {
                    path: ".git/sharedindex.gone".into(),
                    ..changed[0].clone()
                });
                let want = names.iter().filter(|_| in_repository);
                let want: Vec<PathBuf> = want.map(|name| root.join(name)).collect();
                let found = protected_among(&root, contents, None, &[], &changed);
                assert_eq!(found, want, "{path}");
            }
        }
    }

    #[test]
    fn protected_among_returns_a_repository_that_two_calls_create_together() {
        let temp = tempfile::tempdir().unwrap();
        let root = canonical(temp.path());
        for name in [
            "x/HEAD", "x/config", "bare/HEAD", "bare/objects/a", "bare/refs/a",
        ] {
            written(&root, name, b"");
        }
        let changed = ["x/objects/a", "x/refs/a", "bare/objects/b", "bare/refs/b"]
            .map(|name| written(&root, name, b""));
        let found = protected_among(&root, &root, None, &[], &changed);
        assert_eq!(found, [root.join("x/HEAD")]);
    }

    #[test]
    fn protected_among_returns_a_worktree_of_another_repository() {
        let temp = tempfile::tempdir().unwrap();
        let root = canonical(temp.path());
        let own = root.join(".git").display().to_string();
        for (named, is_found) in [
            ("../..\n", false),
            (&*own, false),
            ("../../../other\n", true),
            ("/other", true),
        ] {
            let name = ".git/worktrees/side/commondir";
            let changed = [
                written(&root, name, named.as_bytes()),
                written(&root, ".git/refs/heads/worktrees/a/commondir", b"/other"),
            ];
            let want = [root.join(name)];
            let want = if is_found { &want[..] } else { &[] };
            let found = protected_among(&root, &root, None, &[], &changed);
            assert_eq!(found, want, "{named}");
        }
    }

    #[test]
    fn protected_among_includes_paths_below_a_replaced_directory() {
        assert!(named(&[(".git", false)], &[]).is_empty());
        let replaced = named(&[(".git", true)], &[]);
        assert!(replaced.contains(&".git/hooks".to_owned()), "{replaced:?}");
    }

    #[test]
    fn protected_among_includes_paths_of_the_settings() {
        let changed = [("Makefile", true), ("a/b", true)];
        assert_eq!(named(&changed, &["~/Makefile"]), ["Makefile"]);
    }
}
