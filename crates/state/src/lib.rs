//! The state that the calls of a conversation share: the sandbox between calls, the store of change
//! sets, exceptions from rules, the queues of persistent shells. This crate runs no command.

mod blocking;
mod changes;
pub mod exceptions;
pub mod in_order;
pub mod panics;
mod sandbox;
mod session_definitions;

pub use blocking::run_blocking;
pub use changes::{
    CallChanges, ChangeSets, ChangeStore, ChangesAct, ChangesConflict, ChangesDone,
    ChangesGroupDone, ChangesRefused, GroupRefused, ProtectedPaths, Since, UNRESPONSIVE_REASON,
    Unrecordable, commit_trial, finish_trace, scope_of_turn,
};
pub use sandbox::{
    CallSandbox, NamesBeforeCall, PreparedSandbox, SandboxState, TimedFileAccess, WatchedPaths,
    denied, missed_cache,
};
pub use session_definitions::{SessionDefinitions, SessionEntry};
