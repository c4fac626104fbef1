//! The terminal that a shell is on: who holds it, and what happens where a program on it is stopped.

use crate::proc_fs::has_terminal_open;
use agent_bash_core::Survivor;
use rustix::process::{Pid, Signal, WaitStatus};
use std::path::{Path, PathBuf};

/// The terminal that a shell is on.
#[derive(Debug)]
pub(super) struct Terminal {
    path: PathBuf,
}

impl Terminal {
    /// The one with this path.
    pub(super) fn at(path: &Path) -> Self {
        let path = path.to_owned();
        Self { path }
    }

    /// Determines for each survivor whether it can still write to the terminal.
    pub(super) fn mark_holders(&self, survivors: &mut [Survivor]) {
        for survivor in survivors {
            survivor.holds_output = has_terminal_open(survivor.pid.cast_signed(), &self.path);
        }
    }
}

/// A child was stopped. If by Ctrl-Z or a program's own "suspend", it is continued at once, as nobody could do that
/// later (in an orphaned process group the kernel ignores such stops, too). A stop by any other signal is left
/// alone: it was intended.
pub(super) fn go_on(pid: Pid, status: WaitStatus) {
    if status.stopping_signal() != Some(Signal::TSTP.as_raw()) {
        return;
    }
    // It has not been reaped, so its pid and process group are its own.
    if let Ok(group) = rustix::process::getpgid(Some(pid)) {
        let _ = rustix::process::kill_process_group(group, Signal::CONT);
    }
}
