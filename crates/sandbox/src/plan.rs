//! What is handed to a launcher.

use agent_bash_core::sandbox::Plan;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

/// The policy of one shell's box, and what belongs to that shell alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The policy.
    pub plan: Plan,
    /// Writable directories of this one shell: its temporary directory, the directory it reports in.
    pub own: Vec<PathBuf>,
    /// Changes to the launcher's environment for the program: what calls ask for must not load anything into the
    /// launcher, which is not confined yet.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// Descriptors that the program inherits besides the standard three; all others are closed.
    pub inherited: Vec<i32>,
}
