//! A workspace whose calls are watched, and the store of what they change.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use agent_bash_changes::Store;
use std::fs;
use std::path::PathBuf;

pub(crate) struct Place {
    pub(crate) temp: tempfile::TempDir,
    /// The workspace.
    pub(crate) root: PathBuf,
}

impl Place {
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
