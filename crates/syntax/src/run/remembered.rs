//! What is remembered of the calls of functions.

use std::collections::{BTreeSet, HashMap};

use super::super::ast::Command;
use super::super::state::State;
use super::super::trace::Known;
use super::super::value::Value;

/// The calls of each function body, by its number.
pub(super) type Memory = HashMap<usize, Vec<Remembered>>;

/// A remembered call.
pub(super) struct Remembered {
    /// Kept alive so that its number is not reused.
    pub(super) _body: Command,
    /// The state before the call, without variables.
    pub(super) before: State,
    pub(super) surroundings: Surroundings,
    /// The bodies that were called in it.
    pub(super) entered: BTreeSet<usize>,
    /// Those of them that were already being walked, sorted, if recursion was cut off because of that.
    pub(super) within: Option<Vec<usize>>,
    /// Whether it depends on the positional parameters.
    pub(super) is_of_arguments: bool,
    /// The variables that it depends on, and those that it has set.
    pub(super) looked_at: Known,
    pub(super) set: Known,
    pub(super) after: State,
    pub(super) out: Value,
}

/// The parts of the machine itself that make a difference.
#[derive(PartialEq)]
pub(super) struct Surroundings {
    /// Programs (not functions) through which the call is started.
    pub(super) through: Vec<String>,
    pub(super) expanding: Vec<String>,
    pub(super) piped: bool,
    pub(super) feeds: bool,
    pub(super) dormant: bool,
}
