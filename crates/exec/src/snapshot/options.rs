//! Options of loading the user's configuration.

use agent_bash_process::environment::SecretFilter;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The configuration to load, and how to load it.
#[derive(Debug, Clone)]
pub struct SnapshotOptions {
    /// The configuration file, such as `~/.bashrc`: an absolute path. If it is missing there is
    /// nothing to load, and no notice.
    pub rc: PathBuf,
    /// The directory for snapshots, private to this user. It is created if missing, and its mode is
    /// set to 0700. Several processes may share it.
    pub directory: PathBuf,
    /// How long the call that needs a capture waits for it. Calls go on without a snapshot then,
    /// while the capture continues.
    pub limit: Duration,
    /// How long a capture may take in all, and what it starts in the shell's session may run.
    pub longest: Duration,
    /// Variables that no configuration changes: those of the settings.
    pub fixed: BTreeSet<String>,
    /// Exported functions of the environment that the host was started in, as variables
    /// (`BASH_FUNC_…`). They are part of the snapshot as those of the file are.
    pub functions: BTreeMap<OsString, OsString>,
    /// Detects definitions that hold secrets; `None` keeps them.
    pub secrets: Option<SecretFilter>,
}

impl SnapshotOptions {
    /// With two seconds for a call, a minute in all, and the default rules for secrets.
    pub fn new(rc: impl Into<PathBuf>, directory: impl Into<PathBuf>) -> Self {
        Self {
            rc: rc.into(),
            directory: directory.into(),
            limit: Duration::from_secs(2),
            longest: Duration::from_secs(60),
            fixed: BTreeSet::new(),
            functions: BTreeMap::new(),
            secrets: Some(SecretFilter::default()),
        }
    }
}
