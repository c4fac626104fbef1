//! A shell that is the only process of its supervisor, which is the usual case between two calls.

use crate::proc_scan::LoneShellCheck;
use agent_bash_os::ProcessInfo;

/// The shell, and a quick check that no other process is running.
#[derive(Debug)]
pub(super) struct LoneShell {
    process: ProcessInfo,
    check: LoneShellCheck,
}

impl LoneShell {
    /// Creates the check for `shell`, a running child of this process. `None` if `/proc` does not
    /// show the shell.
    pub(super) fn of(shell: i32) -> Option<Self> {
        let process = ProcessInfo::read(shell)?;
        let check = LoneShellCheck::new(shell.unsigned_abs(), std::process::id());
        Some(Self { process, check })
    }

    pub(super) fn pid(&self) -> i32 {
        self.process.pid
    }

    /// Returns the shell, unless there may be another process.
    pub(super) fn process_if_alone(&self) -> Option<ProcessInfo> {
        self.check.is_alone().then(|| self.process.clone())
    }
}
