//! What is handed to a launcher.

use crate::networks::NetworkRole;
use agent_bash_core::changes::Overlay;
use agent_bash_core::sandbox::Plan;
#[cfg(target_os = "linux")]
use agent_bash_core::sandbox::Tier;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

/// What one shell is kept in, and what belongs to that shell alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The policy of its box; `None` for none.
    pub plan: Option<Plan>,
    /// What it changes is held back; `None` for a shell whose changes are made.
    pub trial: Option<Overlay>,
    /// Whether somebody watches what it does to files.
    pub trace: bool,
    /// Writable directories of this one shell: its temporary directory, the directory it reports in.
    pub writable: Vec<PathBuf>,
    /// Changes to the launcher's environment for the program: what calls ask for must not load anything into the
    /// launcher, which is not confined yet.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// Descriptors that the program inherits besides the standard three; all others are closed.
    pub inherited: Vec<i32>,
    /// The descriptor by which it gets into a network that it shares with other boxes, and its part in that; see
    /// [`Networks`](crate::Networks).
    pub network: Option<(NetworkRole, i32)>,
}

#[cfg(target_os = "linux")]
impl Order {
    /// The policy, where it takes namespaces.
    pub(crate) fn full(&self) -> Option<&Plan> {
        let plan = self.plan.as_ref();
        plan.filter(|plan| plan.tier == Tier::Full)
    }
}
