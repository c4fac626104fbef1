//! The directory in which a configuration is read for a call: that of its project. Tools that serve
//! directories (version managers, direnv) look at it, and at files in it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files by which tools choose versions and variables. A change of one is a reason to read the
/// configuration again.
const WATCHED: &[&str] = &[
    ".envrc",
    ".env",
    ".mise.toml",
    ".mise.local.toml",
    "mise.toml",
    "mise.local.toml",
    ".config/mise.toml",
    ".config/mise/config.toml",
    ".tool-versions",
    ".nvmrc",
    ".node-version",
    ".python-version",
    ".ruby-version",
    ".java-version",
    ".go-version",
    ".terraform-version",
    ".sdkmanrc",
    ".bin/hermit.hcl",
];

/// Entries that only mark a project.
const ROOTS: &[&str] = &[".git", ".hg", ".jj", ".svn"];

/// Files and directories below the home that change what the tools do: choices for all projects,
/// and the projects that the user trusts.
const OF_HOME: &[&str] = &[
    ".bash_aliases",
    ".tool-versions",
    ".config/mise/config.toml",
    ".config/direnv/direnvrc",
    ".local/share/direnv/allow",
    ".local/share/direnv/deny",
    ".local/share/mise/installs",
    ".local/state/mise/trusted-configs",
    ".nvm/alias/default",
    ".pyenv/version",
    ".rbenv/version",
    ".goenv/version",
];

/// A project as a configuration sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Project {
    pub(super) directory: PathBuf,
    /// The watched files that exist.
    files: Vec<FileIdentity>,
}

/// Detects changes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct FileIdentity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl Project {
    /// The project of a directory: the nearest one at or above it that has a file of such a tool,
    /// or is the root of a repository, else the directory itself. A relative one, which no tool can
    /// look at, is `/`.
    pub(super) fn of(cwd: &Path, home: Option<&Path>) -> Self {
        if !cwd.is_absolute() {
            return Self::of(Path::new("/"), home);
        }
        let mut directory = None;
        let mut files = Vec::new();
        for ancestor in cwd.ancestors() {
            let before = files.len();
            let watched = WATCHED
                .iter()
                .filter_map(|name| identity(&ancestor.join(name)));
            files.extend(watched);
            let is_root = || ROOTS.iter().any(|name| ancestor.join(name).exists());
            if directory.is_none() && (files.len() > before || is_root()) {
                directory = Some(ancestor);
            }
        }
        let home = home.into_iter();
        let of_home = home.flat_map(|home| OF_HOME.iter().map(|name| home.join(name)));
        files.extend(of_home.filter_map(|path| identity(&path)));
        Self {
            directory: directory.unwrap_or(cwd).to_owned(),
            files,
        }
    }
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

fn identity(path: &Path) -> Option<FileIdentity> {
    std::fs::metadata(path)
        .ok()
        .as_ref()
        .map(FileIdentity::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn project_is_the_nearest_directory_with_a_marker() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        std::fs::create_dir_all(path("repo/sub/deep")).unwrap();
        std::fs::create_dir_all(path("plain/deep")).unwrap();
        std::fs::create_dir(path("repo/.git")).unwrap();
        let of = |name: &str| Project::of(&path(name), None);
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
        assert_eq!(Project::of(Path::new("x"), None).directory, Path::new("/"));
    }
}
