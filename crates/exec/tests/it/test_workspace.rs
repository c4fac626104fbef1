//! A workspace whose calls are watched, and the store of what they change.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::command;
use agent_bash_changes::Store;
use std::fs;
use std::path::{Path, PathBuf};

/// Set where a test has mounts of its own.
const OWN_MOUNTS: &str = "EXEC_TEST_OWN_MOUNTS";

/// Whether the test of that name has mounts of its own. Otherwise it is run with them, and has
/// passed.
pub(crate) fn has_own_mounts(test: &str) -> bool {
    #[expect(clippy::disallowed_methods, reason = "a test that starts itself again")]
    if std::env::var_os(OWN_MOUNTS).is_some() {
        return true;
    }
    let mut own = command("unshare");
    own.args(["-rm", "--propagation=private"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test]);
    let ran = own.env(OWN_MOUNTS, "1").output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
    false
}

/// Mounts an empty file system there.
pub(crate) fn mount(at: &Path) {
    let mut mount = command("mount");
    mount.args(["-t", "tmpfs", "none"]).arg(at);
    assert!(mount.status().unwrap().success());
}

pub(crate) struct TestWorkspace {
    pub(crate) temp: tempfile::TempDir,
    /// The workspace.
    pub(crate) root: PathBuf,
}

impl TestWorkspace {
    /// With these files in the workspace, and their contents.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(temp.path()).unwrap().join("root");
        for (name, text) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { temp, root }
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.temp.path().join("state")).unwrap()
    }
}
