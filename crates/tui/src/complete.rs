//! Completion of the word at the cursor: finds candidates outside of the interface's task, and
//! inserts one.

mod candidate;
mod commands;
mod completion;
mod git;
mod list;
mod make;
mod paths;
mod quoting;
mod repository;
mod variables;

pub(crate) use commands::Commands;
pub(crate) use completion::{Completion, CompletionInput, complete};
pub(crate) use list::{CandidateList, ListRequest};
pub(crate) use variables::typed_variable;

#[cfg(test)]
#[path = "complete_tests.rs"]
mod tests;
