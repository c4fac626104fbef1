//! Options of loading the user's configuration.

use agent_bash_process::environment::SecretFilter;
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
    /// Time limit of a capture; the call that needs it waits.
    pub limit: Duration,
    /// Detects definitions that hold secrets; `None` keeps them.
    pub secrets: Option<SecretFilter>,
}

impl SnapshotOptions {
    /// Returns options with a limit of two seconds and the default rules for secrets.
    pub fn new(rc: impl Into<PathBuf>, directory: impl Into<PathBuf>) -> Self {
        Self {
            rc: rc.into(),
            directory: directory.into(),
            limit: Duration::from_secs(2),
            secrets: Some(SecretFilter::default()),
        }
    }
}
