//! The state that the next shell of a session restores.

use super::shell_cwd::ShellCwd;

/// The state that survives the end of a session's shell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RememberedState {
    /// The shell's directory; with `None`, a new shell enters the directory of its call.
    pub(super) cwd: Option<ShellCwd>,
    /// The shell's exported variables, as printed by `export -p`. The exports after a call are read
    /// when the next call begins.
    pub(super) exports: Vec<u8>,
}
