//! The state that the next shell of a session restores.

use super::shell_cwd::ShellCwd;
use crate::snapshot::Snapshot;
use std::sync::Arc;

/// The state that survives the end of a session's shell.
#[derive(Debug, Default)]
pub(super) struct RememberedState {
    /// The shell's directory; with `None`, a new shell enters the directory of its call.
    pub(super) cwd: Option<ShellCwd>,
    /// The shell's exported variables, as printed by `export -p`. The exports after a call are read
    /// when the next call begins.
    pub(super) exports: Vec<u8>,
    /// The snapshot that the shell had loaded.
    pub(super) snapshot: Option<Arc<Snapshot>>,
}
