//! The cache of function calls, and its key. `cached_calls` fills and reads the cache.

use std::collections::HashMap;

use super::super::ast::Command;
use super::super::state::ShellState;
use super::super::value::Value;

/// The calls of each function body, by the number that [`Command::identity`] returns.
pub(super) type CallCache = HashMap<usize, Vec<CachedCall>>;

pub(super) struct CachedCall {
    /// Held so that the number of the body is not reused.
    pub(super) _body: Command,
    pub(super) before: CallSituation,
    pub(super) after: ShellState,
    pub(super) out: Value,
}

/// Everything that a call depends on.
#[derive(PartialEq)]
pub(super) struct CallSituation {
    pub(super) shell: ShellState,
    /// The programs (not functions) that start the call.
    pub(super) started_by: Vec<String>,
    pub(super) reads_pipe: bool,
    pub(super) output_is_used: bool,
    pub(super) may_never_run: bool,
}
