//! The directory in which the user's shell configuration is read for a call: the call's project.
//! Tools with settings per directory (version managers, direnv) read that directory and files in
//! it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// Files by which tools choose versions and variables. If such a file changes, the configuration is
/// read again.
const WATCHED_FILES: &[&str] = &[
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

/// Directories that mark the root of a project.
const ROOT_MARKERS: &[&str] = &[".git", ".hg", ".jj", ".svn"];

/// Files and directories below the home directory that change the behaviour of the tools of
/// [`WATCHED_FILES`]: defaults for all projects, and the projects that the user trusts.
const HOME_FILES: &[&str] = &[
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

/// The parts of a project that a configuration depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Project {
    pub(super) directory: PathBuf,
    /// The watched files that exist.
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

impl Project {
    /// Returns the project of a directory: the nearest directory at or above it with a watched file
    /// or a root marker, else the directory itself. A relative path is treated as `/`.
    pub(super) fn of(cwd: &Path, home: Option<&Path>) -> Self {
        if !cwd.is_absolute() {
            return Self::of(Path::new("/"), home);
        }
        let mut directory = None;
        let mut files = Vec::new();
        for ancestor in cwd.ancestors() {
            let before = files.len();
            let watched = WATCHED_FILES
                .iter()
                .filter_map(|name| identity(&ancestor.join(name)));
            files.extend(watched);
            let is_root = || ROOT_MARKERS.iter().any(|name| ancestor.join(name).exists());
            if directory.is_none() && (files.len() > before || is_root()) {
                directory = Some(ancestor);
            }
        }
        let home = home.into_iter();
        let of_home = home.flat_map(|home| HOME_FILES.iter().map(|name| home.join(name)));
        files.extend(of_home.filter_map(|path| identity(&path)));
        Self {
            directory: directory.unwrap_or(cwd).to_owned(),
            files,
        }
    }
}

/// Returns the directory that a script enters first, if its first command is `cd` with a literal
/// path.
pub(super) fn entered_directory(script: &str, cwd: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let blanks = [' ', '\t'];
    let rest = script.trim_start().strip_prefix("cd")?;
    let rest = rest.strip_prefix(blanks)?.trim_start_matches(blanks);
    let (word, rest) = if let Some(quoted) = rest.strip_prefix(['"', '\'']) {
        quoted.split_once(rest.chars().next()?)?
    } else {
        let end = rest.find(|c: char| c.is_whitespace() || ";&|".contains(c));
        rest.split_at(end.unwrap_or(rest.len()))
    };
    let rest = rest.trim_start_matches(blanks);
    let ends_command = rest.is_empty() || ["&&", ";", "\n"].iter().any(|end| rest.starts_with(end));
    let is_special = |c: char| "$`\\*?[{\"'()<>#!".contains(c);
    if !ends_command || word.is_empty() || word.starts_with('-') || word.contains(is_special) {
        return None;
    }
    let path = match word.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            home?.join(rest.trim_start_matches('/'))
        }
        Some(_) => return None,
        None => cwd.join(word),
    };
    // As bash does, `..` removes the last name.
    let mut entered = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(entered.pop()),
            Component::CurDir => {}
            part => entered.push(part),
        }
    }
    entered.is_dir().then_some(entered)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entered_directory_reads_literal_paths() {
        let root = tempfile::tempdir().unwrap();
        for name in ["a", "b c"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        let a = root.path().join("a");
        let of = |script: &str| {
            let entered = entered_directory(script, &a, Some(root.path()))?;
            Some(entered.strip_prefix(root.path()).unwrap().to_owned())
        };
        for (script, want) in [
            ("cd '../b c' && x", Some("b c")),
            ("  cd ~/a; x", Some("a")),
            ("cd ../a/./../a\nx", Some("a")),
            ("cd ~", Some("")),
            ("cd ..", Some("")),
            ("cd ../missing && x", None),
            ("cd $D && x", None),
            ("cd .. | x", None),
            ("cd .. & x", None),
            ("cd - && x", None),
            ("cd \"..\"/a && x", None),
            ("cdx ..", None),
        ] {
            assert_eq!(of(script), want.map(PathBuf::from), "{script}");
        }
    }

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
