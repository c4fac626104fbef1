//! The order for a launcher.

use crate::networks::NetworkRole;
use agent_bash_core::changes::Overlay;
use agent_bash_core::sandbox::Plan;
#[cfg(target_os = "linux")]
use agent_bash_core::sandbox::Tier;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

/// The system calls of a shell that wait for the listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceScope {
    /// System calls that change files, and those for sockets.
    Changes,
    /// System calls for sockets only: the shell's changes are held back.
    Sockets,
    /// System calls that change files, and `connect`: the shell may change almost no file, and
    /// refused changes are reported.
    Refusals,
    /// `connect` only, for [`SocketGuard`](crate::SocketGuard).
    Connections,
}

/// The restrictions of one shell, and its private directories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The policy of the sandbox; `None` for no sandbox.
    pub plan: Option<Plan>,
    /// The overlay of a trial; `None` to change files in place.
    pub trial: Option<Overlay>,
    /// True if the shell is traced.
    pub trace: bool,
    /// True if refused changes are observed even without a trace.
    pub observes_refusals: bool,
    /// Private writable directories of this shell: its temporary directory, and the directory for
    /// reports.
    pub writable: Vec<PathBuf>,
    /// Environment changes for the program. The changes must not affect the launcher, which is not
    /// restricted yet.
    #[serde(with = "agent_bash_core::os_text::changes")]
    pub env: Vec<(OsString, Option<OsString>)>,
    /// Descriptors that the program inherits in addition to the standard three. All other
    /// descriptors are closed.
    pub inherited: Vec<i32>,
    /// The role in a shared network, and the descriptor for entering the network; see
    /// [`Networks`](crate::Networks).
    pub network: Option<(NetworkRole, i32)>,
}

impl Order {
    /// The traced system calls; `None` if the shell is not traced.
    pub fn scope(&self) -> Option<TraceScope> {
        match self.trial {
            _ if self.trace => Some(TraceScope::Changes),
            Some(_) => Some(TraceScope::Sockets),
            None => self.observes_refusals.then_some(TraceScope::Refusals),
        }
    }

    /// True if the sandbox may use Unix sockets, and the listener makes their connections. The
    /// private network namespace proves which sockets are the sandbox's own.
    pub fn guards_sockets(&self) -> bool {
        self.plan.as_ref().is_some_and(Plan::has_own_network)
    }
}

#[cfg(target_os = "linux")]
impl Order {
    /// Returns the policy if it needs namespaces.
    pub(crate) fn full(&self) -> Option<&Plan> {
        let plan = self.plan.as_ref();
        plan.filter(|plan| plan.tier == Tier::Full)
    }
}
