//! The directory in which the user's shell configuration is read for a call: the call's project.
//! Tools with settings per directory (version managers, direnv) read that directory and files in
//! it.

mod named_files;

use agent_bash_core::{Timestamp, lock, words};
use std::collections::HashMap;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Files by which tools choose versions and variables. If such a file changes, the configuration is
/// read again.
const WATCHED_FILES: &[&str] = words![
    ".envrc .env .mise.toml .mise.local.toml mise.toml mise.local.toml .mise/config.toml",
    "mise/config.toml .config/mise.toml .config/mise/config.toml .config/mise/conf.d",
    ".tool-versions .nvmrc .node-version .python-version .ruby-version .java-version .go-version",
    ".terraform-version .sdkmanrc .bin/hermit.hcl",
];

/// Directories that mark the root of a project.
const ROOT_MARKERS: &[&str] = &[".git", ".hg", ".jj", ".svn"];

/// Files and directories below the home directory that change the behaviour of the tools of
/// [`WATCHED_FILES`]: defaults for all projects, and the projects that the user trusts.
const HOME_FILES: &[&str] = words![
    ".bash_aliases .tool-versions .config/mise/config.toml .config/mise/conf.d",
    ".config/direnv/direnvrc .local/share/direnv/allow .local/share/direnv/deny",
    ".local/share/mise/installs .local/state/mise/trusted-configs .nvm/alias/default",
    ".pyenv/version .rbenv/version .goenv/version",
];

/// Maximum number of cached directories, and of cached files. A full cache is emptied.
const MAX_CACHED: usize = 1024;

/// The minimum age of a directory's last change before its names are cached. A file system may
/// record two changes within its time resolution with the same time; that of FAT is two seconds.
const MIN_AGE: Duration = Duration::from_secs(3);

/// The parts of a project that a configuration depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Project {
    pub(super) directory: PathBuf,
    /// The watched files that exist, and the files that they name.
    files: Vec<FileIdentity>,
}

/// Metadata that changes whenever a file is edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct FileIdentity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

/// Finds projects. Caches which watched names a directory has until the directory changes.
#[derive(Debug, Default)]
pub(super) struct ProjectFinder {
    directories: Mutex<HashMap<PathBuf, DirectoryNames>>,
    named_files: Mutex<HashMap<PathBuf, NamedFiles>>,
}

/// The names of [`WATCHED_FILES`] and [`ROOT_MARKERS`] that may exist in a directory.
#[derive(Debug, Clone)]
struct DirectoryNames {
    /// The directory's device and inode, and the time of its last change.
    identity: (u64, u64, i64, i64),
    watched: Vec<&'static str>,
    markers: Vec<&'static str>,
}

/// The files that a watched file names.
#[derive(Debug, Clone)]
struct NamedFiles {
    identity: FileIdentity,
    paths: Arc<[PathBuf]>,
}

impl ProjectFinder {
    /// Returns the project of a directory: the nearest directory at or above it with a watched file
    /// or a root marker, else the directory itself. A relative path is treated as `/`. `now` is the
    /// wall-clock time.
    pub(super) fn project(&self, cwd: &Path, home: Option<&Path>, now: Timestamp) -> Project {
        if !cwd.is_absolute() {
            return self.project(Path::new("/"), home, now);
        }
        let mut directory = None;
        let mut files = Vec::new();
        for ancestor in cwd.ancestors() {
            let names = self.names(ancestor, now);
            let before = files.len();
            for name in names.watched {
                let path = ancestor.join(name);
                if let Some(found) = identity(&path) {
                    files.push(found);
                    let named_files = self.named_files(path, found);
                    files.extend(named_files.iter().filter_map(|path| regular_identity(path)));
                }
            }
            let mut markers = names.markers.iter();
            let mut is_root = || markers.any(|name| ancestor.join(name).exists());
            if directory.is_none() && (files.len() > before || is_root()) {
                directory = Some(ancestor);
            }
        }
        let home = home.into_iter();
        let of_home = home.flat_map(|home| HOME_FILES.iter().map(|name| home.join(name)));
        files.extend(of_home.filter_map(|path| identity(&path)));
        Project {
            directory: directory.unwrap_or(cwd).to_owned(),
            files,
        }
    }

    /// Returns the names that may exist in a directory.
    fn names(&self, directory: &Path, now: Timestamp) -> DirectoryNames {
        let Ok(metadata) = std::fs::metadata(directory) else {
            return DirectoryNames::of(directory, (0, 0, 0, 0));
        };
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        let identity = (metadata.dev(), metadata.ino(), changed.0, changed.1);
        let cached = || lock(&self.directories);
        if let Some(names) = cached().get(directory)
            && names.identity == identity
        {
            return names.clone();
        }
        let names = DirectoryNames::of(directory, identity);
        let changed = Duration::from_secs(u64::try_from(changed.0).unwrap_or(u64::MAX));
        let age = Duration::from_millis(now.0).checked_sub(changed);
        if age.is_some_and(|age| age >= MIN_AGE) {
            insert(&mut cached(), directory.to_owned(), names.clone());
        }
        names
    }

    /// Returns the files that a watched file names, whether or not they exist.
    fn named_files(&self, file: PathBuf, identity: FileIdentity) -> Arc<[PathBuf]> {
        let cached = || lock(&self.named_files);
        if let Some(named) = cached().get(&file)
            && named.identity == identity
        {
            return Arc::clone(&named.paths);
        }
        let paths: Arc<[PathBuf]> = named_files::read(&file).into();
        let named = NamedFiles {
            identity,
            paths: Arc::clone(&paths),
        };
        insert(&mut cached(), file, named);
        paths
    }
}

impl DirectoryNames {
    fn of(directory: &Path, identity: (u64, u64, i64, i64)) -> Self {
        let may_exist = |name: &&&'static str| {
            // A deeper name may appear without a change of the directory.
            let first = name.split('/').next().unwrap_or(name);
            // A dangling link exists: its target may appear without a change of the directory.
            let found = std::fs::symlink_metadata(directory.join(first));
            !found.is_err_and(|error| {
                matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
            })
        };
        Self {
            identity,
            watched: WATCHED_FILES.iter().filter(may_exist).copied().collect(),
            markers: ROOT_MARKERS.iter().filter(may_exist).copied().collect(),
        }
    }
}

fn insert<T>(cache: &mut HashMap<PathBuf, T>, path: PathBuf, value: T) {
    if cache.len() >= MAX_CACHED {
        cache.clear();
    }
    cache.insert(path, value);
}

impl From<&Metadata> for FileIdentity {
    fn from(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

/// Returns the identity of a file; `None` if the file does not exist.
fn identity(path: &Path) -> Option<FileIdentity> {
    std::fs::metadata(path)
        .ok()
        .as_ref()
        .map(FileIdentity::from)
}

/// Returns the identity of a regular file. A directory changes with files that are unimportant for
/// a version manager, such as those of `PATH_add node_modules/.bin`.
fn regular_identity(path: &Path) -> Option<FileIdentity> {
    let metadata = std::fs::metadata(path).ok();
    let regular = metadata.filter(Metadata::is_file);
    regular.as_ref().map(FileIdentity::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::Clock;
    use agent_bash_process::SystemClock;

    fn now() -> Timestamp {
        SystemClock::default().wall()
    }

    #[test]
    fn project_is_the_nearest_directory_with_a_marker() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        std::fs::create_dir_all(path("repo/sub/deep")).unwrap();
        std::fs::create_dir_all(path("plain/deep")).unwrap();
        std::fs::create_dir(path("repo/.git")).unwrap();
        let finder = ProjectFinder::default();
        let of = |name: &str| finder.project(&path(name), None, now());
        assert_eq!(of("repo/sub/deep").directory, path("repo"));
        assert_eq!(of("plain/deep").directory, path("plain/deep"));
        let before = of("repo/sub/deep");
        std::fs::write(path("repo/sub/.nvmrc"), "18").unwrap();
        let after = of("repo/sub/deep");
        assert_eq!(after.directory, path("repo/sub"));
        std::fs::write(path("repo/sub/.nvmrc"), "22.1").unwrap();
        assert_ne!(of("repo/sub/deep"), after);
        assert_eq!(
            of("repo"),
            Project {
                directory: path("repo"),
                ..before
            }
        );
        let of_relative = finder.project(Path::new("x"), None, now());
        assert_eq!(of_relative.directory, Path::new("/"));
    }

    #[test]
    fn cached_names_are_read_again_after_a_change_of_the_directory() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        std::fs::create_dir_all(path("a/b")).unwrap();
        let finder = ProjectFinder::default();
        let later = Timestamp(now().0 + 10_000);
        let of = |name: &str| finder.project(&path(name), None, later);
        let before = of("a/b");
        let is_cached = |name: &str| finder.directories.lock().unwrap().contains_key(&path(name));
        assert!(is_cached("a") && is_cached("a/b"));
        std::os::unix::fs::symlink(path("target"), path("a/.nvmrc")).unwrap();
        assert_eq!(of("a/b").directory, path("a/b"), "dangling");
        std::fs::write(path("target"), "18").unwrap();
        let linked = of("a/b");
        assert_eq!(linked.directory, path("a"));
        std::fs::write(path("target"), "22.1").unwrap();
        assert_ne!(of("a/b"), linked);
        std::fs::remove_file(path("a/.nvmrc")).unwrap();
        assert_eq!(of("a/b"), before);
    }

    #[test]
    fn names_of_a_directory_that_has_just_changed_are_not_cached() {
        let root = tempfile::tempdir().unwrap();
        let finder = ProjectFinder::default();
        finder.project(root.path(), None, now());
        let cached = finder.directories.lock().unwrap();
        assert!(!cached.contains_key(root.path()));
    }

    #[test]
    fn project_changes_with_a_file_that_a_watched_file_names() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        std::fs::write(path(".envrc"), "dotenv_if_exists .env.local\n").unwrap();
        let finder = ProjectFinder::default();
        let of = || finder.project(root.path(), None, now());
        let without = of();
        std::fs::write(path(".env.local"), "A=1").unwrap();
        let with = of();
        assert_ne!(with, without);
        std::fs::write(path(".env.local"), "A=12").unwrap();
        assert_ne!(of(), with);
    }
}
