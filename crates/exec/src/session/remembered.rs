//! The state that a session's next shell takes over.

use super::shell_cwd::ShellCwd;

/// The state that survives the end of a session's shell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Remembered {
    /// The shell's directory; `None`: a new shell goes where its call wants it.
    pub(super) cwd: Option<ShellCwd>,
    /// Its exported variables, as printed by `export -p`. Those of the last call are known when the
    /// next one begins.
    pub(super) exports: Vec<u8>,
}
