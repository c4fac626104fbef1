//! The result of reaping.

use super::terminal::Continued;
use crate::supervisor::protocol::ShellEnd;
use rustix::process::WaitStatus;

/// What was found when reaping.
#[derive(Debug)]
pub(super) struct Reaped {
    /// How the shell ended, if it was reaped now.
    pub(super) end: Option<ShellEnd>,
    /// No processes are left.
    pub(super) empty: bool,
    /// The shell has ended, but its status was taken by somebody else's `wait`.
    pub(super) lost: bool,
    /// Somebody else was, whose parents have ended: of what a call has left, the last one is.
    pub(super) orphan: bool,
    /// A child's group that was stopped, and is continued.
    pub(super) continued: Option<Continued>,
}

pub(super) fn shell_end(status: WaitStatus) -> Option<ShellEnd> {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Some(ShellEnd::Exited(code)),
        (None, Some(number)) => Some(ShellEnd::Signaled(number)),
        (None, None) => None,
    }
}
