//! Calls on a terminal, with real shells and real programs.
//!
//! `leaks.rs` in the parent directory counts resources of its whole process, so it is a program of
//! its own.

mod edited;
mod ends;
mod executor;
mod programs;
mod recorded_changes;
mod same_as_without_terminal;
mod sandboxed;
mod secrets;
mod support;
mod waiting;
