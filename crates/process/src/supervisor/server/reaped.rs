//! What reaping found.

use crate::supervisor::protocol::ShellEnd;
use rustix::process::WaitStatus;

/// What a look at those who have ended found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reaped {
    /// How the shell has ended, if it was found to have now.
    pub(super) end: Option<ShellEnd>,
    /// Nobody is left.
    pub(super) empty: bool,
    /// The shell has ended, and nobody knows how: somebody else took its status.
    pub(super) lost: bool,
}

pub(super) fn shell_end(status: WaitStatus) -> Option<ShellEnd> {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Some(ShellEnd::Exited(code)),
        (None, Some(number)) => Some(ShellEnd::Signaled(number)),
        (None, None) => None,
    }
}
