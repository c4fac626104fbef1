//! What the calls of a conversation share: the sandbox between calls, the store of change sets, and
//! exceptions from rules. This crate runs no command.

mod blocking;
mod changes;
pub mod exceptions;
pub mod panics;
mod sandbox;

pub use blocking::run_blocking;
pub use changes::{
    CallChanges, ChangeSets, ChangeStore, ChangesAct, ChangesConflict, ChangesDone,
    ChangesGroupDone, ChangesRefused, GroupRefused, ProtectedPaths, Since, UNRESPONSIVE_REASON,
    Unrecordable, scope_of_turn,
};
pub use sandbox::{
    CallSandbox, NamesBeforeCall, PreparedSandbox, SandboxState, TimedFileAccess, WatchedPaths,
    missed_cache,
};
