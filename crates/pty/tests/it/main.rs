//! Calls on a terminal, with real shells and real programs.
//!
//! `leaks.rs` beside this counts what its whole process has, so it is a program of its own.

mod as_without;
mod boxed;
mod edited;
mod ends;
mod programs;
mod seam;
mod secrets;
mod support;
mod waiting;
mod watched;
