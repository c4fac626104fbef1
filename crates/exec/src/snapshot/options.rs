//! Options for loading the user's configuration.

use agent_bash_core::sandbox::{Plan, Tier};
use agent_bash_process::environment::SecretFilter;
use async_trait::async_trait;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Plans the sandbox in which a configuration is read: the configuration may run files of the
/// project, which sandboxed calls may write.
#[async_trait]
pub trait CaptureSandbox: Debug + Send + Sync {
    /// Returns the directory for the private directories of sandboxed shells.
    fn directory(&self) -> PathBuf;

    /// Returns the plan for a system that enforces this tier.
    ///
    /// # Errors
    /// The reason why there is no plan.
    async fn plan(&self, tier: Tier) -> Result<Plan, String>;
}

/// The configuration to load, and how to load it.
#[derive(Debug, Clone)]
pub struct SnapshotOptions {
    /// The absolute path of the configuration file, such as `~/.bashrc`. If the file does not
    /// exist, calls run without a snapshot and without a notice.
    pub rc: PathBuf,
    /// The directory for snapshots, private to this user. A capture creates the directory if it
    /// does not exist, and sets its mode to 0700. Several processes may share it.
    pub directory: PathBuf,
    /// The maximum time that a call waits for a capture. After that, calls run without a snapshot
    /// while the capture continues.
    pub max_wait: Duration,
    /// The maximum time of a capture, including processes that it starts in the shell's session.
    pub capture_timeout: Duration,
    /// Variables that the user's settings set; the configuration does not change them.
    pub fixed_variables: BTreeSet<String>,
    /// True if `CI` in the environment of calls is an unattended default. A configuration that sets
    /// up mise then unsets it.
    pub may_unset_ci: bool,
    /// Exported functions of the host's own environment, as variables (`BASH_FUNC_…`). The snapshot
    /// contains these functions, like the functions of the file.
    pub functions: BTreeMap<OsString, OsString>,
    /// Detects definitions that hold secrets and are excluded; with `None`, no definition is
    /// excluded.
    pub secrets: Option<SecretFilter>,
    /// The sandbox in which the configuration is read; `None` for no sandbox.
    pub sandbox: Option<Arc<dyn CaptureSandbox>>,
}

impl SnapshotOptions {
    /// Returns options with a maximum wait of two seconds, a capture timeout of one minute, and the
    /// default rules for secrets.
    pub fn new(rc: impl Into<PathBuf>, directory: impl Into<PathBuf>) -> Self {
        Self {
            rc: rc.into(),
            directory: directory.into(),
            max_wait: Duration::from_secs(2),
            capture_timeout: Duration::from_secs(60),
            fixed_variables: BTreeSet::new(),
            may_unset_ci: true,
            functions: BTreeMap::new(),
            secrets: Some(SecretFilter::default()),
            sandbox: None,
        }
    }
}
