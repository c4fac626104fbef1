//! A workspace for sandboxed calls. Calls may write to it, but not to the directory next to it.

use agent_bash_core::RunSpec;
use agent_bash_core::sandbox::{Plan, Tier, WriteLevel};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Both tiers of the sandbox.
pub const TIERS: [Tier; 2] = [Tier::Base, Tier::Full];

/// A workspace and the directory next to it, removed when dropped.
#[derive(Debug)]
pub struct TestWorkspace {
    _temp: tempfile::TempDir,
    /// The writable directory.
    pub workspace: PathBuf,
    /// The directory that calls may not write to.
    pub sibling: PathBuf,
}

impl TestWorkspace {
    /// Creates the workspace and the directory next to it.
    #[expect(clippy::new_without_default, reason = "it makes directories")]
    pub fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(temp.path()).unwrap();
        let made = ["workspace", "beside"].map(|name| root.join(name));
        for path in &made {
            fs::create_dir(path).unwrap();
        }
        let [workspace, beside] = made;
        Self {
            _temp: temp,
            workspace,
            sibling: beside,
        }
    }

    /// Returns a sandbox plan that allows writes in the workspace, without a network.
    pub fn plan(&self) -> Plan {
        Plan {
            writable: vec![self.workspace.clone()],
            ..Plan::new(WriteLevel::WorkspaceWrite, Tier::Base)
        }
    }

    /// Returns the call with its working directory in the workspace, in the sandbox of this tier.
    pub fn in_sandbox(&self, spec: RunSpec, tier: Tier) -> RunSpec {
        let plan = Plan {
            tier,
            ..self.plan()
        };
        spec.cwd(self.workspace.clone()).sandbox(Arc::new(plan))
    }

    /// Returns a script that writes into the workspace, then outside of it.
    pub fn writes(&self, name: &str) -> String {
        let outside = self.sibling.join(name);
        format!("echo in >{name}; echo out >{}", outside.display())
    }

    /// Returns true for each of the two writes that succeeded.
    pub fn written(&self, name: &str) -> (bool, bool) {
        let exists = |directory: &Path| directory.join(name).exists();
        (exists(&self.workspace), exists(&self.sibling))
    }
}
