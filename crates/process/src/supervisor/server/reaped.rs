//! The result of reaping.

use super::terminal::ContinuedGroup;
use crate::supervisor::protocol::ShellEnd;
use rustix::process::WaitStatus;

/// The result of reaping.
#[derive(Debug, Default)]
pub(super) struct ReapOutcome {
    /// How the shell ended, if this reaping includes the shell.
    pub(super) end: Option<ShellEnd>,
    /// True if no processes are left.
    pub(super) empty: bool,
    /// True if the shell has ended, and its status was lost to another `wait`.
    pub(super) lost: bool,
    /// True if a process other than the shell has ended, which may be the last survivor of a call.
    pub(super) others_ended: bool,
    /// A stopped child's process group, which was continued.
    pub(super) continued: Option<ContinuedGroup>,
}

pub(super) fn shell_end(status: WaitStatus) -> Option<ShellEnd> {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Some(ShellEnd::Exited(code)),
        (None, Some(number)) => Some(ShellEnd::Signaled(number)),
        (None, None) => None,
    }
}
