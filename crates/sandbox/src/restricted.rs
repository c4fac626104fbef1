//! The result of restricting a process.

use agent_bash_core::sandbox::Report;
use std::os::fd::OwnedFd;

/// A restricted process.
#[derive(Debug, Default)]
pub(crate) struct Restricted {
    /// The report; `None` in a trial without a sandbox.
    pub(crate) report: Option<Report>,
    /// The socket table, if Unix sockets are allowed as long as their connections are guarded.
    pub(crate) socket_table: Option<OwnedFd>,
}
