//! A cache of function calls.

use std::collections::HashMap;

use super::super::ast::Command;
use super::super::state::ShellState;
use super::super::value::Value;

/// The calls of each function body, by the number that [`Command::identity`] returns.
pub(super) type CallMemory = HashMap<usize, Vec<RememberedCall>>;

/// A remembered call.
pub(super) struct RememberedCall {
    /// Kept so that the number of the body is not reused.
    pub(super) _body: Command,
    pub(super) before: CallSituation,
    pub(super) after: ShellState,
    pub(super) out: Value,
}

/// Everything that a call depends on.
#[derive(PartialEq)]
pub(super) struct CallSituation {
    pub(super) st: ShellState,
    /// The programs (not functions) that start the call.
    pub(super) through: Vec<String>,
    pub(super) piped: bool,
    pub(super) feeds: bool,
    pub(super) dormant: bool,
}
