//! Finds the changed files that run or configure programs outside of the sandbox.

use agent_bash_core::changes::{Change, FileChange, FileKind};
use agent_bash_sandbox::{ChangedPath, protected_among};
use std::path::{Path, PathBuf};

/// The protected paths of a workspace, in addition to the built-in names.
#[derive(Debug, Default)]
pub struct ProtectedPaths {
    /// The user's home directory, which replaces a leading `~/`.
    pub home: Option<PathBuf>,
    /// The additional paths from the sandbox's settings.
    pub extra: Vec<PathBuf>,
}

impl ProtectedPaths {
    /// Returns the protected paths that these changes touch in the workspace at `root`. The changed
    /// files are below `contents`: `root`, or the directory of a trial.
    pub fn among(&self, root: &Path, contents: &Path, files: &[FileChange]) -> Vec<PathBuf> {
        let changed: Vec<ChangedPath> = files.iter().flat_map(changed_paths).collect();
        protected_among(root, contents, self.home.as_deref(), &self.extra, &changed)
    }
}

/// Returns the changed path, and also the old path of a renamed file.
fn changed_paths(file: &FileChange) -> impl Iterator<Item = ChangedPath> {
    let is_kind = |kind| file.kind == kind && file.change != Change::Deleted;
    let now = ChangedPath {
        path: PathBuf::from(&file.name.path),
        breaks_paths: !is_kind(FileKind::Directory),
        is_link: is_kind(FileKind::Symlink),
    };
    let before = file.from.as_ref().map(|from| ChangedPath {
        path: PathBuf::from(from),
        breaks_paths: true,
        is_link: false,
    });
    [now].into_iter().chain(before)
}
