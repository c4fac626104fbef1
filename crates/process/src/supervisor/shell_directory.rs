//! The private directory of a shell with a sandbox, a trial or private mounts. Contains the
//! temporary directory and the pipe for the shell's report.

use crate::platform::make_fifo;
use crate::private_directory::{PrivateDirectory, SHELL_PREFIX, private_builder};
use crate::temporary::{NoTemporaryDirectory, make_temporary, parent_for_plan};
use agent_bash_core::sandbox::Plan;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The variables that name the temporary directory of a sandboxed shell. Without theirs, tmux and
/// screen put their sockets, and Chromium its profile, into directories that a sandbox cannot
/// write.
pub(super) const TEMPORARY_VARIABLES: [&str; 4] =
    ["TMPDIR", "TMUX_TMPDIR", "SCREENDIR", "CHROME_CONFIG_HOME"];

/// The private directory of a shell. Removed when dropped.
#[derive(Debug)]
pub(super) struct ShellDirectory(PrivateDirectory);

impl ShellDirectory {
    /// Creates a directory for a shell with this sandbox plan, in `tmpdir` (`$TMPDIR`). If the
    /// creation fails there, creates the directory in `/tmp`.
    pub(super) fn create(tmpdir: &Path, plan: Option<&Plan>) -> Result<Self, NoTemporaryDirectory> {
        make_temporary(tmpdir, |parent| Self::create_in(parent, plan))
    }

    fn create_in(parent: &Path, plan: Option<&Plan>) -> io::Result<Self> {
        let parent = match plan {
            Some(plan) => parent_for_plan(parent, plan)?,
            None => fs::canonicalize(parent)?,
        };
        let directory = Self(PrivateDirectory::create_in(&parent, SHELL_PREFIX)?);
        private_builder().create(directory.temporary())?;
        make_fifo(&directory.report())?;
        Ok(directory)
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the parent, which contains the private directories of all shells.
    pub(super) fn parent(&self) -> Option<PathBuf> {
        self.path().parent().map(Path::to_owned)
    }

    pub(super) fn temporary(&self) -> PathBuf {
        self.path().join("tmp")
    }

    pub(super) fn report(&self) -> PathBuf {
        self.path().join("report")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::sandbox::{HiddenPaths, Tier, WriteLevel};

    #[test]
    fn create_falls_back_to_shared_directory() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("file");
        fs::write(&file, "").unwrap();
        // In `/proc`, creating a directory fails as if the parent were missing.
        for tmpdir in [&parent.path().join("missing"), &file, Path::new("/proc")] {
            assert!(
                ShellDirectory::create_in(tmpdir, None).is_err(),
                "{tmpdir:?}"
            );
            let directory = ShellDirectory::create(tmpdir, None).unwrap();
            let shared = fs::canonicalize("/tmp").unwrap();
            assert_eq!(directory.parent(), Some(shared), "{tmpdir:?}");
        }
    }

    #[test]
    fn create_refuses_parent_covered_by_sandbox() {
        let parent = tempfile::tempdir().unwrap();
        let mut plan = Plan {
            hidden: vec![fs::canonicalize(parent.path()).unwrap()].into(),
            ..Plan::new(WriteLevel::ReadOnly, Tier::Full)
        };
        for tmpdir in [parent.path(), Path::new("/dev/shm")] {
            assert!(ShellDirectory::create_in(tmpdir, Some(&plan)).is_err());
        }
        plan.hidden = HiddenPaths::default();
        assert!(ShellDirectory::create_in(parent.path(), Some(&plan)).is_ok());
    }
}
