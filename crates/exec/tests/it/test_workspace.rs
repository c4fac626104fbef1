//! A workspace for traced calls, and the store of their change sets.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::{FinishedRun, command, run, run_in, spec};
use agent_bash_changes::Store;
use agent_bash_core::RunSpec;
use agent_bash_core::changes::{Changes, ChangesLevel};
use agent_bash_exec::ShellCache;
use std::fs;
use std::path::{Path, PathBuf};

/// The session of the change sets.
pub(crate) const SESSION: &str = "s";

/// The environment variable that is set in a test with its own mounts.
const OWN_MOUNTS: &str = "EXEC_TEST_OWN_MOUNTS";

/// True if this process runs the named test with its own mounts. Otherwise, runs the test in a new
/// process with its own mounts, and returns false after that test has passed.
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
    let stdout = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success() && stdout.contains("1 passed"),
        "{stdout}"
    );
    false
}

/// Mounts an empty file system at this path.
pub(crate) fn mount(at: &Path) {
    let mut mount = command("mount");
    mount.args(["-t", "tmpfs", "none"]).arg(at);
    assert!(mount.status().unwrap().success());
}

/// Returns the names of the changed files, sorted.
pub(crate) fn names(changes: &Changes) -> Vec<&str> {
    let files = changes.files.iter();
    let mut names: Vec<_> = files.map(|file| &*file.name.path).collect();
    names.sort_unstable();
    names
}

pub(crate) struct TestWorkspace {
    pub(crate) temp: tempfile::TempDir,
    /// The workspace.
    pub(crate) root: PathBuf,
}

impl TestWorkspace {
    /// Creates a workspace with these files: name and contents.
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

    /// Returns the contents of a file; an empty text if it is missing.
    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap_or_default()
    }

    /// Runs a traced call, whose specification `add` completes. Returns its changes.
    pub(crate) async fn traced_call(
        &self,
        cache: &ShellCache,
        script: &str,
        add: impl FnOnce(RunSpec) -> RunSpec,
    ) -> (FinishedRun, Changes) {
        let store = self.store();
        let set = store.begin_trace(SESSION, &self.root, ChangesLevel::Undo);
        let set = set.unwrap();
        let traced = Some(set.dir().to_owned());
        let spec = spec(script).cwd(self.root.clone()).trace(traced);
        let ran = run_in(cache, &add(spec)).await;
        (ran, store.finish(set).unwrap())
    }

    /// Runs a traced script, and returns its changes.
    pub(crate) async fn changed_by(&self, script: &str) -> (FinishedRun, Changes) {
        let store = self.store();
        let mut set = store
            .begin_trace(SESSION, &self.root, ChangesLevel::Undo)
            .unwrap();
        set.mark().unwrap();
        let spec = spec(script).cwd(self.root.clone());
        let ran = run(&spec.trace(Some(set.dir().to_owned()))).await;
        (ran, store.finish(set).unwrap())
    }
}
